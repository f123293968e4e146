"""Sums, products, definite integrals, limits and derivatives: read by latex2sympy2, decided by sympy.

Only short text of known commands, small numbers and single letters gets there: latex2sympy2 keeps state for
assignments and matrices and computes powers at once, so neither may occur. Refuted at natural numbers first; equal
only when the evaluated difference simplifies to zero.
"""

from __future__ import annotations

import re
import sys
import types
import warnings
from typing import Any, BinaryIO, TextIO

from alodlm.score.math.limit import uncounted

_OPERATOR = re.compile(r"\\(?:sum|prod)_|\\int_|\\lim_|\\frac\{d\}\{d[a-z]\}")
_COMMANDS = frozenset(
    """sum prod int lim frac sqrt infty pi to cdot sin cos tan ln log left right alpha beta theta""".split()
)
_CHARACTERS = re.compile(r"(?:\\[A-Za-z]+|\\,|[A-Za-z](?![A-Za-z])|d[a-z]\b|\d{1,3}(?!\d)|[{}^_+\-*/()=\s])+")
_NUMBER_POWER = re.compile(r"\^\{?\s*-?(\d+)")
_NESTED_POWER = re.compile(r"\^\{[^{}]*\^|\)\s*\^|\}\s*\^\{?\s*\d")
_INDEX = re.compile(r"\\(?:sum|prod)_\{?\s*([ij])\s*=")
_BOUNDS = re.compile(r"\\(?:sum|prod|int|lim)_(?:\{[^{}]*\}|\w)(?:\s*\^(?:\{[^{}]*\}|\\infty|\w))?")
_BARE_FRACTION = re.compile(r"\\frac\s*(\d)\s*(\d)")
_FREE_LETTERS = "kmrqp"
_MAX_CHARACTERS = 160
_MAX_POWER = 12
_TRIES = (2, 5)


def is_operator(text: str) -> bool:
    """Say whether a text holds a sum, product, integral, limit or derivative that may be evaluated here."""
    return _OPERATOR.search(text) is not None and is_plain(text)


def is_plain(text: str) -> bool:
    """Say whether a text is short and made of known commands, single letters, small numbers and small powers."""
    if len(text) > _MAX_CHARACTERS or _CHARACTERS.fullmatch(text) is None or "^" in "".join(_bounds_inside(text)):
        return False
    body = _BOUNDS.sub("", text)
    if _NESTED_POWER.search(body):
        return False
    known = all(name in _COMMANDS for name in re.findall(r"\\([A-Za-z]+)", text))
    return known and all(int(power) <= _MAX_POWER for power in _NUMBER_POWER.findall(body))


def _bounds_inside(text: str) -> list[str]:
    """Return what the braces of all bounds hold."""
    return [inner for bounds in _BOUNDS.findall(text) for inner in re.findall(r"\{([^{}]*)\}", bounds)]


def proves_equal(left: str, right: str) -> bool:
    """Say whether two texts, one of them with an operator, evaluate to the same."""
    if not (is_plain(left) and is_plain(right) and (is_operator(left) or is_operator(right))):
        return False
    with uncounted():
        sympy, read = _imported()
    sides = [_read(read, _with_free_index(_BARE_FRACTION.sub(r"\\frac{\1}{\2}", text))) for text in (left, right)]
    if None in sides:
        return False
    difference = sides[0] - sides[1]
    try:
        return not _refuted(difference) and sympy.simplify(difference.doit()) == 0
    except (ValueError, TypeError, ArithmeticError, AttributeError, NotImplementedError, RecursionError):
        return False


def same_bounds(left: str, right: str) -> tuple[str, str] | None:
    """Return the bodies of two texts that begin with one operator over the same bounds."""
    begins = _BOUNDS.match(left), _BOUNDS.match(right)
    if None in begins or len({re.sub(r"[{}\s]", "", begin[0]) for begin in begins}) != 1:
        return None
    return left[begins[0].end() :], right[begins[1].end() :]


def _imported() -> tuple[Any, Any]:
    """Import sympy and latex2sympy2, whose parser asks for a module that Python 3.13 no longer has."""
    if "typing.io" not in sys.modules:
        module = types.ModuleType("typing.io")
        module.TextIO, module.BinaryIO = TextIO, BinaryIO
        sys.modules["typing.io"] = module
    import sympy

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        import latex2sympy2
    return sympy, latex2sympy2.latex2sympy


def _read(read: Any, text: str) -> Any:
    """Return what latex2sympy2 makes of a text; it says that it cannot by a bare Exception."""
    try:
        expression = read(text)
    except Exception:
        return None
    return expression if hasattr(expression, "free_symbols") and not expression.has(*_relational()) else None


def _relational() -> tuple[Any, ...]:
    import sympy

    return (sympy.core.relational.Relational, sympy.MatrixBase)


def _with_free_index(text: str) -> str:
    """Rename an index i or j, which latex2sympy2 would read as √−1."""
    for index in _INDEX.findall(text):
        letter = next((free for free in _FREE_LETTERS if not re.search(rf"(?<![A-Za-z\\]){free}", text)), index)
        text = re.sub(rf"(?<![A-Za-z\\]){index}(?![A-Za-z])", letter, text)
    return text


def _refuted(difference: Any) -> bool:
    """Say whether the difference is clearly not zero at small natural numbers."""
    for start in _TRIES:
        point = {symbol: start + at for at, symbol in enumerate(sorted(difference.free_symbols, key=str))}
        value = difference.subs(point).doit().evalf(30)
        if value.is_number and value.is_finite and abs(value) > 1e-12:
            return True
    return False
