"""Score many answers in worker processes that can be killed, in order, with bounded memory.

Workers are started as fresh interpreters, so they hold no model memory and a caller's script needs no main guard.
A worker that overruns a job's backstop or dies is replaced; its unfinished jobs run again on the new one, and only
the job it was on is failed. Scorers are pure, so neither the number of workers nor a restart shows in the scores.
"""

from __future__ import annotations

import contextlib
import json
import logging
import os
import select
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

from msgspec import Struct, convert

import alodlm
from alodlm.errors import StageError
from alodlm.records import CODE_METRICS, Score, Task

_TEXT_CHUNK = 64
_CHUNKS_AHEAD = 8
_TEXT_BACKSTOP_SECONDS = 60.0
_CODE_SLACK_SECONDS = 60.0
_WALL_PER_LIMIT = 10.0
_START_SECONDS = 120.0
_LONGEST_WAIT_SECONDS = 3600.0
_LOG = logging.getLogger("alodlm")
_READ_BYTES = 1 << 16


class Job(Struct, frozen=True):
    """One answer to score: the raw line of its task file, the text, and the wall clock it may never exceed."""

    task: str
    text: str
    backstop_seconds: float
    alone: bool


def job(raw: bytes, task: Task, text: str) -> Job:
    """Return the job that scores `text` against the task on line `raw`."""
    return Job(raw.decode("utf-8"), text, backstop_seconds(task), task.metric in CODE_METRICS)


def backstop_seconds(task: Task) -> float:
    """Return the wall clock after which a worker is killed: far beyond the scorer's own limits."""
    if task.metric == "python_tests":
        return _WALL_PER_LIMIT * task.timeout_seconds + _CODE_SLACK_SECONDS
    if task.metric == "evalplus" and task.code_tests is not None:
        limits = (max(1.0, 4 * seconds) for suite in task.code_tests.suites for seconds in suite.reference_seconds)
        return _WALL_PER_LIMIT * sum(limits) + _CODE_SLACK_SECONDS
    return _TEXT_BACKSTOP_SECONDS


