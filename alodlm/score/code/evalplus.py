"""The `evalplus` metric: inputs go into the program's process, outputs come back, and are compared here.

Expected values never enter that process. Limits per test are EvalPlus's, on an honest clock.
"""

from __future__ import annotations

import functools
from typing import Any

from alodlm.records import CodeSuite, CodeTests, Score, Task
from alodlm.score.code import extract, sandbox
from alodlm.score.code.child import codec
from alodlm.score.code.compare import SET_EQUAL, Comparison
from alodlm.score.code.processes import ChannelClosed, LimitReached, Run, with_retry

RULE = "outputs_compared_outside"
LOAD_SECONDS = 5.0
_LEAST_SECONDS, _REFERENCE_FACTOR, _MOST_SECONDS = 1.0, 4.0, 60.0
_DECODE_SECONDS = 2.0
_HOLD_SECONDS = 0.005


def score(task: Task, text: str) -> Score:
    """Score one answer of an `evalplus` task: every test of every suite must pass."""
    tests = task.code_tests
    answer = extract.program(text, task.prompt, task.function_prefix, tests.entry_point)
    if answer.failure is not None:
        return Score(False, answer.source, answer.failure, RULE)
    for suite in tests.suites:
        failure = with_retry(functools.partial(_run_suite, tests, suite, answer.source))
        if failure is not None:
            return Score(False, answer.source, failure, RULE)
    return Score(True, answer.source, None, RULE)


def limits(suite: CodeSuite) -> list[float]:
    """Return each test's seconds: four times the reference's, at least one."""
    return [max(_LEAST_SECONDS, _REFERENCE_FACTOR * seconds) for seconds in suite.reference_seconds]


def _run_suite(tests: CodeTests, suite: CodeSuite, program: str) -> str | None:
    """Run one suite; return the failure, or None."""
    arguments, expected, seconds = suite.arguments(), suite.outputs(), limits(suite)
    # Held outcomes would be clocked by the limit of the test before, so they are held only where all are the same.
    hold_seconds = _HOLD_SECONDS if len(set(seconds)) == 1 else 0.0
    request = {
        "program": program, "hold_seconds": hold_seconds, "entry_point": tests.entry_point,
        "drain": tests.entry_point in SET_EQUAL, "inputs": [codec.encode(list(one)) for one in arguments],
    }  # fmt: skip
    comparison = Comparison(tests.dataset, tests.entry_point, tests.atol)
    with Run(sandbox.current(), "evalplus") as run:
        try:
            run.send(request)
            total = run.clock(min(_MOST_SECONDS, sum(seconds)) + LOAD_SECONDS)
            loaded = codec.load(run.frame(run.clock(LOAD_SECONDS)))
            if loaded[0] != "loaded":
                return "memory" if loaded[1] == "memory" else "crashed"
            for inputs, wanted, limit in zip(arguments, expected, seconds, strict=True):
                failure = _judge(run.frame(run.clock(limit)), inputs, wanted, comparison)
                if failure is None and total.remaining() <= 0:
                    failure = "timeout"
                if failure is not None:
                    return failure
        except LimitReached as reached:
            return reached.failure
        except (ChannelClosed, codec.CannotCross, LookupError, TypeError):
            return "crashed"
    return None


def _judge(frame: bytes, arguments: list[Any], expected: Any, comparison: Comparison) -> str | None:
    outcome = codec.load(frame)
    if outcome[0] == "raise" and outcome[1] == "memory":
        return "memory"
    if outcome[0] != "ok":
        return "wrong"
    try:
        output = codec.decode(outcome[1], codec.Decoder(seconds=_DECODE_SECONDS))
    except codec.CannotCross:
        return "wrong"
    return None if comparison.accepts(arguments, output, expected) else "wrong"
