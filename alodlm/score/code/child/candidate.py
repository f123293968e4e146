"""The generated program's side: runs it, calls its functions, and sends back what they return.

Whatever the program does to this process, all that can leave is values; none of them is compared here.
"""

from __future__ import annotations

import os
import socket
import sys
import time
import types
from itertools import islice
from typing import Any

from . import codec
from .channel import Channel
from .peer import Peer, Policy

_MODULE = "solution"
_MOST_ITEMS = 1_000_000


def run_program(source: str) -> dict[str, Any]:
    """Run a program as a module of its own and return its names."""
    module = types.ModuleType(_MODULE)
    sys.modules[_MODULE] = module
    exec(compile(source, "<solution>", "exec", dont_inherit=True), module.__dict__)
    return module.__dict__


def _failure(error: BaseException) -> str:
    return "memory" if isinstance(error, MemoryError) else type(error).__name__


def run_inputs(connection: socket.socket) -> None:
    """Serve the `evalplus` metric: a program and its inputs in, one outcome frame for each input out.

    Outcomes of quick tests leave together, none held back longer than `hold_seconds`.
    """
    channel = Channel(connection, 1 << 31)
    request = codec.load(channel.receive())
    inputs = request["inputs"]
    try:
        function = run_program(request["program"])[request["entry_point"]]
    except BaseException as error:
        channel.send(codec.dump(["load", _failure(error)]))
        os._exit(0)
    channel.send(codec.dump(["loaded"]))
    frames, sent = [], time.monotonic()
    for tree in inputs:
        if frames and time.monotonic() - sent >= request["hold_seconds"]:
            channel.send_several(frames)
            frames, sent = [], time.monotonic()
        frames.append(_outcome(function, codec.decode(tree), request["drain"]))
    channel.send_several(frames)
    while True:
        channel.receive()


def _outcome(function: Any, arguments: list[Any], drain: bool) -> bytes:
    try:
        result = function(*arguments)
        if drain and hasattr(type(result), "__next__"):
            result = list(islice(result, _MOST_ITEMS))
    except BaseException as error:
        return codec.dump(["raise", _failure(error)])
    try:
        return codec.dump(["ok", codec.encode(result)])
    except codec.CannotCross as error:
        return codec.dump(["no", str(error)[:80]])


def run_peer(connection: socket.socket) -> None:
    """Serve a test program: its first frame brings the program, every later one asks for a call."""
    channel = Channel(connection, 1 << 31)
    request = codec.load(channel.receive())
    try:
        names = run_program(request["program"])
    except BaseException as error:
        channel.send(codec.dump(["load", _failure(error)]))
        os._exit(0)
    objects = request["objects"]
    policy = Policy(trusted=False, objects=objects, changes=request["changes"], refuse=_stop)
    peer = Peer(channel, policy, names)
    channel.send(codec.dump(["loaded", [_described(peer, names, name, objects) for name in request["names"]]]))
    peer.serve_forever()


def _described(peer: Peer, names: dict[str, Any], name: str, objects: bool) -> list[Any]:
    """Say what a name is in the program: absent, something to call, or a value."""
    if name not in names:
        return ["absent"]
    if callable(names[name]) and not objects:
        return ["call"]
    try:
        return ["value", peer.encode(names[name])]
    except codec.CannotCross:
        return ["absent"]


def _stop(failure: str, reason: str) -> None:
    os._exit(71)
