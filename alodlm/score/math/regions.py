"""Inequalities as intervals: `-2 < x ≤ 7` is `(-2, 7]`, `x < 2 or x > 3` a union of two."""

from __future__ import annotations

from alodlm.score.math.errors import UnreadableError
from alodlm.score.math.leaf import trimmed
from alodlm.score.math.nodes import Bracketed, Inequality, Node, Region, Value
from alodlm.score.math.parser import INFINITY, MINUS_INFINITY, Tree, parse_expression
from alodlm.score.math.tokens import Token
from alodlm.score.math.trees import variables

_FLIPPED = {"<": ">", ">": "<", "≤": "≥", "≥": "≤", "≠": "≠"}


def read_inequality(parts: list[list[Token]], signs: list[str]) -> Node:
    """Return a chain of one or two relations as a region of its variable, else as a plain inequality."""
    sides = [trimmed(part) for part in parts]
    if len(signs) == 2 and (name := _variable(sides[1])):
        return _between(sides, signs, name)
    if len(signs) != 1:
        raise UnreadableError
    left, right = sides
    if name := _variable(left):
        bound = parse_expression(right)
        if name not in variables(bound):
            return Region(_ray(signs[0], bound), name)
    if name := _variable(right):
        bound = parse_expression(left)
        if name not in variables(bound):
            return Region(_ray(_FLIPPED[signs[0]], bound), name)
    return _plain(parse_expression(left), parse_expression(right), signs[0])


def _between(sides: list[list[Token]], signs: list[str], name: str) -> Region:
    lower, upper = parse_expression(sides[0]), parse_expression(sides[2])
    if signs[0] in "><≥≤" and {signs[0], signs[1]} <= {">", "≥"}:
        lower, upper = upper, lower
        signs = [_FLIPPED[signs[1]], _FLIPPED[signs[0]]]
    if not {signs[0], signs[1]} <= {"<", "≤"}:
        raise UnreadableError
    opening, closing = "(" if signs[0] == "<" else "[", ")" if signs[1] == "<" else "]"
    return Region((Bracketed(opening, closing, (Value(lower), Value(upper))),), name)


def _ray(sign: str, bound: Tree) -> tuple[Bracketed, ...]:
    below = Bracketed("(", "]" if sign == "≤" else ")", (Value(MINUS_INFINITY), Value(bound)))
    above = Bracketed("[" if sign == "≥" else "(", ")", (Value(bound), Value(INFINITY)))
    if sign == "≠":
        return below, above
    return (below,) if sign in "<≤" else (above,)


def _plain(left: Tree, right: Tree, sign: str) -> Inequality:
    if sign == "≠":
        raise UnreadableError
    smaller, larger = (left, right) if sign in "<≤" else (right, left)
    return Inequality(smaller, larger, sign in "≤≥")


def _variable(tokens: list[Token]) -> str | None:
    """Return the name when tokens are a lone variable."""
    if len(tokens) == 1 and tokens[0].kind == "symbol" and tokens[0].text not in ("i", "e", "pi"):
        return tokens[0].text
    return None


def joined(regions: list[Region], union: bool) -> Region:
    """Return regions of one variable joined by `or` (a union) or `and` (two rays that make an interval)."""
    names = {region.variable for region in regions}
    if len(names) != 1:
        raise UnreadableError
    pieces = [piece for region in regions for piece in region.pieces]
    if union:
        return Region(tuple(pieces), names.pop())
    if len(pieces) == 2 and all(len(region.pieces) == 1 for region in regions):
        for lower, upper in (pieces, pieces[::-1]):
            if lower.items[1].tree == INFINITY and upper.items[0].tree == MINUS_INFINITY:
                return Region((Bracketed(lower.opening, upper.closing, (lower.items[0], upper.items[1])),), names.pop())
    raise UnreadableError
