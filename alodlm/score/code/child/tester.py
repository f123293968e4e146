"""The test program's side: runs the task's tests against functions that live in the other process.

It sees the generated program only through values. It alone writes the verdict, on a socket that the other process
never had.
"""

from __future__ import annotations

import os
import socket
import sys
import types
from typing import Any

from . import codec
from .channel import Channel, ChannelClosed
from .peer import Peer, Policy


def run(connection: socket.socket) -> None:
    """Take the request, run the tests, send the verdict."""
    (descriptor,) = socket.recv_fds(connection, 1, 1)[1]
    reports = Channel(connection, 1 << 31)
    request = codec.load(reports.receive())
    program = Channel(socket.socket(fileno=descriptor))
    session = _Session(reports, program, request)
    try:
        session.run()
    except ChannelClosed:
        session.finish("crashed", "the program ended")
    except MemoryError:
        session.finish("memory", "MemoryError")
    except SystemExit as error:
        session.finish(None if error.code in (None, 0, False) else "wrong", "exit")
    except BaseException as error:
        session.finish("wrong", type(error).__name__)
    session.finish(None, "")


class _Session:
    """One test program and its verdict."""

    def __init__(self, reports: Channel, program: Channel, request: dict[str, Any]) -> None:
        self._reports, self._program, self._request = reports, program, request
        self._owner = os.getpid()

    def finish(self, failure: str | None, detail: str) -> None:
        """Send the verdict and end this process; a child that tests forked sends nothing."""
        if os.getpid() == self._owner:
            self._reports.send(codec.dump([failure, detail]))
        os._exit(0)

    def run(self) -> None:
        """Load the program in its process, then run prefix, imports and tests in this one."""
        request = self._request
        module = types.ModuleType("__main__")
        sys.modules["__main__"] = module
        sys.argv = ["tests"]
        names = module.__dict__
        self._program.send(codec.dump({key: request[key] for key in ("program", "names", "objects", "changes")}))
        for part in ("prefix", "imports"):
            exec(compile(request[part], f"<{part}>", "exec", dont_inherit=True), names)
        for name, value in self._program_names().items():
            names.setdefault(name, value)
        tests = compile(request["tests"], "<tests>", "exec", dont_inherit=True)
        exec(tests, names)

    def _program_names(self) -> dict[str, Any]:
        policy = Policy(True, self._request["objects"], self._request["changes"], self.finish)
        peer = Peer(self._program, policy, {})
        loaded = codec.load(self._program.receive())
        if not isinstance(loaded, list) or loaded[:1] != ["loaded"]:
            failure = loaded[1] if isinstance(loaded, list) and len(loaded) == 2 else "malformed"
            self.finish("memory" if failure == "memory" else "crashed", f"loading the program: {failure}")
        found: dict[str, Any] = {}
        for name, description in zip(self._request["names"], loaded[1], strict=True):
            if description[0] == "call":
                found[name] = _function(peer, name)
            elif description[0] == "value":
                found[name] = peer.decode(description[1])
        return found


def _function(peer: Peer, name: str) -> Any:
    def call(*arguments: Any, **keywords: Any) -> Any:
        return peer.request("name", name, *arguments, keywords=keywords)

    call.__name__ = call.__qualname__ = name
    return call
