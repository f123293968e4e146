"""The evalplus metric: EvalPlus's semantics on values that came back, and real tasks from end to end."""

from __future__ import annotations

import itertools
import math
import random

import pytest

from alodlm.records import CodeSuite, CodeTests, Score, Task
from alodlm.score.code import compare, evalplus
from alodlm.score.code.child import codec


def score(code: str, inputs: list, expected: list, *, name: str = "f", dataset: str = "humaneval", atol: float = 0.0,
          literal: bool = False, seconds: float = 0.0) -> Score:  # fmt: skip
    times = [seconds] * len(inputs)
    if literal:
        suite = CodeSuite(inputs_literal=repr(inputs), expected_literal=repr(expected), reference_seconds=times)
    else:
        suite = CodeSuite(inputs=inputs, expected=expected, reference_seconds=times)
    tests = CodeTests(dataset=dataset, entry_point=name, suites=[suite], atol=atol)
    task = Task(benchmark="b", id="1", metric="evalplus", prompt="p", code_tests=tests)
    return evalplus.score(task, f"```python\n{code}\n```")


@pytest.mark.parametrize(
    ("code", "expected", "options", "correct"),
    [
        ("def f(x): return x", [1], {}, True),
        ("def f(x): return x + 1", [1], {}, False),
        ("def f(x): return float(x)", [1], {}, True),
        ("def f(x): return [x]", [(1,)], {"literal": True}, False),
        ("def f(x): return (x, {x})", [(1, {1})], {"literal": True}, True),
        ("def f(x): return x + 1e-9", [1.0], {}, True),
        ("def f(x): return x + 1e-3", [1.0], {}, False),
        ("def f(x): return x + 1e-3", [1.0], {"atol": 0.01}, True),
        ("def f(x): return 1 if x else 0", [1.0], {}, True),
        ("def f(x): return None", [1], {}, False),
        ("def f(x): return iter([x])", [[1]], {}, False),
        ("import numpy\ndef f(x): return numpy.int64(x)", [1], {}, True),
        ("from collections import Counter\ndef f(x): return Counter([x])", [{1: 1}], {"literal": True}, True),
    ],
)
def test_an_output_is_compared_as_evalplus_does(code: str, expected: list, options: dict, correct: bool):
    assert score(code, [[1]], expected, **options).correct is correct


@pytest.mark.parametrize(
    ("name", "code", "inputs", "expected", "atol", "correct"),
    [
        ("are_equivalent", "def are_equivalent(a, b): return None", [[1, 2]], [True], 0, True),
        ("sum_div", "def sum_div(n): return 0", [[6]], [6], 0, True),
        ("sum_div", "def sum_div(n): return 5", [[6]], [6], 0, False),
        ("surface_Area", "def surface_Area(b, h): return 33", [[3, 4]], [34], 0, False),
        ("digit_distance_nums", "def digit_distance_nums(a, b): return 9", [[1, 10]], [1], 0, False),
        ("digit_distance_nums", "def digit_distance_nums(a, b): return 2", [[1, 10]], [1], 0, True),
        ("Diff", "def Diff(a, b): return (x for x in [2, 1, 1])", [[[1], [2]]], [[1, 2]], 0, True),
        ("Diff", "def Diff(a, b): return [1]", [[[1], [2]]], [[1, 2]], 0, False),
        ("check_str", "import re\ndef check_str(s): return re.search('a', s)", [["a"], ["b"]], [True, False], 0, True),
        ("check_str", "def check_str(s): return False", [["a"]], [True], 0, False),
    ],
)
def test_the_special_oracles_of_mbpp_decide(name, code, inputs, expected, atol, correct):
    found = score(code, inputs, expected, name=name, dataset="mbpp", atol=atol)
    assert found.correct is correct


ROOT = """def find_zero(xs):
    low, high = -1.0, 1.0
    value = lambda x: sum(c * x ** i for i, c in enumerate(xs))
    while value(low) * value(high) > 0:
        low, high = low * 2, high * 2
    while high - low > 1e-12:
        middle = (low + high) / 2
        if value(middle) * value(low) > 0: low = middle
        else: high = middle
    return low"""


def test_a_root_is_checked_by_its_residual():
    inputs = [[[1, 2]], [[-6, 11, -6, 1]]]
    assert score(ROOT, inputs, [-0.5, 1.0], name="find_zero", atol=1e-4).correct
    assert score("def find_zero(xs): return 3.0", inputs[1:], [1.0], name="find_zero", atol=1e-4).correct
    assert not score("def find_zero(xs): return 0.5", inputs, [-0.5, 1.0], name="find_zero", atol=1e-4).correct


def test_a_root_of_the_argument_emptied_by_the_program_is_none():
    cheat = "def find_zero(xs):\n    xs.clear()\n    return 0.0"
    assert not score(cheat, [[[1, 2]]], [-0.5], name="find_zero", atol=1e-4).correct


