"""Honest clocks and watched trees: what a generated program used, as seen from outside of it.

A limit runs on the time in which the program could run: wall clock less its waiting in the run queue (the kernel's
schedstat, of its least-delayed task). Its CPU time is a second limit and ten times the limit in wall clock the
backstop. Where /proc does not tell (macOS), waiting and CPU time count as nothing and the wall clock decides.
"""

from __future__ import annotations

import os
import time

from alodlm.score.code.child import kernel

WALL_BACKSTOP = 10.0


class LimitReached(Exception):
    """A program went over a limit; `failure` is the kind to record."""

    def __init__(self, failure: str) -> None:
        super().__init__(failure)
        self.failure = failure


class Tree:
    """One cell's processes, watched by polling: run-queue waiting, CPU time, memory and number of tasks."""

    def __init__(self, memory_bytes: int, tasks: int) -> None:
        self._memory_bytes, self._tasks = memory_bytes, tasks
        self._seen: dict[str, tuple[int, int]] = {}
        self.root: int | None = None
        self.waited = self.ran = 0.0

    def look(self) -> None:
        """Read the tree once; `LimitReached` where it holds too much memory or too many tasks."""
        if self.root is None or not kernel.LINUX:
            return
        processes = [self.root, *kernel.descendants(self.root)]
        seen = {task: times for process in processes for task, times in _task_times(process)}
        changes = [
            (ran - self._seen.get(task, (0, 0))[0], waited - self._seen.get(task, (0, 0))[1])
            for task, (ran, waited) in seen.items()
        ]
        self._seen = seen
        if changes:
            self.ran += sum(ran for ran, _ in changes) / 1e9
            self.waited += max(0, min(waited for _, waited in changes)) / 1e9
        if len(seen) > self._tasks:
            raise LimitReached("crashed")
        if sum(map(_held_bytes, processes)) > self._memory_bytes:
            raise LimitReached("memory")


def _task_times(process: int) -> list[tuple[str, tuple[int, int]]]:
    """Return each task's nanoseconds on a CPU and in the run queue."""
    found = []
    try:
        tasks = os.listdir(f"/proc/{process}/task")
    except OSError:
        return []
    for task in tasks:
        try:
            with open(f"/proc/{process}/task/{task}/schedstat") as file:
                ran, waited, _ = file.read().split()
        except (OSError, ValueError):
            continue
        found.append((task, (int(ran), int(waited))))
    return found


def _held_bytes(process: int) -> int:
    """Return the memory that a process holds itself, without the files it maps."""
    try:
        with open(f"/proc/{process}/status") as file:
            lines = [line.split() for line in file if line.startswith(("RssAnon:", "RssShmem:"))]
    except OSError:
        return 0
    return sum(int(line[1]) for line in lines) * 1024


class Clock:
    """The time that a program had since the clock started, against its limit in seconds."""

    def __init__(self, limit: float, program: Tree, helper: Tree | None = None) -> None:
        self._limit, self._program, self._helper = limit, program, helper
        self._start = time.monotonic()
        self._waited, self._ran = self._total_waited(), program.ran

    def _total_waited(self) -> float:
        return self._program.waited + (self._helper.waited if self._helper else 0.0)

    def remaining(self) -> float:
        """Return the seconds until the limit could be reached at the earliest."""
        wall = time.monotonic() - self._start
        able_to_run = wall - (self._total_waited() - self._waited)
        ran = self._program.ran - self._ran
        return min(self._limit - able_to_run, self._limit - ran, WALL_BACKSTOP * self._limit - wall)

    def check(self) -> None:
        """Look at the trees; `LimitReached` where the time is over."""
        self._program.look()
        if self._helper:
            self._helper.look()
        if self.remaining() <= 0:
            raise LimitReached("timeout")
