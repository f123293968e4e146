"""Stand-ins for objects that stay in the other process, and in-place changes carried over from it."""

from __future__ import annotations

from collections import deque
from typing import Any


class RemoteIterator:
    """An iterator of the other process: each item is fetched when it is asked for."""

    def __init__(self, peer: Any, number: int) -> None:
        self._peer, self._number = peer, number

    def __iter__(self) -> RemoteIterator:
        return self

    def __next__(self) -> Any:
        return self._peer.request("next", self._number)


class RemoteObject:
    """An object of the other process. Equal to nothing but itself, whatever its class says about equality."""

    __slots__ = ("__weakref__", "_number", "_peer")

    def __init__(self, peer: Any, number: int) -> None:
        object.__setattr__(self, "_peer", peer)
        object.__setattr__(self, "_number", number)

    def _ask(self, operation: str, *arguments: Any) -> Any:
        return self._peer.request(operation, self._number, *arguments)

    def __call__(self, *arguments: Any, **keywords: Any) -> Any:
        return self._peer.request("call", self._number, *arguments, keywords=keywords)

    def __getattr__(self, name: str) -> Any:
        return self._ask("getattr", name)

    def __setattr__(self, name: str, value: Any) -> None:
        self._ask("setattr", name, value)

    def __eq__(self, other: object) -> bool:
        return self is other

    def __hash__(self) -> int:
        return id(self)

    def __bool__(self) -> bool:
        return self._ask("bool") is True

    def __str__(self) -> str:
        return _exactly(str, self._ask("str"))

    def __repr__(self) -> str:
        return _exactly(str, self._ask("repr"))

    def __len__(self) -> int:
        return _exactly(int, self._ask("len"))

    def __iter__(self) -> Any:
        return self._ask("iter")

    def __contains__(self, item: Any) -> bool:
        return self._ask("contains", item) is True

    def __instancecheck__(self, item: Any) -> bool:
        return self._ask("isinstance", item) is True


def _exactly(kind: type, value: Any) -> Any:
    if type(value) is not kind:
        raise TypeError(f"expected {kind.__name__}")
    return value


def _forward(name: str) -> Any:
    def special(self: RemoteObject, *arguments: Any) -> Any:
        return self._ask(name, *arguments)

    special.__name__ = name
    return special


for _name in (
    "__getitem__", "__setitem__", "__delitem__", "__enter__", "__exit__", "__lt__", "__le__", "__gt__", "__ge__",
    "__add__", "__radd__", "__sub__", "__rsub__", "__mul__", "__rmul__", "__truediv__", "__floordiv__", "__mod__",
    "__pow__", "__neg__", "__abs__", "__and__", "__or__", "__xor__", "__invert__", "__matmul__",
):  # fmt: skip
    setattr(RemoteObject, _name, _forward(_name))


def merge(old: Any, new: Any) -> Any:
    """Give a mutable container the content of its changed copy, in place as deep as the two have the same shape."""
    kind = type(old)
    if kind is not type(new):
        return new
    if kind is list:
        old[:] = [merge(old[i], item) if i < len(old) else item for i, item in enumerate(new)]
    elif kind is tuple:
        return tuple(map(merge, old, new)) if len(old) == len(new) else new
    elif isinstance(old, dict):
        changed = {key: merge(old[key], item) if key in old else item for key, item in new.items()}
        old.clear()
        old.update(changed)
    elif kind is set:
        old.clear()
        old.update(new)
    elif kind in (bytearray, deque):
        old.clear()
        old.extend(new)
    else:
        return new
    return old
