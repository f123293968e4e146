"""The warm process: imports once what programs use, then forks one or two cells for each request.

Requests come over a sequenced socket with the descriptors of the cells' sockets; nothing of a program's text passes
through here. The zygote never reads what a cell writes.
"""

from __future__ import annotations

import array
import gc
import importlib
import json
import os
import signal
import socket
import sys

from . import candidate, cell, kernel, tester

_WARM = (
    "bisect", "cmath", "collections", "contextlib", "copy", "dataclasses", "datetime", "decimal", "enum", "fractions",
    "functools", "heapq", "itertools", "json", "math", "operator", "queue", "random", "re", "statistics", "string",
    "textwrap", "threading", "typing", "unicodedata",
)  # fmt: skip
_ROLES = {"evalplus": candidate.run_inputs, "candidate": candidate.run_peer, "tester": tester.run}
_MOST_DESCRIPTORS = 4


def main(arguments: list[str]) -> None:
    """Serve requests on the socket whose number is the first argument; the second is the JSON configuration."""
    requests = socket.socket(fileno=int(arguments[0]))
    configuration = json.loads(arguments[1])
    cell.quiet_streams()
    for name in _WARM:
        importlib.import_module(name)
    kernel.become_subreaper()
    kernel.die_with_parent()
    sys.set_int_max_str_digits(0)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    cells = cell.Cell(True, configuration["limits"], configuration["box"], configuration["visible"])
    cells.nested = configuration["nested"] and _can_nest(cells)
    kernel.set_dumpable(False)
    gc.collect()
    gc.disable()
    gc.freeze()
    requests.send(json.dumps({"nested": cells.nested, "pid": os.getpid()}).encode())
    while _serve_one(requests, cells):
        _reap()


def _can_nest(cells: cell.Cell) -> bool:
    here, there = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    channel = socket.socketpair()
    try:
        keeper = cells.start(there, channel[1], lambda _: os._exit(0))
    except OSError:
        return False
    there.close()
    answers = [here.recv(4096) for _ in range(2)]
    os.waitpid(keeper, 0)
    return json.loads(answers[-1] or b"[0]")[0] == "gone" and json.loads(answers[-1])[1] == 0


def _serve_one(requests: socket.socket, cells: cell.Cell) -> bool:
    data, ancillary, _, _ = requests.recvmsg(4096, socket.CMSG_SPACE(_MOST_DESCRIPTORS * 4))
    if not data:
        return False
    numbers = array.array("i")
    for _, _, payload in ancillary:
        numbers.frombytes(payload)
    sockets = [socket.socket(fileno=number) for number in numbers]
    if json.loads(data) == "evalplus":
        cells.start(sockets[0], sockets[1], _ROLES["evalplus"])
    else:
        _start_pair(cells, sockets)
    for one in sockets:
        one.close()
    return True


def _start_pair(cells: cell.Cell, sockets: list[socket.socket]) -> None:
    """Start the generated program and its tests in a cell each, joined by a socket of their own."""
    program_control, program_channel, test_control, test_channel = sockets
    cells.start(program_control, program_channel, _ROLES["candidate"])
    cells.start(test_control, test_channel, _ROLES["tester"])


def _reap() -> None:
    while True:
        try:
            done, _ = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return
        if not done:
            return
