"""Runs killed with SIGKILL at any moment and continued end in the same predictions as an undisturbed one."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import textwrap
import time

import pytest

TASKS = 50

# A candidate with no weights, so that a trial takes a second; the moments to die at are told by the phases' files.
PROGRAM = textwrap.dedent("""
    import argparse, sys, time
    from alodlm.cli.shared import run_command
    from alodlm.pipeline import RunOptions, evaluate_candidate
    from alodlm.records import Generation

    class Slow:
        def describe(self):
            return {"identity": "x", "protocol": {"engine": "scripted"}}
        def check(self, tasks):
            list(tasks)
        def load(self):
            pass
        def warm_up(self):
            pass
        def generate(self, tasks):
            for task in tasks:
                time.sleep(0.01)
                start = time.perf_counter()
                yield task, Generation(f"The answer is {task.prompt}.", 3, time.perf_counter() - start + 1e-6)

    def body(arguments):
        evaluate_candidate(Slow(), arguments.tasks, arguments.output, options=RunOptions(resume=True, workers=2))
        return 0

    parser = argparse.ArgumentParser()
    parser.add_argument("tasks")
    parser.add_argument("output")
    sys.exit(run_command(body, parser))
""")


@pytest.fixture(scope="module")
def tasks(tmp_path_factory):
    path = tmp_path_factory.mktemp("tasks") / "tasks.jsonl"
    rows = []
    for number in range(TASKS):
        answer = number if number % 3 else number + 1
        rows.append({"benchmark": "Sums", "id": number, "metric": "math", "prompt": str(number), "answer": answer})
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def start(tasks, folder, **pipes):
    return subprocess.Popen([sys.executable, "-c", PROGRAM, str(tasks), str(folder)], text=True, **pipes)


@pytest.fixture(scope="module")
def undisturbed(tasks, killing, tmp_path_factory):
    folder = tmp_path_factory.mktemp("undisturbed") / "run"
    assert start(tasks, folder).wait() == 0
    return killing.without_clocks(folder)


@pytest.mark.parametrize("trial", range(12))
def test_a_killed_run_continues_to_the_same_predictions(tasks, undisturbed, killing, tmp_path, trial):
    draw = random.Random(trial)
    folder = tmp_path / "run"
    moment, count = killing.moments[trial % 3], draw.randrange(1, TASKS - 5)
    process = start(tasks, folder)
    while process.poll() is None and not killing.reached(folder, moment, count):
        time.sleep(0.001)
    if moment == "scoring":
        time.sleep(draw.uniform(0, 0.6))
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    assert start(tasks, folder).wait() == 0
    assert killing.without_clocks(folder) == undisturbed
    assert json.loads((folder / "summary.json").read_text())["benchmarks"]["Sums"]["examples"] == TASKS
    left = sorted(path.name for path in folder.iterdir())
    assert left == ["generations", "manifest.json", "predictions.jsonl", "summary.json"]


def test_a_finished_generation_is_never_made_again(tasks, killing, tmp_path):
    folder = tmp_path / "run"
    process = start(tasks, folder)
    while process.poll() is None and not killing.reached(folder, "generating", 10):
        time.sleep(0.001)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    journal = folder / "generations" / "rank-00000.jsonl"
    whole = journal.read_bytes()
    kept = whole[: whole.rfind(b"\n") + 1]
    assert start(tasks, folder).wait() == 0
    assert journal.read_bytes().startswith(kept)
    assert journal.read_bytes().count(b"\n") == TASKS


def test_control_c_ends_with_130_and_can_be_continued(tasks, killing, tmp_path, undisturbed):
    folder = tmp_path / "run"
    process = start(tasks, folder, stderr=subprocess.PIPE)
    while process.poll() is None and not killing.reached(folder, "generating", 5):
        time.sleep(0.001)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate()
    assert process.returncode == 130
    assert "interrupted; finished work is kept" in err and "--resume" in err and "Traceback" not in err
    assert start(tasks, folder).wait() == 0
    assert killing.without_clocks(folder) == undisturbed
