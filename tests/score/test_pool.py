"""The scoring pool: order, restarts and bounded look-ahead do not show in the scores."""

from __future__ import annotations

import json
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest

from alodlm.errors import StageError
from alodlm.records import Score, Task
from alodlm.score import pool
from alodlm.score.pool import Job, backstop_seconds, job, score_jobs

MATH = {"benchmark": "B", "id": 1, "metric": "exact", "prompt": "p", "answer": "42"}


def exact_job(answer, text):
    raw = json.dumps(MATH | {"answer": answer}).encode()
    return job(raw, Task(**(MATH | {"answer": answer})), text)


@pytest.fixture
def scripted_worker(tmp_path, monkeypatch):
    """Replace the worker program by one that obeys the job's text: answer, die or hang."""
    program = tmp_path / "worker.py"
    program.write_text(
        textwrap.dedent("""
        import json, os, pathlib, sys, time
        marks = pathlib.Path(sys.argv[1])
        print("ready", flush=True)
        for line in sys.stdin:
            for task, text in json.loads(line):
                if text == "hang":
                    time.sleep(600)
                if text == "die" or (text == "die once" and not (marks / "died").exists()):
                    (marks / "died").touch()
                    os._exit(9)
                print(json.dumps({"correct": True, "extracted": text, "failure": None, "rule": "scripted"}), flush=True)
        """)
    )
    start = pool._Worker.__init__

    def init(self, mode):
        start(self, mode)
        self._command = [sys.executable, str(program), str(tmp_path)]

    monkeypatch.setattr(pool._Worker, "__init__", init)


def scripted(*texts, backstop=1.5):
    return [Job("{}", text, backstop, False) for text in texts]


@pytest.mark.parametrize("workers", [1, 3])
def test_scores_come_in_the_order_of_the_jobs(workers):
    texts = [str(number) for number in range(300)]
    scores = list(score_jobs((exact_job("42", text) for text in texts), workers=workers))
    assert [score.extracted for score in scores] == texts
    assert [score.correct for score in scores] == [text == "42" for text in texts]


def test_a_worker_that_hangs_fails_only_the_job_it_hung_on(scripted_worker):
    scores = list(score_jobs(scripted("a", "hang", "b"), workers=1))
    assert [score.extracted for score in scores] == ["a", None, "b"]
    assert scores[1] == Score(False, None, "scorer_timeout", "worker_killed")


def test_a_worker_that_dies_once_costs_no_verdict(scripted_worker):
    scores = list(score_jobs(scripted("a", "die once", "b"), workers=1))
    assert [score.extracted for score in scores] == ["a", "die once", "b"]


def test_a_job_that_kills_every_worker_fails_alone(scripted_worker):
    scores = list(score_jobs(scripted("a", "die", "b"), workers=1))
    assert scores[1] == Score(False, None, "crashed", "worker_died")
    assert [score.extracted for score in scores] == ["a", None, "b"]


def test_a_worker_that_cannot_start_ends_the_run_instead_of_failing_answers(monkeypatch):
    start = pool._Worker.__init__

    def init(self, mode):
        start(self, mode)
        self._command = [sys.executable, "-c", "raise SystemExit(1)"]

    monkeypatch.setattr(pool._Worker, "__init__", init)
    with pytest.raises(StageError, match="died before it was ready"):
        list(score_jobs(scripted("a"), workers=1))


def test_jobs_are_read_only_a_little_ahead(scripted_worker):
    read = 0

    def jobs():
        nonlocal read
        for number in range(100_000):
            read += 1
            yield Job("{}", str(number), 60.0, False)

    scores = score_jobs(jobs(), workers=2)
    assert next(scores).extracted == "0"
    assert read <= 64 * 2 * 8 + 64
    scores.close()


def test_leaving_early_ends_the_workers(scripted_worker):
    scores = score_jobs(scripted("a", *["b"] * 70, "hang", backstop=600), workers=2)
    next(scores)
    scores.close()
    listing = subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True, check=True).stdout
    assert "worker.py" not in [Path(part).name for line in listing.splitlines() for part in line.split()[1:2]]


def test_workers_end_when_their_parent_is_killed(tmp_path):
    script = tmp_path / "parent.py"
    script.write_text(
        textwrap.dedent("""
        import itertools, json
        from alodlm.score.pool import Job, score_jobs
        task = json.dumps({"benchmark": "B", "id": 1, "metric": "exact", "prompt": "p", "answer": "42"})
        jobs = (Job(task, "42", 60.0, False) for _ in itertools.count())
        for number, score in enumerate(score_jobs(jobs, workers=2)):
            if number == 1000:
                print("running", flush=True)
        """)
    )
    with subprocess.Popen([sys.executable, str(script)], stdout=subprocess.PIPE, text=True) as parent:
        try:
            assert parent.stdout.readline() == "running\n"
            workers = children(parent.pid)
            assert len(workers) == 2
        finally:
            parent.kill()
    for worker in workers:
        assert ends(worker), worker


def children(pid):
    # A child belongs to the thread that started it.
    lists = [path.read_text() for path in Path(f"/proc/{pid}/task").glob("*/children")]
    return [int(word) for text in lists for word in text.split()]


def ends(pid, seconds=30):
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        stat = Path(f"/proc/{pid}/stat")
        if not stat.exists() or stat.read_text().rpartition(")")[2].split()[0] == "Z":
            return True
        time.sleep(0.05)
    return False


def test_the_backstop_lies_beyond_the_limits_of_a_program():
    tests = Task("B", 1, "python_tests", "p", tests="assert f()", timeout_seconds=7)
    assert backstop_seconds(tests) > 10 * 7
    assert backstop_seconds(Task("B", 1, "exact", "p", answer="1")) >= 60
