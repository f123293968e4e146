"""Equality of algebraic constants proved by numbers: a non-zero one cannot be smaller than its separation bound.

The bound is the one of Burnikel, Fleischer, Mehlhorn and Schirra (2001): for an expression over integers with
+ − · / and roots, upper values u and l and the product D of the roots' degrees give |E| ≥ 1 / (u^(D−1) · l) unless
E = 0. So evaluating E to a little more than that many bits decides.
"""

from __future__ import annotations

from fractions import Fraction
from math import gcd, log2

from alodlm.score.math.errors import GiveUpError, UnreadableError
from alodlm.score.math.normal import PI, Normaliser
from alodlm.score.math.numeric import context, value_of
from alodlm.score.math.parser import Tree
from alodlm.score.math.quotient import ONE
from alodlm.score.math.trees import in_radians

_MAX_DEGREE = 64
_MAX_BITS = 6000
_GUARD_BITS = 200
_CIRCULAR = frozenset({"sin", "cos", "tan", "cot", "sec", "csc"})


def decides_equal(left: Tree, right: Tree) -> bool | None:
    """Say whether two algebraic constants are equal; None when they are none, or too complex to tell."""
    tree = ("+", left, ("*", ("q", Fraction(-1)), right))
    bound = _Bound()
    try:
        upper, lower = bound.of(tree)
        degree = bound.degree()
    except GiveUpError:
        return None
    bits = (degree - 1) * upper + lower
    if degree > _MAX_DEGREE or bits > _MAX_BITS:
        return None
    digits = int((bits + upper + _GUARD_BITS) * 0.302) + 10
    value = value_of(tree, {}, digits)
    return abs(value) < context(digits).mpf(2) ** -int(bits + 10)


class _Bound:
    """Collects log₂ of u and l bottom up, and the roots met (equal ones count once)."""

    def __init__(self) -> None:
        self.roots: dict[Tree, int] = {}

    def degree(self) -> int:
        product = 1
        for degree in self.roots.values():
            product *= degree
        return product

    def of(self, tree: Tree) -> tuple[float, float]:
        kind = tree[0]
        if kind == "q":
            return _log2(abs(tree[1].numerator)), _log2(tree[1].denominator)
        if kind == "i":
            self.roots[tree] = 2
            return 0.0, 0.0
        if kind == "^" and tree[2][0] == "q" and tree[1] != ("e",):
            return self._power(tree[1], tree[2][1])
        if kind == "root" and tree[1][0] == "q" and tree[1][1].denominator == 1:
            return self._power(tree[2], 1 / tree[1][1])
        if kind == "f" and tree[1] in _CIRCULAR:
            return self._circular(tree[1], tree[2])
        if kind not in "+*/":
            raise UnreadableError
        (upper1, lower1), (upper2, lower2) = self.of(tree[1]), self.of(tree[2])
        if kind == "+":
            return max(upper1 + lower2, upper2 + lower1) + 1, lower1 + lower2
        if kind == "*":
            return upper1 + upper2, lower1 + lower2
        return upper1 + lower2, lower1 + upper2

    def _power(self, base: Tree, exponent: Fraction) -> tuple[float, float]:
        upper, lower = self.of(base)
        if abs(exponent.numerator) > 4096 or exponent.denominator > 16:
            raise UnreadableError
        if exponent.denominator > 1:
            self.roots["root", base, exponent.denominator] = exponent.denominator
            part = 1 / exponent.denominator
            if upper >= lower:
                upper, lower = (upper + lower * (exponent.denominator - 1)) * part, lower
            else:
                upper, lower = upper, (upper * (exponent.denominator - 1) + lower) * part
        times = abs(exponent.numerator)
        return (upper * times, lower * times) if exponent > 0 else (lower * times, upper * times)

    def _circular(self, name: str, argument: Tree) -> tuple[float, float]:
        """Bound sin and cos of a rational part of π, as (z + 1/z)/2 with a root of unity z."""
        turn = _part_of_pi(argument)
        if turn.denominator > 16:
            raise UnreadableError
        order = 4 * turn.denominator
        self.roots["unity", order] = sum(gcd(order, k) == 1 for k in range(order))
        if name in ("sin", "cos"):
            return 1.0, 1.0
        return 2.0, 2.0


def _part_of_pi(argument: Tree) -> Fraction:
    """Return r of an angle r·π."""
    top, bottom = Normaliser().quotient(in_radians(argument))
    if bottom != ONE or set(top) != {PI}:
        raise UnreadableError
    return top[PI]


def _log2(number: int) -> float:
    """Return log₂, rounded up; 0 counts as 1 so that bounds stay valid."""
    return log2(number) + 1e-9 if number > 1 else 0.0
