"""Cells as the scorer sees them: start them, wait for what they send, end them.

Everything that a generated program can do ends in one of three ways here: a frame, a closed socket or a limit.
"""

from __future__ import annotations

import contextlib
import json
import select
import socket
import struct
from collections.abc import Callable
from types import TracebackType
from typing import Any

from alodlm.errors import StageError
from alodlm.score.code import sandbox
from alodlm.score.code.child import kernel
from alodlm.score.code.child.channel import Channel, ChannelClosed
from alodlm.score.code.sandbox import Limits, Sandbox, SandboxBroken
from alodlm.score.code.watch import Clock, LimitReached, Tree

_CREDENTIALS = struct.Struct("3i")
_POLL_SECONDS = 0.05
_END_SECONDS = 3.0


class ZygoteLost(SandboxBroken):
    """The zygote died during a run."""


class CellHandle:
    """One cell: its control socket at the zygote and its watched tree."""

    def __init__(self, limits: Limits) -> None:
        self.control, self.far_control = socket.socketpair(socket.AF_UNIX, kernel.MESSAGES)
        if kernel.LINUX:
            self.control.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 1)
        self.tree = Tree(limits.memory_bytes, limits.tasks)
        self.ended = self.clean = False
        self._sender: int | None = None

    def read_reports(self) -> None:
        """Read what came from the cell without waiting: it started (with its process id), it failed, all is gone."""
        while not self.ended and select.select([self.control], [], [], 0)[0]:
            self._read_report()

    def _read_report(self) -> None:
        data, ancillary, _, _ = self.control.recvmsg(4096, socket.CMSG_SPACE(_CREDENTIALS.size))
        if not data:
            self.ended = True
        for level, kind, payload in ancillary:
            if kernel.LINUX and level == socket.SOL_SOCKET and kind == socket.SCM_CREDENTIALS:
                self._sender = _CREDENTIALS.unpack(payload)[0]
        for line in data.splitlines():
            self._take_report(json.loads(line))

    def _take_report(self, report: list[Any]) -> None:
        if report[0] == "started":
            # The number that the cell knows itself by may be of its own namespace; the kernel tells ours.
            self.tree.root = self._sender or int(report[1])
        elif report[0] == "failed":
            self.ended = True
            raise SandboxBroken(report[1])
        else:
            self.ended = self.clean = True

    def end(self) -> bool:
        """Have the zygote end everything; say whether it reported so in time."""
        with contextlib.suppress(OSError):
            self.control.shutdown(socket.SHUT_WR)
        self.control.settimeout(_END_SECONDS)
        try:
            while not self.ended:
                self._read_report()
        except (TimeoutError, OSError, SandboxBroken):
            self.ended = True
        self.control.close()
        return self.clean


class Run:
    """The cells of one scored answer, as a context: on leaving it, nothing of them runs any more."""

    def __init__(self, wall: Sandbox, kind: str) -> None:
        self._sandbox, self._kind = wall, kind
        self.cells: list[CellHandle] = []

    def __enter__(self) -> Run:
        pair = self._kind == "python_tests"
        self.cells = [CellHandle(self._sandbox.limits) for _ in range(2 if pair else 1)]
        ends = [socket.socketpair() for _ in self.cells]
        far: list[socket.socket] = []
        for cell, (_, channel) in zip(self.cells, ends, strict=True):
            far += [cell.far_control, channel]
        try:
            self._sandbox.request(self._kind, far)
            if pair:
                socket.send_fds(ends[1][0], [b"\0"], [ends[0][0].fileno()])
        finally:
            for one in far:
                one.close()
            if pair:
                ends[0][0].close()
        self._connection = ends[-1][0]
        self.channel = Channel(self._connection)
        return self

    def __exit__(self, kind: type | None, error: BaseException | None, trace: TracebackType | None) -> None:
        reported = [cell.end() for cell in self.cells]
        self._connection.close()
        lost = not all(reported) and self._sandbox.has_died()
        self._sandbox.after_run(all(reported))
        if lost:
            raise ZygoteLost("the helper process ended")

    def send(self, request: Any) -> None:
        """Send the request that a cell waits for."""
        self.channel.send(json.dumps(request, separators=(",", ":")).encode("ascii"))

    def clock(self, seconds: float) -> Clock:
        """Start a clock over the generated program (and the test program beside it)."""
        trees = [cell.tree for cell in self.cells]
        return Clock(seconds, *trees)

    def frame(self, clock: Clock) -> bytes:
        """Wait for the next frame; `LimitReached` or `ChannelClosed` where none comes."""
        while (frame := self.channel.buffered_frame()) is None:
            wait = max(0.001, min(_POLL_SECONDS, clock.remaining()))
            if select.select([self._connection], [], [], wait)[0]:
                self._fill()
            else:
                self._look(clock)
        return frame

    def _fill(self) -> None:
        try:
            self.channel.fill()
        except ChannelClosed:
            for cell in self.cells:
                cell.read_reports()
            raise

    def _look(self, clock: Clock) -> None:
        """Look at the cells; one that ended without having sent anything is a closed channel."""
        for cell in self.cells:
            cell.read_reports()
        clock.check()
        if self.cells[-1].ended and not select.select([self._connection], [], [], 0)[0]:
            raise ChannelClosed


def with_retry(run: Callable[[], str | None]) -> str | None:
    """Run something that needs cells; once more where the machinery itself failed, then a `StageError`.

    A program that twice took the zygote down with it (it can, where it is not contained) crashed.
    """
    try:
        return run()
    except SandboxBroken:
        sandbox.close()
    try:
        return run()
    except ZygoteLost:
        return "crashed"
    except SandboxBroken as error:
        raise StageError("code sandbox", "could not run a program", value=str(error)) from None


__all__ = ["CellHandle", "ChannelClosed", "LimitReached", "Run", "with_retry"]
