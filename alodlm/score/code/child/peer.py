"""Calls between a test program and a generated program, each in its own process.

Both sides run the same `Peer`: a request is sent, and until its answer comes, requests of the other side (a
callback) are served. Values cross as copies; an argument that the callee changed in place is changed on the
caller's side too. What has no canonical form crosses only as a numbered reference to an object that stays where
it is, and only as far as the side's `Policy` allows. A reference is equal to nothing but itself.
"""

from __future__ import annotations

import builtins
import types
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from . import codec
from .channel import Channel, ChannelClosed
from .references import RemoteIterator, RemoteObject, merge
from .standins import BUILTIN_NAMES

_FUNCTIONS = (types.FunctionType, types.MethodType, types.BuiltinFunctionType)


class Policy(NamedTuple):
    """What one side lets cross as a reference, and what it does when something may not cross.

    The `trusted` side lends callables and iterators, which can only be called; the other side lends iterators and,
    where `objects` says so (the task's tests need them), objects of any kind. `changes`: arguments that the called
    side changed in place are changed on the calling side. `refuse(failure, reason)` never returns.
    """

    trusted: bool
    objects: bool
    changes: bool
    refuse: Callable[[str, str], Any]


class Peer:
    """One side of the connection; `names` are the objects that the other side may ask for by name."""

    def __init__(self, channel: Channel, policy: Policy, names: dict[str, Any]) -> None:
        self._channel, self._policy, self.names = channel, policy, names
        self._exports: dict[int, Any] = {}
        self._export_ids: dict[int, int] = {}
        self._imports: dict[int, Any] = {}
        self._encoder = codec.Encoder(self._encode_foreign)
        self._decoder = codec.Decoder(self._decode_foreign)

    # Values ----------------------------------------------------------------------------------------------------

    def encode(self, value: Any) -> Any:
        """Return a value's tree; `codec.CannotCross` where the policy has no way for it."""
        return codec.encode(value, self._encoder)

    def decode(self, tree: Any) -> Any:
        """Return a tree's value."""
        return codec.decode(tree, self._decoder)

    def _encode_foreign(self, value: Any) -> list[Any]:
        for own in (RemoteObject, RemoteIterator):
            if type(value) is own:
                return ["y", object.__getattribute__(value, "_number")]
        if isinstance(value, types.FunctionType) and (number := getattr(value, "_reference", None)) is not None:
            return ["y", number]
        if isinstance(value, types.BuiltinFunctionType) and getattr(builtins, value.__name__, None) is value:
            return ["bf", value.__name__]
        if isinstance(value, Iterator):
            return self._export(value, "iterator")
        if self._policy.trusted and isinstance(value, (*_FUNCTIONS, type)):
            return self._export(value, "object")
        if not self._policy.trusted and self._policy.objects:
            return self._export(value, "object")
        raise codec.CannotCross(type(value).__name__)

    def _export(self, value: Any, kind: str) -> list[Any]:
        number = self._export_ids.get(id(value))
        if number is None:
            number = self._export_ids[id(value)] = len(self._exports)
            self._exports[number] = value
        return ["x", number, kind]

    def _decode_foreign(self, tree: list[Any]) -> Any:
        tag, number = tree[0], tree[1]
        if tag == "y":
            return self._exports[number]
        if tag == "bf":
            return self._policy.refuse("wrong", "a function") if self._policy.trusted else getattr(builtins, number)
        if tag != "x" or type(number) is not int:
            raise codec.CannotCross("malformed")
        if number not in self._imports:
            self._imports[number] = self._stand_in(number, tree[2])
        return self._imports[number]

    def _stand_in(self, number: int, kind: str) -> Any:
        if kind == "iterator":
            return RemoteIterator(self, number)
        if not self._policy.trusted:
            return _callback(self, number)
        if not self._policy.objects:
            self._policy.refuse("wrong", "an object of the program's own")
        return RemoteObject(self, number)

    # Requests --------------------------------------------------------------------------------------------------

    def request(self, operation: str, target: Any, *arguments: Any, keywords: dict[str, Any] | None = None) -> Any:
        """Ask the other side and return its answer, or raise the exception that it raised."""
        values = [list(arguments), keywords or {}]
        try:
            tree = self.encode(values)
            self._send(codec.dump([operation, target, tree]))
        except codec.CannotCross as error:
            self._policy.refuse("wrong", f"an argument: {error}")
        answer = self._answer()
        if answer[0] == "ok":
            if answer[2] is not None and self._policy.changes:
                merge(values, self._checked(answer[2]))
            return self._checked(answer[1])
        if answer[0] == "raise":
            raise self._exception(answer)
        return self._policy.refuse("wrong", str(answer[1]))

    def _checked(self, tree: Any) -> Any:
        try:
            return self.decode(tree)
        except codec.CannotCross as error:
            return self._policy.refuse("wrong", f"a value: {error}")

    def _answer(self) -> list[Any]:
        while True:
            message = self._read()
            if message[0] in ("ok", "raise", "no"):
                return message
            self._serve(message)

    def _send(self, data: bytes) -> None:
        try:
            self._channel.send(data)
        except ChannelClosed:
            self._policy.refuse("crashed", "the other side ended")

    def _read(self) -> list[Any]:
        try:
            message = codec.load(self._channel.receive())
        except ChannelClosed:
            return self._policy.refuse("crashed", "the other side ended")
        except codec.CannotCross as error:
            return self._policy.refuse("wrong", f"a message: {error}")
        if type(message) is not list or len(message) != 3:
            self._policy.refuse("wrong", "a malformed message")
        return message

    def _exception(self, answer: list[Any]) -> BaseException:
        kind = getattr(builtins, answer[1], None) if isinstance(answer[1], str) else None
        arguments = self._checked(answer[2])
        if not (kind in BUILTIN_NAMES and issubclass(kind, BaseException) and isinstance(arguments, list)):
            self._policy.refuse("wrong", "a malformed exception")
        if issubclass(kind, (SystemExit, KeyboardInterrupt, GeneratorExit)):
            self._policy.refuse("crashed", f"raised {answer[1]}")
        try:
            return kind(*arguments)
        except TypeError:
            return kind.__new__(kind)

    # Serving ---------------------------------------------------------------------------------------------------

    def serve_forever(self) -> None:
        """Serve the other side until it goes away."""
        while True:
            self._serve(self._read())

    def _serve(self, message: list[Any]) -> None:
        operation, target, tree = message
        try:
            values = self.decode(tree)
            arguments, keywords = values
            function = self._function(operation, target)
        except (codec.CannotCross, LookupError, TypeError, ValueError) as error:
            self._policy.refuse("wrong", f"a request: {error}")
        try:
            result = function(*arguments, **keywords)
        except BaseException as error:
            self._reply_exception(error)
        else:
            self._reply(result, values, tree)

    def _function(self, operation: str, target: Any) -> Callable[..., Any]:
        if operation == "name" and type(target) is str:
            return self.names[target]
        value = self._exports[target]
        if operation == "next":
            return value.__next__
        if operation == "call":
            return value
        if self._policy.trusted:
            raise codec.CannotCross(f"operation {operation!r}")
        return _OPERATIONS[operation](value)

    def _reply(self, result: Any, values: Any, before: Any) -> None:
        try:
            after = self.encode(values) if self._policy.changes else before
            data = codec.dump(["ok", self.encode(result), None if after == before else after])
        except codec.CannotCross as error:
            data = codec.dump(["no", f"a value that cannot cross ({str(error)[:80]})", None])
        self._send(data)

    def _reply_exception(self, error: BaseException) -> None:
        name = next((BUILTIN_NAMES[kind] for kind in type(error).__mro__ if kind in BUILTIN_NAMES), "Exception")
        try:
            data = codec.dump(["raise", name, self.encode(list(error.args))])
        except codec.CannotCross:
            data = codec.dump(["raise", name, ["l"]])
        self._send(data)


