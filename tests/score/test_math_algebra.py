"""The proofs of the math scorer against numbers: what it calls equal agrees, what it calls unequal differs."""

from __future__ import annotations

import itertools
import random
from fractions import Fraction

import pytest

from alodlm.score.math.algebra import same_value
from alodlm.score.math.errors import GiveUpError
from alodlm.score.math.normal import difference, is_complete
from alodlm.score.math.numeric import value_of
from alodlm.score.math.parser import Tree, parse_expression
from alodlm.score.math.separation import decides_equal
from alodlm.score.math.tokens import tokens_of

POINTS = (
    {"x": Fraction(7, 5), "y": Fraction(11, 13)},
    {"x": Fraction(-9, 7), "y": Fraction(4, 3)},
    {"x": Fraction(-3, 11), "y": Fraction(-17, 6)},
    {"x": Fraction(5), "y": Fraction(2)},
)
LEAVES = [("v", "x"), ("v", "y"), ("pi",), ("e",), *(("q", Fraction(value)) for value in (-2, -1, 0, 1, 2, 3, 8))]
EXPONENTS = [("q", Fraction(value)) for value in (2, 3, -1, Fraction(1, 2), Fraction(3, 2))] + [("v", "x")]


def grown(source: random.Random, depth: int) -> Tree:
    """Return a random expression tree."""
    if depth == 0 or source.random() < 0.15:
        return source.choice(LEAVES)
    kind = source.choice(["+", "+", "*", "*", "/", "^", "root", "f", "log", "|", "!"])
    inner = grown(source, depth - 1)
    if kind in ("+", "*", "/"):
        return (kind, inner, grown(source, depth - 1))
    if kind == "^":
        return ("^", inner, source.choice(EXPONENTS))
    if kind in ("root", "log"):
        return (kind, ("q", Fraction(source.choice([2, 3, 4]))), inner)
    if kind == "f":
        return ("f", source.choice(["sin", "cos", "tan", "sec", "cot", "ln"]), inner)
    return (kind, ("+", ("v", "x"), ("q", Fraction(1))) if kind == "!" else inner)


def values(tree: Tree) -> list:
    """Return the tree's real values at the points, None where it has none."""
    found = []
    for point in POINTS:
        try:
            value = value_of(tree, point)
            found.append(value if value == value.real else None)
        except (GiveUpError, ZeroDivisionError, OverflowError):
            found.append(None)
    return found


def agreements(left: list, right: list) -> list[bool]:
    pairs = [(a, b) for a, b in zip(left, right, strict=True) if a is not None and b is not None]
    return [abs(a - b) <= 1e-20 * (1 + max(abs(a), abs(b))) for a, b in pairs]


@pytest.mark.parametrize("seed", range(4))
def test_polynomials_and_numbers_agree_on_every_pair_of_random_expressions(seed: int) -> None:
    source = random.Random(seed)
    trees = [grown(source, source.choice([1, 2, 2, 3])) for _ in range(60)]
    known = [values(tree) for tree in trees]
    for (left, left_values), (right, right_values) in itertools.combinations(zip(trees, known, strict=True), 2):
        try:
            numerator = difference(left, right)
        except (GiveUpError, ZeroDivisionError):
            continue
        agreed = agreements(left_values, right_values)
        if not numerator:
            assert all(agreed), (left, right)
        elif is_complete(numerator):
            assert not (len(agreed) > 2 and all(agreed)), (left, right)


def tree(text: str) -> Tree:
    return parse_expression(tokens_of(text))


@pytest.mark.parametrize(
    ("left", "right", "verdict"),
    [
        (r"\sqrt{3+2\sqrt2}", r"1+\sqrt2", True),
        (r"\sqrt{5+2\sqrt6}", r"\sqrt2+\sqrt3", True),
        (r"\sqrt[3]{2+\sqrt5}+\sqrt[3]{2-\sqrt5}", "1", True),
        (r"\cos\frac{\pi}{5}", r"\frac{1+\sqrt5}{4}", True),
        (r"\sin\frac{\pi}{10}", r"\frac{\sqrt5-1}{4}", True),
        (r"\sqrt{10^{80}+1}", "10^{40}", False),
        (r"\sqrt{2}+\sqrt{3}", "3.1462643699419723423291350657155704455", False),
        (r"\pi", r"\frac{355}{113}", None),
    ],
)
def test_algebraic_constants_are_decided_by_their_separation(left: str, right: str, verdict: bool | None) -> None:
    assert decides_equal(tree(left), tree(right)) is verdict


@pytest.mark.parametrize(
    ("left", "right"),
    [
        (r"\sqrt{x^2}", "x"),
        (r"\ln(x^2)", r"2\ln x"),
        (r"\sqrt{-x}\sqrt{-y}", r"-\sqrt{xy}"),
        (r"|\sqrt{10^{80}+1}-10^{40}|", r"10^{40}-\sqrt{10^{80}+1}"),
        (r"e^{\pi\sqrt{163}}", "262537412640768744"),
        (r"\sin 10^{-30}", "10^{-30}"),
        ("(x^2)^{1/2}", "x"),
        (r"\arcsin(\sin x)", "x"),
    ],
)
def test_what_holds_only_nearly_or_only_somewhere_is_not_proved(left: str, right: str) -> None:
    assert not same_value(tree(left), tree(right))
