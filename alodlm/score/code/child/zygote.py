"""The warm process: imports once what programs use, then forks one or two cells for each request.

Requests come over a sequenced socket with the descriptors of the cells' sockets; nothing of a program's text passes
through here, and nothing that a cell writes is read. A cell ends when its program does, or when the scorer lets go
of its control socket; all end when the scorer goes away.
"""

from __future__ import annotations

import array
import contextlib
import fcntl
import gc
import importlib
import json
import os
import select
import signal
import socket

from . import candidate, kernel, tester
from .cell import Cell, Settings, quiet_streams

_WARM = (
    "bisect", "cmath", "collections", "contextlib", "copy", "dataclasses", "datetime", "decimal", "enum", "fractions",
    "functools", "heapq", "itertools", "json", "math", "operator", "queue", "random", "re", "statistics", "string",
    "textwrap", "threading", "typing", "unicodedata",
)  # fmt: skip
_ROLES = {"evalplus": (candidate.run_inputs,), "python_tests": (candidate.run_peer, tester.run)}
_MOST_DESCRIPTORS = 4
_POLL_MILLISECONDS = 20


def main(arguments: list[str]) -> None:
    """Serve requests on the socket whose number is the first argument; the second is the JSON configuration."""
    requests = _moved_up(socket.socket(fileno=int(arguments[0])))
    configuration = json.loads(arguments[1])
    quiet_streams()
    for name in _WARM:
        importlib.import_module(name)
    kernel.become_subreaper()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    settings = Settings(**configuration)
    settings.nested = settings.nested and _can_nest(settings)
    settings.prepare_process()
    kernel.set_dumpable(settings.nested)
    gc.collect()
    gc.disable()
    gc.freeze()
    requests.send(json.dumps({"nested": settings.nested}).encode())
    _Server(requests, settings).serve()


def _moved_up(connection: socket.socket) -> socket.socket:
    """Keep the number that a cell's channel gets free."""
    with connection:
        return socket.socket(fileno=fcntl.fcntl(connection.fileno(), fcntl.F_DUPFD_CLOEXEC, 10))


def _can_nest(settings: Settings) -> bool:
    """Try whether a cell can have namespaces of its own."""
    here, there = socket.socketpair(socket.AF_UNIX, kernel.MESSAGES)
    _, channel = socket.socketpair()
    try:
        cell = Cell(settings, there, channel, lambda _: None)
    except OSError:
        return False
    started = json.loads(here.recv(4096))[0] == "started"
    cell.end(None, set())
    return started


class _Server:
    """The zygote's loop over its requests and its cells."""

    def __init__(self, requests: socket.socket, settings: Settings) -> None:
        self._requests, self._settings = requests, settings
        self._cells: dict[int, Cell] = {}
        self._poll = select.poll()
        self._poll.register(requests, select.POLLIN)

    def serve(self) -> None:
        """Serve until the scorer goes away, then end every cell."""
        while True:
            blind = any(cell.descriptor is None for cell in self._cells.values())
            ready = {number for number, _ in self._poll.poll(_POLL_MILLISECONDS if blind else None)}
            for cell in list(self._cells.values()):
                if cell.control.fileno() in ready:
                    self._end(cell, cell.poll())
                elif (cell.descriptor in ready or blind) and (status := cell.poll()) is not None:
                    self._end(cell, status)
            if self._requests.fileno() in ready and not self._start():
                break
        for cell in list(self._cells.values()):
            self._end(cell, cell.poll())
        with contextlib.suppress(OSError):
            os.rmdir(self._settings.box)

    def _start(self) -> bool:
        data, ancillary, _, _ = self._requests.recvmsg(4096, socket.CMSG_SPACE(_MOST_DESCRIPTORS * 4))
        if not data:
            return False
        numbers = array.array("i")
        for _, _, payload in ancillary:
            numbers.frombytes(payload)
        sockets = [socket.socket(fileno=number) for number in numbers]
        for role, control, channel in zip(_ROLES[json.loads(data)], sockets[::2], sockets[1::2], strict=True):
            cell = Cell(self._settings, control, channel, role)
            channel.close()
            self._cells[cell.process] = cell
            for descriptor in (control.fileno(), cell.descriptor):
                if descriptor is not None:
                    self._poll.register(descriptor, select.POLLIN)
        return True

    def _end(self, cell: Cell, status: int | None) -> None:
        for descriptor in (cell.control.fileno(), cell.descriptor):
            if descriptor is not None:
                self._poll.unregister(descriptor)
        del self._cells[cell.process]
        cell.end(status, set(self._cells))
