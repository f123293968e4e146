"""Naive runners that the attacks must beat before they are tried on the real one; a job on stdin, a verdict out.

`exit_code`: program and tests in one file, exit code 0 is a pass. `printed_mark`: the same, with a mark printed last.
`in_process`: inputs, expected values, comparison and verdict in the process of the program, as EvalPlus does it.
"""

from __future__ import annotations

import json
import multiprocessing
import subprocess
import sys
import tempfile
from pathlib import Path

MARK = "ALL TESTS PASSED"


def run_file(job: dict, printed: bool) -> bool:
    """Run program and tests as one file."""
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder, "program.py")
        program.write_text(f"{job['code']}\n{job['tests']}\nprint({MARK!r})\n")
        streams = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
        with subprocess.Popen([sys.executable, str(program)], cwd=folder, **streams) as process:
            output = process.stdout.readline() if printed else b""
            code = process.wait()
    return MARK in output.decode(errors="replace") if printed else code == 0


def same(one: object, other: object) -> bool:
    """Compare an output with what is expected."""
    return one == other


def run_in_process(job: dict, verdict: object) -> None:
    """Run, compare and record in one process."""
    names: dict = {}
    exec(job["code"], names)
    for inputs, expected in zip(job["inputs"], job["expected"], strict=True):
        output = names["f"](*inputs)
        if not same(output, expected):
            return
    verdict.value = 1


def main() -> None:
    """Take one job, print one verdict."""
    job = json.loads(sys.stdin.readline())
    if job["runner"] == "in_process":
        verdict = multiprocessing.Value("i", 0)
        process = multiprocessing.get_context("fork").Process(target=run_in_process, args=(job, verdict))
        process.start()
        process.join()
        passed = verdict.value == 1
    else:
        passed = run_file(job, job["runner"] == "printed_mark")
    print(json.dumps({"passed": passed}), flush=True)


if __name__ == "__main__":
    main()
