"""EvalPlus's decision on one output, made outside the program's process.

Follows EvalPlus 0.3's semantics test by test: exact equality, its MBPP oracles, and a tolerance once a float is
expected. Its one fault is not followed: for HumanEval's `find_zero` the residual decides.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy

NOT_NONE = frozenset({"check_str", "text_match_three", "text_starta_endb"})
SET_EQUAL = frozenset(
    {
        "similar_elements", "find_char_long", "common_in_nested_lists", "extract_singly", "larg_nnum",
        "intersection_array", "find_dissimilar", "Diff",
    }
)  # fmt: skip
_FLOAT_TOLERANCE = 1e-6
_RELATIVE_TOLERANCE = 1e-7
_ERRORS = (ArithmeticError, AttributeError, LookupError, MemoryError, RuntimeError, TypeError, ValueError)


class Comparison:
    """Decides the outputs of one suite in order; a tolerance that a float switched on stays on, as in EvalPlus."""

    def __init__(self, dataset: str, entry_point: str, atol: float) -> None:
        self._dataset, self._name, self._atol = dataset, entry_point, atol

    def accepts(self, arguments: list[Any], output: Any, expected: Any) -> bool:
        """Say whether the output of one test is right; `arguments` are the test's own, untouched by the program."""
        try:
            with numpy.errstate(all="ignore"):
                return bool(self._decide(arguments, output, expected))
        except _ERRORS:
            return False

    def _decide(self, arguments: list[Any], output: Any, expected: Any) -> bool:
        if self._dataset == "humaneval" and self._name == "find_zero":
            return abs(polynomial(arguments[0], output)) <= self._atol
        exact = output == expected
        if self._dataset == "mbpp":
            exact = self._oracle(exact, arguments, output, expected)
        if self._atol == 0 and is_float_output(expected):
            self._atol = _FLOAT_TOLERANCE
        if exact or self._atol == 0:
            return exact
        return self._close(output, expected)

    def _oracle(self, exact: Any, arguments: list[Any], output: Any, expected: Any) -> Any:
        name = self._name
        if name == "are_equivalent":
            return True
        if name == "sum_div":
            return exact or output == 0
        if name == "surface_Area":
            return exact or abs(output - pyramid_surface(*arguments)) <= self._atol
        if name == "digit_distance_nums":
            return exact or output == digit_distance(*arguments)
        if name in SET_EQUAL:
            return set(output) == set(expected)
        if name in NOT_NONE and not isinstance(output, bool):
            return expected == (output is not None)
        return exact

    def _close(self, output: Any, expected: Any) -> bool:
        if type(output) is not type(expected):
            return False
        if isinstance(expected, (list, tuple)) and len(output) != len(expected):
            return False
        return bool(numpy.allclose(output, expected, rtol=_RELATIVE_TOLERANCE, atol=self._atol))


def is_float_output(value: Any) -> bool:
    """Say whether an expected value is a float, or a non-empty list or tuple of nothing but floats."""
    if isinstance(value, (list, tuple)):
        return bool(value) and all(isinstance(item, float) for item in value)
    return isinstance(value, float)


def polynomial(coefficients: Sequence[float], x: float) -> float:
    """Return the value at x of the polynomial whose coefficients ascend."""
    return sum(coefficient * math.pow(x, power) for power, coefficient in enumerate(coefficients))


def pyramid_surface(base: float, height: float) -> int:
    """Return the rounded surface of a square pyramid, `height` being that of its apex over the base."""
    slant = math.sqrt((base / 2) ** 2 + height**2)
    return round(base**2 + 4 * (base * slant) / 2)


def digit_distance(first: int, second: int) -> int:
    """Return the sum of the differences of two numbers' digits, the shorter one padded with zeros on the left."""
    one, two = str(first), str(second)
    width = max(len(one), len(two))
    return sum(abs(int(a) - int(b)) for a, b in zip(one.zfill(width), two.zfill(width), strict=True))
