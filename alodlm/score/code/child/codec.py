"""Values that cross a process boundary: a typed, canonical form over JSON, never pickle.

Only exact built-in and standard-library types cross; a value whose class a program defined itself (subclasses of
`int`, `str`, … among them) raises `CannotCross`. Decoding builds fresh objects of those types and nothing else, so
an `__eq__` of the other side can never run here. Scalars are JSON's own; everything else is `[tag, …]`.
"""

from __future__ import annotations

import json
import sys
import time
from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Callable
from datetime import date, datetime, timedelta
from datetime import time as time_of_day
from decimal import Decimal
from fractions import Fraction
from typing import Any

from .standins import BUILTIN_NAMES, FoundMatch, describe_match, is_match

MAXIMUM_BYTES = 1 << 24
_SMALL = 1 << 62
_PLAIN = frozenset({str, float, bool, type(None)})
_DECODE_CHECK_EVERY = 4096
_MOST_FRACTION_DIGITS = 1 << 14


class CannotCross(Exception):
    """The value has no canonical form, or the bytes are not one."""


class Encoder:
    """Turns values into JSON-shaped trees; `foreign` gets what has no canonical form, and may refuse it."""

    def __init__(self, foreign: Callable[[Any], Any] | None = None) -> None:
        self._foreign = foreign

    def tree(self, value: Any) -> Any:
        """Return the JSON-shaped tree of one value."""
        kind = type(value)
        if kind in _PLAIN:
            return value
        if kind is int:
            return value if -_SMALL < value < _SMALL else ["i", hex(value)]
        if (sequence := _SEQUENCES.get(kind)) is not None:
            return self._sequence(sequence, value)
        if (mapping := _MAPPINGS.get(kind)) is not None:
            return [mapping, *(self.tree(item) for pair in value.items() for item in pair)]
        if (atom := _ATOMS.get(kind)) is not None:
            return atom(value)
        return self._rarer(kind, value)

    def _sequence(self, tag: str, value: Any) -> list[Any]:
        tree = [tag]
        for item in value:
            kind = type(item)
            plain = kind in _PLAIN or (kind is int and -_SMALL < item < _SMALL)
            tree.append(item if plain else self.tree(item))
        return tree

    def _rarer(self, kind: type, value: Any) -> list[Any]:
        if kind is deque:
            return ["q", value.maxlen, *(self.tree(item) for item in value)]
        if kind is defaultdict:
            factory = BUILTIN_NAMES.get(value.default_factory)
            return ["dd", factory, *(self.tree(item) for pair in value.items() for item in pair)]
        if is_match(value):
            return ["m", *(self.tree(part) for part in describe_match(value))]
        if isinstance(value, type) and value in BUILTIN_NAMES:
            return ["T", BUILTIN_NAMES[value]]
        if isinstance(value, BaseException) and kind in BUILTIN_NAMES:
            return ["e", BUILTIN_NAMES[kind], *(self.tree(item) for item in value.args)]
        if kind.__module__ == "numpy" and "numpy" in sys.modules:
            return self._numpy(value)
        if self._foreign is not None:
            return self._foreign(value)
        raise CannotCross(kind.__name__)

    def _numpy(self, value: Any) -> list[Any]:
        numpy = sys.modules["numpy"]
        if type(value) is numpy.ndarray and value.dtype.kind in "biufcUS":
            return ["nd", value.dtype.str, list(value.shape), self.tree(value.ravel().tolist())]
        if isinstance(value, numpy.generic) and value.dtype.kind in "biufcUS" and type(value).__module__ == "numpy":
            return ["ng", value.dtype.str, self.tree(value.item())]
        raise CannotCross(type(value).__name__)