def default_workers() -> int:
    """Return the number of processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


class _WorkerLost(Exception):
    """The worker died or was killed for overrunning."""

    def __init__(self, overran: bool) -> None:
        super().__init__("overran" if overran else "died")
        self.overran = overran


class _Worker:
    """One worker process and its two pipes."""

    def __init__(self, sandbox_mode: str) -> None:
        self._command = [sys.executable, "-P", "-m", "alodlm.score.worker", sandbox_mode]
        self._process: subprocess.Popen[bytes] | None = None
        self._pending = b""
        self._closed = False
        self._lock = threading.Lock()

    def _start(self) -> subprocess.Popen[bytes]:
        paths = [str(Path(alodlm.__file__).parents[1]), os.environ.get("PYTHONPATH", "")]
        # Fixed hash seed: set order must not show. One thread: several workers share the processors.
        environment = os.environ | {
            "PYTHONPATH": os.pathsep.join(path for path in paths if path),
            "PYTHONHASHSEED": "0",
            "OMP_NUM_THREADS": "1",
            "OPENBLAS_NUM_THREADS": "1",
        }
        with self._lock:
            if self._closed:
                raise StageError("scoring", "was stopped")
            # A session of its own: Ctrl-C reaches the parent, which ends its workers itself.
            self._process = subprocess.Popen(
                self._command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment, start_new_session=True
            )
            process = self._process
        self._pending = b""
        try:
            self._read_line(process, _START_SECONDS)
        except _WorkerLost as lost:
            next_step = "see the message above; a broken installation is mended by installing the package again"
            raise StageError("scoring worker", f"{lost} before it was ready", next_step=next_step) from None
        return process

    def scores(self, jobs: list[Job]) -> Iterator[Score]:
        """Yield the scores of `jobs` in order; `_WorkerLost` where the worker overran the next one or died."""
        process = self._process or self._start()
        assert process.stdin is not None
        line = json.dumps([[item.task, item.text] for item in jobs]).encode() + b"\n"
        try:
            process.stdin.write(line)
            process.stdin.flush()
        except OSError:
            self._lose(overran=False)
        for item in jobs:
            yield convert(json.loads(self._read_line(process, item.backstop_seconds)), Score)

    def _read_line(self, process: subprocess.Popen[bytes], seconds: float) -> bytes:
        assert process.stdout is not None
        deadline = time.monotonic() + seconds
        while b"\n" not in self._pending:
            left = deadline - time.monotonic()
            ready, _, _ = select.select([process.stdout], [], [], min(max(0.0, left), _LONGEST_WAIT_SECONDS))
            if not ready:
                if left > _LONGEST_WAIT_SECONDS:
                    continue
                self._lose(overran=True)
            data = os.read(process.stdout.fileno(), _READ_BYTES)
            if not data:
                self._lose(overran=False)
            self._pending += data
        line, _, self._pending = self._pending.partition(b"\n")
        return line

    def _lose(self, *, overran: bool) -> None:
        self._end()
        raise _WorkerLost(overran)

    def _end(self) -> None:
        with self._lock:
            process, self._process = self._process, None
        if process is not None:
            process.kill()
            process.wait()
            for pipe in (process.stdin, process.stdout):
                with contextlib.suppress(OSError):
                    pipe.close()

    def stop(self) -> None:
        """Kill the process for good, from another thread; a chunk that is being scored fails."""
        with self._lock:
            self._closed = True
            if self._process is not None:
                self._process.kill()

    def close(self) -> None:
        """Free what a stopped worker holds, once no thread uses it."""
        self._end()


def _score_chunk(worker: _Worker, jobs: list[Job]) -> list[Score]:
    done: list[Score] = []
    died_before = -1
    while len(done) < len(jobs):
        try:
            for score in worker.scores(jobs[len(done) :]):
                done.append(score)
        except _WorkerLost as lost:
            if lost.overran:
                done.append(Score(False, None, "scorer_timeout", "worker_killed"))
            elif died_before == len(done):
                _LOG.warning("the scorer itself died twice on one answer: it counts as crashed (rule worker_died)")
                done.append(Score(False, None, "crashed", "worker_died"))
            else:
                died_before = len(done)
    return done


def score_jobs(jobs: Iterable[Job], *, workers: int | None = None, sandbox_mode: str = "auto") -> Iterator[Score]:
    """Yield the score of each job, in the order of `jobs`.

    At most a few chunks per worker are held at a time. Leaving the iteration early ends the workers.
    """
    count = workers or default_workers()
    pool = [_Worker(sandbox_mode) for _ in range(count)]
    idle = deque(pool)
    executor = ThreadPoolExecutor(count, thread_name_prefix="score")

    def run(chunk: list[Job]) -> list[Score]:
        # As many threads as workers: a thread always finds one idle.
        worker = idle.popleft()
        try:
            return _score_chunk(worker, chunk)
        finally:
            idle.append(worker)

    pending: deque[Future[list[Score]]] = deque()
    try:
        for chunk in _chunks(jobs):
            pending.append(executor.submit(run, chunk))
            while len(pending) >= count * _CHUNKS_AHEAD or (pending and pending[0].done()):
                yield from pending.popleft().result()
        while pending:
            yield from pending.popleft().result()
    finally:
        for future in pending:
            future.cancel()
        for worker in pool:
            worker.stop()
        executor.shutdown(wait=True, cancel_futures=True)
        for worker in pool:
            worker.close()


def _chunks(jobs: Iterable[Job]) -> Iterator[list[Job]]:
    chunk: list[Job] = []
    for item in jobs:
        if item.alone:
            if chunk:
                yield chunk
            yield [item]
            chunk = []
            continue
        chunk.append(item)
        if len(chunk) == _TEXT_CHUNK:
            yield chunk
            chunk = []
    if chunk:
        yield chunk
