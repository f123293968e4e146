"""Metrics `python_tests` and `evalplus`: small Python functions from templates.

Names, constants and operations vary. The body with its constants decides the split, so a held-out body was never
seen under any name. Expected outputs come from running the template's own reference here.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

from demo_training.items import Item, Maker
from demo_training.words import function_name

# A nominal time of the trusted solution, not a measurement: every reference is a single expression, and the
# limit that follows from it (the scorer's floor of one second) is far above what one needs.
REFERENCE_SECONDS = 0.001

# What is asked, what the function returns, and the reference; {a} < {b} are constants, {pair} both in either order.
_NUMBER_TEMPLATES = {
    "plus": ("x plus {a}", "x + {a}", lambda a, b: lambda x: x + a),
    "plus_larger": ("x plus the larger of {pair}", "x + {b}", lambda a, b: lambda x: x + b),
    "times_smaller": ("x times the smaller of {pair}", "x * {a}", lambda a, b: lambda x: x * a),
    "times_plus": ("x times {a} plus {b}", "x * {a} + {b}", lambda a, b: lambda x: x * a + b),
    "times_minus": ("x times {a} minus {b}", "x * {a} - {b}", lambda a, b: lambda x: x * a - b),
    "plus_times": ("x plus {a}, times {b}", "(x + {a}) * {b}", lambda a, b: lambda x: (x + a) * b),
    "rest": ("the rest of x by {a}", "x % {a}", lambda a, b: lambda x: x % a),
    "floor": ("x, at least the larger of {pair}", "max(x, {b})", lambda a, b: lambda x: max(x, b)),
    "cap": ("x, at most {a}", "min(x, {a})", lambda a, b: lambda x: min(x, a)),
    "between": ("x kept within {pair}", "min(max(x, {a}), {b})", lambda a, b: lambda x: min(max(x, a), b)),
}
_LIST_TEMPLATES = {
    "total_plus": ("Sum of v, plus {a}.", "sum(v) + {a}", lambda a, b: lambda v: sum(v) + a),
    "total_times": ("Sum of v, times the smaller of {pair}.", "sum(v) * {a}", lambda a, b: lambda v: sum(v) * a),
    "largest_minus": ("Largest of v, minus {a}.", "max(v) - {a}", lambda a, b: lambda v: max(v) - a),
    "smallest_plus": ("Smallest of v, plus the larger of {pair}.", "min(v) + {b}", lambda a, b: lambda v: min(v) + b),
    "length_times": ("Length of v, times {a}.", "len(v) * {a}", lambda a, b: lambda v: len(v) * a),
    "each_plus": ("Add {a} to each of v.", "[x + {a} for x in v]", lambda a, b: lambda v: [x + a for x in v]),
    "each_times": ("Each of v, times {a}.", "[x * {a} for x in v]", lambda a, b: lambda v: [x * a for x in v]),
    "above": (
        "Keep v above the larger of {pair}.",
        "[x for x in v if x > {b}]",
        lambda a, b: lambda v: [x for x in v if x > b],
    ),
    "below": (
        "Keep v below the smaller of {pair}.",
        "[x for x in v if x < {a}]",
        lambda a, b: lambda v: [x for x in v if x < a],
    ),
    "count": ("How many of v equal {a}?", "v.count({a})", lambda a, b: lambda v: v.count(a)),
}
_Template = tuple[str, str, Callable[[int, int], Callable[[Any], Any]]]


def _constants(rng: random.Random) -> tuple[int, int]:
    a, b = rng.sample(range(2, 100), 2)
    return min(a, b), max(a, b)


def _pair(rng: random.Random, a: int, b: int) -> str:
    return "{} and {}".format(*rng.sample((a, b), 2))


def _response(name: str, parameter: str, body: str) -> str:
    return f"```python\ndef {name}({parameter}):\n    return {body}\n```"


def _number_item(form: str, template: _Template, rng: random.Random) -> Item:
    asked, body, reference = template
    a, b = _constants(rng)
    name, body = function_name(rng), body.format(a=a, b=b)
    function = reference(a, b)
    inputs = (0, 1, 7, -3, a, b, b + 1, 250)
    tests = "\n".join(f"assert {name}({x}) == {function(x)!r}" for x in inputs)
    fields = {"tests": tests, "entry_point": name}
    question = f"Write {name}(x): {asked.format(a=a, b=b, pair=_pair(rng, a, b))}."
    return Item("python_tests", form, body, question, _response(name, "x", body), body, fields)


def _list_item(form: str, template: _Template, rng: random.Random) -> Item:
    asked, body, reference = template
    a, b = _constants(rng)
    name, body = function_name(rng), body.format(a=a, b=b)
    function = reference(a, b)
    inputs = [[1], [a], [3, a + 1, 2], [a - 1, a, a + 1, -5], [b - 1, b, b + 1], [40, 7, 7, 130, 0, 12]]
    suite = {
        "inputs": [[values] for values in inputs],
        "expected": [function(values) for values in inputs],
        "reference_seconds": [REFERENCE_SECONDS] * len(inputs),
    }
    code_tests = {"dataset": "humaneval", "entry_point": name, "atol": 0.0, "suites": [suite]}
    question = f'def {name}(v):\n    """{asked.format(a=a, b=b, pair=_pair(rng, a, b))}"""'
    return Item("evalplus", form, body, question, _response(name, "v", body), body, {"code_tests": code_tests})


def _makers(templates: dict[str, _Template], make: Callable[[str, _Template, random.Random], Item]) -> dict:
    def maker(form: str, template: _Template) -> Maker:
        return lambda rng: make(form, template, rng)

    return {form: (maker(form, template), 1.0) for form, template in templates.items()}


PYTHON_TESTS_MAKERS = _makers(_NUMBER_TEMPLATES, _number_item)
EVALPLUS_MAKERS = _makers(_LIST_TEMPLATES, _list_item)
