"""The `python_tests` metric: the task's test program runs in a process of its own, away from the answer's.

Its calls of the answer's functions cross as copied values, so that a pass is what the tests themselves saw.
"""

from __future__ import annotations

import functools
from typing import Any

from alodlm.records import Score, Task
from alodlm.score.code import extract, plan, sandbox
from alodlm.score.code.child import codec
from alodlm.score.code.processes import ChannelClosed, LimitReached, Run, with_retry


def score(task: Task, text: str) -> Score:
    """Score one answer of a `python_tests` task: its test program must run to the end."""
    plan_of_task = plan.make(task.tests, task.function_prefix, task.entry_point)
    answer = extract.program(text, task.prompt, task.function_prefix, plan_of_task.entry_point)
    if answer.failure is not None:
        return Score(False, answer.source, answer.failure, plan_of_task.rule)
    imports = plan.trusted_imports(answer.source, plan_of_task.names)
    request = {**plan_of_task._asdict(), "program": answer.source, "tests": task.tests, "imports": imports}
    failure = with_retry(functools.partial(_run_tests, request, task.timeout_seconds))
    return Score(failure is None, answer.source, failure, plan_of_task.rule)


def _run_tests(request: dict[str, Any], seconds: float) -> str | None:
    """Run the tests; return the failure, or None where the test program itself reported its end."""
    with Run(sandbox.current(), "python_tests") as run:
        try:
            run.send(request)
            failure, _ = codec.load(run.frame(run.clock(seconds)))
        except LimitReached as reached:
            return reached.failure
        except (ChannelClosed, codec.CannotCross, ValueError, TypeError):
            return "crashed"
    return failure
