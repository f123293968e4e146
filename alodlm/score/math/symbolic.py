"""Equality proved by sympy, on expressions built node by node from our own trees.

sympy is imported here and nowhere else, when an answer needs it. A difference counts as zero only when
simplification makes it the number 0: a numeric guess never does.
"""

from __future__ import annotations

from typing import Any

from alodlm.score.math.errors import UnreadableError
from alodlm.score.math.limit import uncounted
from alodlm.score.math.parser import Tree
from alodlm.score.math.trees import in_radians, size

_MAX_NODES = 120
_FUNCTIONS = {
    "sin": "sin", "cos": "cos", "tan": "tan", "sec": "sec", "csc": "csc", "cot": "cot", "sinh": "sinh",
    "cosh": "cosh", "tanh": "tanh", "coth": "coth", "arcsin": "asin", "arccos": "acos", "arctan": "atan",
    "arccot": "acot", "arcsec": "asec", "arccsc": "acsc", "ln": "log", "floor": "floor", "ceiling": "ceiling",
}  # fmt: skip


def proves_equal(left: Tree, right: Tree) -> bool:
    """Say whether sympy simplifies the difference of two trees to zero."""
    if size(left) + size(right) > _MAX_NODES:
        return False
    with uncounted():
        import sympy

    try:
        difference = _Builder(sympy).build(left) - _Builder(sympy).build(right)
        return any(step(difference) == 0 for step in (sympy.expand, _expanded(sympy), sympy.simplify))
    except (ValueError, TypeError, ArithmeticError, AttributeError, NotImplementedError, RecursionError):
        return False


def _expanded(sympy: Any) -> Any:
    return lambda difference: sympy.simplify(sympy.expand_trig(sympy.expand_log(difference)))


class _Builder:
    """Builds a sympy expression; variables are real."""

    def __init__(self, sympy: Any) -> None:
        self.sympy = sympy

    def build(self, tree: Tree) -> Any:
        sympy, kind = self.sympy, tree[0]
        if kind == "q":
            return sympy.Rational(tree[1].numerator, tree[1].denominator)
        if kind == "v":
            if tree[1] == "∞":
                raise UnreadableError
            return sympy.Symbol(tree[1], real=True)
        if kind in ("i", "e", "pi"):
            return {"i": sympy.I, "e": sympy.E, "pi": sympy.pi}[kind]
        if kind == "f":
            return self._function(tree[1], tree[2])
        parts = [self.build(part) for part in tree[1:]]
        return self._operation(kind, parts)

    def _operation(self, kind: str, parts: list[Any]) -> Any:
        sympy, first, last = self.sympy, parts[0], parts[-1]
        if kind == "+":
            return first + last
        if kind == "*":
            return first * last
        if kind == "/":
            return first / last
        if kind == "^":
            return self._power(first, last)
        if kind == "root":
            return sympy.real_root(last, first) if first.is_odd else sympy.root(last, first)
        if kind == "log":
            return sympy.log(last) / sympy.log(first)
        if kind == "°":
            return first
        if kind == "|":
            return sympy.Abs(first)
        return sympy.gamma(first + 1) if kind == "!" else sympy.binomial(first, last)

    def _power(self, base: Any, exponent: Any) -> Any:
        """Build a power, refusing what sympy would compute at once and never finish."""
        if exponent.is_number and base.is_number and not (abs(exponent) < 2000):
            raise UnreadableError
        return base**exponent

    def _function(self, name: str, argument: Tree) -> Any:
        if name not in _FUNCTIONS:
            raise UnreadableError
        if name in ("sin", "cos", "tan", "sec", "csc", "cot"):
            argument = in_radians(argument)
        return getattr(self.sympy, _FUNCTIONS[name])(self.build(argument))
