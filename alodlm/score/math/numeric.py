"""Expression trees evaluated to many digits: the refutation of equality, never its proof.

Works on a private mpmath context, so precision is nobody else's business. Powers are bounded before they are
computed; what is not real where no i occurs, or not finite, has no value.
"""

from __future__ import annotations

import functools
from fractions import Fraction
from typing import Any

from alodlm.score.math.errors import GiveUpError, TooLargeError, UnreadableError
from alodlm.score.math.limit import uncounted
from alodlm.score.math.parser import Tree
from alodlm.score.math.trees import has_imaginary, in_radians, variables

DIGITS = 40
CAREFUL_DIGITS = 150
_AGREE = 24
_AGREE_CAREFULLY = 100
_MAX_EXPONENT_BITS = 40


class NoValueError(GiveUpError):
    """The expression has no (real, finite) value at this point."""


@functools.lru_cache(maxsize=2)
def context(digits: int) -> Any:
    """Return a private mpmath context of this precision."""
    with uncounted():
        from mpmath import MPContext

    made = MPContext()
    made.dps = digits
    return made


def value_of(tree: Tree, point: dict[str, Fraction], digits: int = DIGITS) -> Any:
    """Return the value of a tree where its variables have the values of `point`."""
    return _Evaluator(context(digits), point).value(tree)


def points(names: set[str]) -> list[dict[str, Fraction]]:
    """Return test points, the same for the same names: positive, negative, mixed, and natural numbers."""
    ordered = sorted(names)
    if not ordered:
        return [{}]
    shapes = [(Fraction(3, 7), 1), (Fraction(-5, 11), 1), (Fraction(9, 13), -1), (Fraction(2), 0), (Fraction(3), 0)]
    made = []
    for start, sign in shapes:
        point = {}
        for index, name in enumerate(ordered):
            step = Fraction(2 * index + 1, 1) if sign == 0 else Fraction(17 * index + 5, 23 * index + 19)
            point[name] = start + step * (1 if start > 0 else -1) * (sign**index if sign else 1)
        made.append(point)
    return made


def refuted(left: Tree, right: Tree) -> bool:
    """Say whether two trees differ at some point, or cannot be compared at enough of them."""
    names = variables(left) | variables(right)
    real = not (has_imaginary(left) or has_imaginary(right))
    compared = 0
    for point in points(names):
        try:
            if _differ(left, right, point, real):
                return True
            compared += 1
        except NoValueError:
            continue
    return compared < (2 if names else 1)


def _differ(left: Tree, right: Tree, point: dict[str, Fraction], real: bool) -> bool:
    """Compare at one point; a difference must show again with many more digits, so that cancellation cannot fake it."""
    first, second = (_Evaluator(context(DIGITS), point, real).value(tree) for tree in (left, right))
    if abs(first - second) <= max(abs(first), abs(second)) * context(DIGITS).mpf(10) ** -_AGREE:
        return False
    first, second = (_Evaluator(context(CAREFUL_DIGITS), point, real).value(tree) for tree in (left, right))
    size = 1 + max(abs(first), abs(second))
    return abs(first - second) > size * context(CAREFUL_DIGITS).mpf(10) ** -_AGREE_CAREFULLY


class _Evaluator:
    """Evaluates one tree in one context."""

    def __init__(self, made: Any, point: dict[str, Fraction], real: bool = False) -> None:
        self.mp, self.point, self.real = made, point, real

    def value(self, tree: Tree) -> Any:
        result = self._value(tree)
        if isinstance(result, self.mp.mpc):
            if result.imag == 0:
                result = result.real
            elif self.real:
                raise NoValueError
        if not self.mp.isfinite(result):
            raise NoValueError
        return result

    def _value(self, tree: Tree) -> Any:
        kind = tree[0]
        if kind == "q":
            return self._fraction(tree[1])
        if kind == "v":
            return self._fraction(self.point[tree[1]])
        if kind in ("i", "e", "pi"):
            return self.mp.j if kind == "i" else +getattr(self.mp, kind)
        if kind == "^":
            return self._power(self.value(tree[1]), self.value(tree[2]))
        if kind == "f":
            return self._function(tree[1], tree[2])
        parts = [self.value(part) for part in tree[1:]]
        return self._operation(kind, parts)

    def _operation(self, kind: str, parts: list[Any]) -> Any:
        first, last = parts[0], parts[-1]
        if kind == "+":
            return first + last
        if kind == "*":
            return first * last
        if kind == "/":
            if last == 0:
                raise NoValueError
            return first / last
        if kind == "root":
            return self._root(first, last)
        if kind == "log":
            return self._logarithm(last) / self._logarithm(first)
        if kind == "|":
            return abs(first)
        if kind == "°":
            return first
        return self._combinatorial(kind, first, last)

    def _fraction(self, value: Fraction) -> Any:
        return self.mp.mpf(value.numerator) / value.denominator

    def _combinatorial(self, kind: str, first: Any, last: Any) -> Any:
        if abs(first) > 10**6 or abs(last) > 10**6:
            raise TooLargeError
        try:
            return self.mp.factorial(first) if kind == "!" else self.mp.binomial(first, last)
        except ValueError:
            raise NoValueError from None

    def _power(self, base: Any, exponent: Any) -> Any:
        if base == 0:
            if not isinstance(exponent, self.mp.mpc) and exponent > 0:
                return self.mp.zero
            raise NoValueError
        size = abs(self.mp.log(abs(base))) * abs(exponent)
        if size > 2**_MAX_EXPONENT_BITS:
            raise TooLargeError
        return self.mp.power(base, exponent)

    def _root(self, degree: Any, radicand: Any) -> Any:
        if isinstance(radicand, self.mp.mpf) and radicand < 0 and degree % 2 == 1:
            return -self.mp.power(-radicand, 1 / degree)
        return self._power(radicand, 1 / degree) if radicand else self.mp.zero

    def _logarithm(self, argument: Any) -> Any:
        if argument == 0:
            raise NoValueError
        return self.mp.log(argument)

    def _function(self, name: str, argument: Tree) -> Any:
        value = self.value(in_radians(argument) if name in _TRIGONOMETRIC else argument)
        if name == "ln":
            return self._logarithm(value)
        if name in ("floor", "ceiling"):
            return self.mp.floor(value) if name == "floor" else self.mp.ceil(value)
        if name not in _FUNCTIONS:
            raise UnreadableError
        if abs(value) > 2**_MAX_EXPONENT_BITS:
            raise TooLargeError
        try:
            return getattr(self.mp, _FUNCTIONS[name])(value)
        except ZeroDivisionError:
            raise NoValueError from None


_TRIGONOMETRIC = frozenset({"sin", "cos", "tan", "sec", "csc", "cot"})
_FUNCTIONS = {name: name for name in (*_TRIGONOMETRIC, "sinh", "cosh", "tanh", "coth")} | {
    "arcsin": "asin", "arccos": "acos", "arctan": "atan", "arccot": "acot", "arcsec": "asec", "arccsc": "acsc",
}  # fmt: skip