def _callback(peer: Peer, number: int) -> Callable[..., Any]:
    def call(*arguments: Any, **keywords: Any) -> Any:
        return peer.request("call", number, *arguments, keywords=keywords)

    call._reference = number  # type: ignore[attr-defined]
    return call


def _special(name: str) -> Callable[[Any], Callable[..., Any]]:
    return lambda value: lambda *arguments: getattr(type(value), name)(value, *arguments)


_OPERATIONS: dict[str, Callable[[Any], Callable[..., Any]]] = {
    "getattr": lambda value: lambda name: getattr(value, name),
    "setattr": lambda value: lambda name, new: setattr(value, name, new),
    "bool": lambda value: lambda: bool(value),
    "str": lambda value: lambda: str(value),
    "repr": lambda value: lambda: repr(value),
    "iter": lambda value: lambda: iter(value),
    "len": lambda value: lambda: len(value),
    "contains": lambda value: lambda item: item in value,
    "isinstance": lambda value: lambda item: isinstance(item, value),
    **{name: _special(name) for name in (
        "__getitem__", "__setitem__", "__delitem__", "__enter__", "__exit__", "__lt__", "__le__", "__gt__", "__ge__",
        "__add__", "__radd__", "__sub__", "__rsub__", "__mul__", "__rmul__", "__truediv__", "__floordiv__", "__mod__",
        "__pow__", "__neg__", "__abs__", "__and__", "__or__", "__xor__", "__invert__", "__matmul__",
    )},
}  # fmt: skip
