"""`alodlm-evaluate` on a real checkpoint, killed with SIGKILL and continued, ends as an undisturbed run does."""

from __future__ import annotations

import random
import subprocess
import sys
import time

import pytest

from alodlm.resources import demo_checkpoint, demo_tasks

pytest.importorskip("torch")
pytestmark = pytest.mark.slow

TASKS = 50


@pytest.fixture(scope="module")
def tasks(tmp_path_factory):
    """Fifty demo tasks of every kind, programs included."""
    path = tmp_path_factory.mktemp("tasks") / "tasks.jsonl"
    lines = demo_tasks().read_text(encoding="utf-8").splitlines(keepends=True)
    random.Random(0).shuffle(lines)
    path.write_text("".join(lines[:TASKS]), encoding="utf-8")
    return path


def start(tasks, folder):
    named = ["--model", demo_checkpoint(), "--input", tasks, "--output", folder, "--device", "cpu", "--resume"]
    command = [sys.executable, "-m", "alodlm.cli.evaluate", *map(str, named)]
    return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)


def finish(process):
    _, err = process.communicate()
    assert process.returncode == 0, err


@pytest.fixture(scope="module")
def undisturbed(tasks, killing, tmp_path_factory):
    folder = tmp_path_factory.mktemp("undisturbed") / "run"
    finish(start(tasks, folder))
    return killing.without_clocks(folder)


@pytest.mark.parametrize("trial", range(10))
def test_a_killed_evaluation_continues_to_the_same_predictions(tasks, undisturbed, killing, tmp_path, trial):
    draw = random.Random(trial)
    folder, moment, count = tmp_path / "run", killing.moments[trial % 3], draw.randrange(1, TASKS)
    process = start(tasks, folder)
    while process.poll() is None and not killing.reached(folder, moment, count):
        time.sleep(0.002)
    time.sleep(draw.uniform(0, 0.3))
    process.kill()
    process.communicate()
    finish(start(tasks, folder))
    assert killing.without_clocks(folder) == undisturbed
    left = sorted(path.name for path in folder.iterdir())
    assert left == ["generations", "manifest.json", "predictions.jsonl", "summary.json"]