_SEQUENCES = {
    list: "l", tuple: "t", set: "s", frozenset: "f",
    type({}.keys()): "dk", type({}.values()): "dv", type({}.items()): "di",
}  # fmt: skip
_MAPPINGS = {dict: "d", Counter: "C", OrderedDict: "O"}
_ATOMS: dict[type, Callable[[Any], list[Any]]] = {
    complex: lambda value: ["c", value.real, value.imag],
    bytes: lambda value: ["b", value.hex()],
    bytearray: lambda value: ["B", value.hex()],
    range: lambda value: ["r", hex(value.start), hex(value.stop), hex(value.step)],
    Decimal: lambda value: ["N", str(value)],
    Fraction: lambda value: ["F", hex(value.numerator), hex(value.denominator)],
    datetime: lambda value: ["D", "datetime", value.isoformat()],
    date: lambda value: ["D", "date", value.isoformat()],
    time_of_day: lambda value: ["D", "time", value.isoformat()],
    timedelta: lambda value: ["td", value.days, value.seconds, value.microseconds],
    type(...): lambda value: ["..."],
    type(NotImplemented): lambda value: ["NI"],
}
_JSON = json.JSONEncoder(check_circular=False, separators=(",", ":"))
_DATES = {"datetime": datetime, "date": date, "time": time_of_day}


class Decoder:
    """Builds values from trees; `foreign` gets tags of the peer protocol. Raises `CannotCross` on anything else."""

    def __init__(self, foreign: Callable[[list[Any]], Any] | None = None, seconds: float | None = None) -> None:
        self._foreign = foreign
        self._deadline = None if seconds is None else time.monotonic() + seconds
        self._count = 0

    def value(self, tree: Any) -> Any:
        """Return the value of one tree."""
        kind = type(tree)
        if kind in _PLAIN or kind is int:
            return tree
        if kind is not list or not tree or type(tree[0]) is not str:
            raise CannotCross("malformed")
        build = _BUILDERS.get(tree[0])
        if build is not None:
            return build(self, tree)
        if self._foreign is not None:
            return self._foreign(tree)
        raise CannotCross(f"tag {tree[0]}")

    def items(self, tree: list[Any], start: int = 1) -> Any:
        """Yield the values of a tree's items, watching the time that hostile keys could cost."""
        for index in range(start, len(tree)):
            item = tree[index]
            self._count += 1
            if self._count % _DECODE_CHECK_EVERY == 0:
                self._check_time()
            yield self.value(item) if type(item) is list else item

    def _check_time(self) -> None:
        if self._deadline is not None and time.monotonic() > self._deadline:
            raise CannotCross("takes too long to read")

    def hashed(self, tree: list[Any]) -> set[Any]:
        """Return the items as a set, one by one: colliding hashes cost time that `items` watches."""
        found = set()
        for item in self.items(tree):
            found.add(item)
        return found

    def mapping(self, tree: list[Any], into: Any, start: int = 1) -> Any:
        """Fill a mapping from alternating keys and values."""
        items = self.items(tree, start)
        for key in items:
            into[key] = next(items)
        return into


def _integer(decoder: Decoder, tree: list[Any]) -> int:
    return int(tree[1], 16)


def _default_dict(decoder: Decoder, tree: list[Any]) -> defaultdict[Any, Any]:
    factory = None if tree[1] is None else _builtin(tree[1])
    return decoder.mapping(tree, defaultdict(factory), 2)


def _builtin(name: str) -> Any:
    for value, known in BUILTIN_NAMES.items():
        if known == name:
            return value
    raise CannotCross(f"no built-in {name!r}")


def _exception(decoder: Decoder, tree: list[Any]) -> BaseException:
    kind = _builtin(tree[1])
    if not (isinstance(kind, type) and issubclass(kind, BaseException)):
        raise CannotCross(f"{tree[1]!r} is no exception")
    return kind(*decoder.items(tree, 2))


def _fraction(decoder: Decoder, tree: list[Any]) -> Fraction:
    if max(len(tree[1]), len(tree[2])) > _MOST_FRACTION_DIGITS:
        raise CannotCross("a fraction too long to reduce")
    return Fraction(int(tree[1], 16), int(tree[2], 16))


def _array(decoder: Decoder, tree: list[Any]) -> Any:
    return _numpy_values(decoder.value(tree[3]), tree[1]).reshape(tree[2])


