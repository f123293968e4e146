"""Whether two shapes of answers mean the same. When unsure: no.

The order of components is kept in tuples, intervals, matrices, ratios and times, and free in sets and lists.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple

from alodlm.score.math.algebra import proportional, rounds_to, same_value
from alodlm.score.math.nodes import (
    Based,
    Bracketed,
    Clock,
    Equation,
    Inequality,
    Matrix,
    Node,
    Region,
    Several,
    Text,
    Value,
)
from alodlm.score.math.parser import INFINITY, MINUS_INFINITY

_ARTICLES = ("the ", "a ", "an ")


_ASKS_FOR_ROUNDING = re.compile(
    r"\bround(?:ed|ing)?\b|\bnearest\b|\bapproximat|\bdecimal places?\b|\bsignificant (?:figures?|digits?)\b",
    re.IGNORECASE,
)
_ASKS_FOR_INTERVAL = re.compile(r"\bintervals?\b", re.IGNORECASE)


_ASKS_FOR_BASE = re.compile(
    r"\bbase[\s$-]*(?:\d|two\b|three\b|four\b|five\b|six\b|seven\b|eight\b|nine\b)|\bbinary\b|\boctal\b|\bhexadecimal\b",
    re.IGNORECASE,
)


class Question(NamedTuple):
    """What the wording of a question says about its answer: a rounded number, an interval, a number in a base."""

    rounding: bool = False
    interval: bool = False
    base: bool = False

    @classmethod
    def of(cls, prompt: str) -> Question:
        """Return what a prompt asks for."""
        patterns = (_ASKS_FOR_ROUNDING, _ASKS_FOR_INTERVAL, _ASKS_FOR_BASE)
        return cls(*(pattern.search(prompt) is not None for pattern in patterns))


class Comparison:
    """Compares the shapes of two answers to one question."""

    def __init__(self, question: Question) -> None:
        self.question = question

    def equal(self, answer: Node, reference: Node) -> bool:
        """Say whether `answer` means the same as `reference`."""
        if isinstance(answer, Equation) or isinstance(reference, Equation):
            return self._equations(answer, reference)
        if isinstance(answer, Region) or isinstance(reference, Region):
            return self._regions(answer, reference)
        if isinstance(answer, Several) or isinstance(reference, Several):
            return self._several(answer, reference)
        if isinstance(answer, Based) or isinstance(reference, Based):
            return self._based(answer, reference)
        if type(answer) is not type(reference):
            return False
        return getattr(self, f"_{type(answer).__name__.lower()}")(answer, reference)

    def _value(self, answer: Value, reference: Value) -> bool:
        if answer.unit_power and reference.unit_power and answer.unit_power != reference.unit_power:
            return False
        return same_value(answer.tree, reference.tree) or rounds_to(answer, reference, self.question.rounding)

    def _text(self, answer: Text, reference: Text) -> bool:
        return _bare(answer.words) == _bare(reference.words)

    def _clock(self, answer: Clock, reference: Clock) -> bool:
        return answer.half == reference.half and self._in_order(answer.parts, reference.parts)

    def _bracketed(self, answer: Bracketed, reference: Bracketed) -> bool:
        same_brackets = (answer.opening, answer.closing) == (reference.opening, reference.closing)
        return same_brackets and self._in_order(answer.items, reference.items)

    def _matrix(self, answer: Matrix, reference: Matrix) -> bool:
        if len(answer.rows) != len(reference.rows):
            return False
        return all(self._in_order(*rows) for rows in zip(answer.rows, reference.rows, strict=True))

    def _inequality(self, answer: Inequality, reference: Inequality) -> bool:
        factor = proportional((answer.larger, answer.smaller), (reference.larger, reference.smaller))
        return answer.closed == reference.closed and factor is not None and factor > 0

    def _in_order(self, answers: tuple[Node, ...], references: tuple[Node, ...]) -> bool:
        return len(answers) == len(references) and all(map(self.equal, answers, references))

    def _in_any_order(
        self, answers: tuple[Node, ...], references: tuple[Node, ...], equal: Callable[[Node, Node], bool]
    ) -> bool:
        """Match one to one; equality being transitive, the first match of each is as good as any."""
        if len(answers) != len(references):
            return False
        left = list(references)
        for answer in answers:
            found = next((at for at, reference in enumerate(left) if equal(answer, reference)), None)
            if found is None:
                return False
            left.pop(found)
        return True

    def _several(self, answer: Node, reference: Node) -> bool:
        if isinstance(answer, Several) and isinstance(reference, Several):
            names = _names(answer), _names(reference)
            if max(map(len, names)) > 1 and not min(names, key=len):
                return self._in_order(answer.items, reference.items)
            return self._in_any_order(answer.items, reference.items, self.equal)
        several, other = (answer, reference) if isinstance(answer, Several) else (reference, answer)
        if (
            several is answer
            and not several.is_set
            and all(self.equal(item, several.items[0]) for item in several.items)
        ):
            return self.equal(several.items[0], other)
        if (
            several.is_set
            or self.question.interval
            or not isinstance(other, Bracketed)
            or (other.opening, other.closing) != ("(", ")")
        ):
            return False
        if any(isinstance(item, Value) and item.tree in (INFINITY, MINUS_INFINITY) for item in other.items):
            return False
        return self._in_order(answer.items, reference.items)

    def _based(self, answer: Node, reference: Node) -> bool:
        """Compare digits and base; the base may be left out by the answer, and by a reference that was asked in one."""
        if isinstance(answer, Based) and isinstance(reference, Based):
            return answer == reference
        if isinstance(reference, Based):
            return _whole_digits(answer) == reference.digits
        if answer.base == 10 or self.question.base:
            return _whole_digits(reference) == answer.digits
        return False

    def _regions(self, answer: Node, reference: Node) -> bool:
        regions = [_as_region(node) for node in (answer, reference)]
        if None in regions:
            return False
        names = {region.variable for region in regions} - {None}
        return len(names) < 2 and self._in_any_order(regions[0].pieces, regions[1].pieces, self._bracketed)

    def _equations(self, answer: Node, reference: Node) -> bool:
        """Compare equations up to a constant factor; `x = 5` also with a bare 5."""
        if not isinstance(reference, Equation):
            return answer.is_quantity and self.equal(answer.right, reference)
        if not isinstance(answer, Equation):
            return reference.name is not None and self.equal(answer, reference.right)
        if answer.name and answer.name == reference.name and self.equal(answer.right, reference.right):
            return True
        sides = (answer.left, answer.right, reference.left, reference.right)
        if not all(isinstance(side, Value) for side in sides):
            return self._same_sides(answer, reference)
        trees = [side.tree for side in sides]
        return proportional((trees[0], trees[1]), (trees[2], trees[3])) is not None

    def _same_sides(self, answer: Equation, reference: Equation) -> bool:
        return self.equal(answer.left, reference.left) and self.equal(answer.right, reference.right)


def _whole_digits(node: Node) -> str | None:
    """Return the digits of a whole number written without a base."""
    if not isinstance(node, Value) or node.tree[0] != "q" or node.decimals is not None:
        return None
    return str(node.tree[1]) if node.tree[1].denominator == 1 else None


def _names(several: Several) -> set[str]:
    """Return the names of the values that are given by name (`x = 2, y = 3`)."""
    return {item.name for item in several.items if isinstance(item, Equation) and item.name}


def _as_region(node: Node) -> Region | None:
    if isinstance(node, Region):
        return node
    if isinstance(node, Bracketed) and len(node.items) == 2:
        return Region((node,))
    return None


def _bare(words: str) -> str:
    for article in _ARTICLES:
        if words.startswith(article):
            return words[len(article) :]
    return words