def test_every_test_of_every_suite_must_pass():
    tests = [CodeSuite(inputs=[[i]], expected=[i if i < 2 else 0], reference_seconds=[0.0]) for i in range(3)]
    code = CodeTests(dataset="mbpp", entry_point="f", suites=tests)
    task = Task(benchmark="b", id="1", metric="evalplus", prompt="p", code_tests=code)
    assert evalplus.score(task, "```python\ndef f(x): return x\n```").failure == "wrong"


@pytest.mark.parametrize(
    ("code", "failure"),
    [
        ("def f(x):\n    while True: pass", "timeout"),
        ("import time\ndef f(x): time.sleep(60)", "timeout"),
        ("def f(x): raise ValueError", "wrong"),
        ("def f(x): return [0] * 10**11", "memory"),
        ("import os\ndef f(x): os._exit(0)", "crashed"),
        ("def g(x): return x", "crashed"),
        ("def f(x) return x", "compile_error"),
    ],
)
def test_a_failure_is_recorded_by_its_kind(code: str, failure: str):
    assert score(code, [[1]], [1]).failure == failure


def test_a_test_may_take_four_times_the_reference():
    code = "import time\ndef f(x):\n    time.sleep(1.5)\n    return x"
    assert score(code, [[1]], [1], seconds=1.0).correct
    assert score(code, [[1]], [1], seconds=0.1).failure == "timeout"


def test_the_oracles_are_those_of_the_evalplus_package():
    oracles = pytest.importorskip("evalplus.eval._special_oracle")
    assert frozenset(oracles.MBPP_OUTPUT_NOT_NONE_TASKS) == compare.NOT_NONE
    assert frozenset(oracles.MBPP_OUTPUT_SET_EQ_TASKS) == compare.SET_EQUAL
    numbers = random.Random(0)
    for _ in range(200):
        first, second, x = numbers.randrange(1, 9999), numbers.randrange(1, 9999), numbers.uniform(-3, 3)
        assert compare.pyramid_surface(first, second) == oracles._surface_Area(first, second)
        assert compare.digit_distance(first, second) == oracles._digit_distance_nums(first, second)
        assert compare.polynomial([first, second, 1], x) == oracles._poly([first, second, 1], x)


VALUES = [0, 1, True, 1.0, 1 + 1e-9, 1.5, "a", None, [], [1], (1,), [1.0, 2.0], [1.0, 2.0 + 1e-9], (1.0, 2.0), {1},
          {1: 2}, [1.0, 2], [[1.0]], float("nan"), float("inf"), [1.0], ["a"], "", [None], {1.0}]  # fmt: skip


@pytest.mark.parametrize("atol", [0.0, 1e-6, 0.1])
def test_every_pair_of_values_is_decided_as_in_the_evalplus_package(atol: float):
    package = pytest.importorskip("evalplus.eval")

    class Cell:
        value = 0

    for output, expected in itertools.product(VALUES, VALUES):
        details, verdict = [0], Cell()
        package.reliability_guard = lambda **options: None
        package.time_limit = package.swallow_io = lambda *options: __import__("contextlib").nullcontext()
        package.unsafe_execute(
            "humaneval", "f", f"def f(x):\n    from math import nan, inf\n    return {output!r}", [[0]], [expected],
            [1.0], atol, False, verdict, details, Cell(),
        )  # fmt: skip
        ours = compare.Comparison("humaneval", "f", atol).accepts([0], output, expected)
        assert ours == bool(details[0]), (output, expected)


def test_colliding_keys_cannot_hold_up_the_reader():
    tree = ["s", *(["i", hex(key)] for key in range(0, 30_000 * (2**61 - 1), 2**61 - 1))]
    with pytest.raises(codec.CannotCross):
        codec.decode(tree, codec.Decoder(seconds=0.2))


@pytest.mark.parametrize(
    "data",
    [b"", b"[", b"\xff", b"[" * 100_000, b'["l",' * 5000, b'["no such tag"]', b'["i","x"]', b'["x",0,"object"]',
     b'["e","eval",1]', b'["T","__import__"]', b'["D","datetime","never"]', b'["nd","O",[1],["l",1]]', b'[]',
     b'{"a":1}', b'["F","0x1' + b'1' * 99_999 + b'","0x1"]', b'["s",["l"]]', b'["d",1]', b'["F","0x1","0x0"]',
     b'["N","x"]',
     b'["m",1]', b'["q","a",1]'],
)  # fmt: skip
def test_malformed_bytes_are_refused_and_nothing_else(data: bytes):
    with pytest.raises(codec.CannotCross):
        codec.decode(codec.load(data))


def test_values_of_classes_that_a_program_defines_have_no_form():
    for base in (int, float, str, list, dict, tuple, set, bytes, complex, frozenset):
        kind = type("Own", (base,), {"__eq__": lambda self, other: True, "__hash__": base.__hash__})
        with pytest.raises(codec.CannotCross):
            codec.encode([kind()])


def test_numbers_cross_exactly():
    for value in (0.1, -0.0, 1e308, 5e-324, math.inf, 2**62, -(2**62), 2**5000, 2**53 + 1):
        back = codec.decode(codec.load(codec.dump(codec.encode(value))))
        assert back == value and type(back) is type(value)
        assert type(value) is int or math.copysign(1, back) == math.copysign(1, value)