def _scalar(decoder: Decoder, tree: list[Any]) -> Any:
    return _numpy_values(decoder.value(tree[2]), tree[1])[()]


def _numpy_values(values: Any, form: str) -> Any:
    """Return an array of plain numbers of the given form, or of texts of whatever length they have."""
    import numpy

    if numpy.dtype(form).kind not in "biufc":
        form = {"U": "U", "S": "S"}[numpy.dtype(form).kind]
    return numpy.array(values, dtype=form)


_BUILDERS: dict[str, Callable[[Decoder, list[Any]], Any]] = {
    "i": _integer,
    "l": lambda decoder, tree: list(decoder.items(tree)),
    "t": lambda decoder, tree: tuple(decoder.items(tree)),
    "s": lambda decoder, tree: decoder.hashed(tree),
    "f": lambda decoder, tree: frozenset(decoder.hashed(tree)),
    "dk": lambda decoder, tree: decoder.mapping(["d", *(x for k in tree[1:] for x in (k, None))], {}).keys(),
    "dv": lambda decoder, tree: dict(enumerate(decoder.items(tree))).values(),
    "di": lambda decoder, tree: dict(decoder.items(tree)).items(),
    "d": lambda decoder, tree: decoder.mapping(tree, {}),
    "C": lambda decoder, tree: decoder.mapping(tree, Counter()),
    "O": lambda decoder, tree: decoder.mapping(tree, OrderedDict()),
    "dd": _default_dict,
    "q": lambda decoder, tree: deque(decoder.items(tree, 2), tree[1]),
    "c": lambda decoder, tree: complex(tree[1], tree[2]),
    "b": lambda decoder, tree: bytes.fromhex(tree[1]),
    "B": lambda decoder, tree: bytearray.fromhex(tree[1]),
    "r": lambda decoder, tree: range(*(int(part, 16) for part in tree[1:])),
    "N": lambda decoder, tree: Decimal(tree[1]),
    "F": _fraction,
    "D": lambda decoder, tree: _DATES[tree[1]].fromisoformat(tree[2]),
    "td": lambda decoder, tree: timedelta(tree[1], tree[2], tree[3]),
    "...": lambda decoder, tree: ...,
    "NI": lambda decoder, tree: NotImplemented,
    "m": lambda decoder, tree: FoundMatch(*decoder.items(tree)),
    "T": lambda decoder, tree: _builtin(tree[1]),
    "e": _exception,
    "nd": _array,
    "ng": _scalar,
}


def dump(tree: Any) -> bytes:
    """Return a tree's bytes; `CannotCross` where it is too large or too deep."""
    try:
        data = _JSON.encode(tree).encode("ascii")
    except (RecursionError, MemoryError, TypeError, ValueError) as error:
        raise CannotCross(type(error).__name__) from None
    if len(data) > MAXIMUM_BYTES:
        raise CannotCross(f"more than {MAXIMUM_BYTES} bytes")
    return data


def load(data: bytes | bytearray) -> Any:
    """Return the tree of bytes from the other side; `CannotCross` where they are none."""
    try:
        return json.loads(data)
    except (ValueError, RecursionError, MemoryError) as error:
        raise CannotCross(type(error).__name__) from None


def encode(value: Any, encoder: Encoder | None = None) -> Any:
    """Return the tree of a value; every reason why it has none is `CannotCross`."""
    try:
        return (encoder or Encoder()).tree(value)
    except (RecursionError, MemoryError, RuntimeError, ValueError, OverflowError) as error:
        raise CannotCross(type(error).__name__) from None


def decode(tree: Any, decoder: Decoder | None = None) -> Any:
    """Return the value of a tree; every way in which it is malformed is `CannotCross`."""
    try:
        return (decoder or Decoder()).value(tree)
    except (ArithmeticError, AttributeError, LookupError, MemoryError, RuntimeError, TypeError, ValueError,
            StopIteration, ImportError) as error:  # fmt: skip
        raise CannotCross(type(error).__name__) from None
