"""JSON-lines files as an index of rows: read once to check, then again row by row, so memory stays small.

A row is found by the digest of its key (benchmark and id); rows themselves are never kept, which is what lets a
million predictions be rescored in little memory. Bad lines are collected, and told all at once.
"""

from __future__ import annotations

import hashlib
import os
from array import array
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from alodlm.errors import InputError, MissingError, problem_list, shown
from alodlm.records import FieldError
from alodlm.rows import parse_object

_DIGEST_BYTES = 16
_BLOCK = 1 << 16  # rows compared at once: what a comparison needs besides stays small
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


def open_input(path: Path, what: str, next_step: str) -> BinaryIO:
    """Open a regular file for reading; the error says what it should have been."""
    try:
        if path.is_dir():
            raise InputError(f"{what} {path}", "must be a file; it is a folder", next_step=next_step)
        if path.exists() and not path.is_file():
            raise InputError(f"{what} {path}", "must be a regular file: it is read twice", next_step=next_step)
        return path.open("rb")
    except FileNotFoundError:
        raise MissingError(f"{what} {path}", "there is no such file", next_step=next_step) from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise InputError(f"{what} {path}", f"cannot be read: {reason}", next_step=next_step) from None


def key_digest(key: tuple[str, str]) -> bytes:
    """Return the digest that stands for a key."""
    return hashlib.blake2b("\0".join(key).encode("utf-8", "surrogatepass"), digest_size=_DIGEST_BYTES).digest()


class RowIndex:
    """Where each row of a JSON-lines file lies, by order and by key."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.offsets = array("Q")
        self._digests = bytearray()
        self._order: np.ndarray | None = None

    def __len__(self) -> int:
        return len(self.offsets)

    def add(self, key: tuple[str, str], offset: int) -> None:
        """Add a row that starts at byte `offset`."""
        self._digests += key_digest(key)
        self.offsets.append(offset)
        self._order = None

    @property
    def digests(self) -> np.ndarray:
        """The digests of all rows in file order, dtype S16: a view, so no row may be added while it is in use."""
        return np.frombuffer(self._digests, dtype=f"S{_DIGEST_BYTES}")

    def _sorting(self) -> np.ndarray:
        if self._order is None:
            # Rows are counted, not held: four bytes each are enough, and memory is what this class is for.
            self._order = np.argsort(self.digests, kind="stable").astype(np.uint32)
        return self._order

    def repeats(self) -> list[tuple[int, int]]:
        """Return `(first, again)` row numbers (from 0) of every repeated key, in file order of `again`."""
        order, digests = self._sorting(), self.digests
        found: list[tuple[int, int]] = []
        for start in range(0, len(order), _BLOCK):
            ordered = digests[order[start : start + _BLOCK + 1]]
            for at in np.flatnonzero(ordered[1:] == ordered[:-1]) + start + 1:
                first = order[np.searchsorted(digests, digests[order[at]], sorter=order)]
                found.append((int(first), int(order[at])))
        return sorted(found, key=lambda pair: pair[1])

    def positions(self, digests: np.ndarray) -> np.ndarray:
        """Return for each digest the number of the row that has it, or -1; dtype int32."""
        order, mine = self._sorting(), self.digests
        result = np.full(len(digests), -1, dtype=np.int32)
        if not len(order):
            return result
        for start in range(0, len(digests), _BLOCK):
            wanted = digests[start : start + _BLOCK]
            at = order[np.minimum(np.searchsorted(mine, wanted, sorter=order), len(order) - 1)]
            result[start : start + _BLOCK] = np.where(mine[at] == wanted, at.astype(np.int64), -1)
        return result

    def rows(self, positions: np.ndarray | None = None) -> Iterator[bytes]:
        """Yield raw rows: those at `positions`, in that order, or all in file order."""
        wanted = range(len(self.offsets)) if positions is None else positions
        with self.path.open("rb") as file:
            for position in wanted:
                if file.tell() != self.offsets[position]:
                    file.seek(self.offsets[position])
                yield file.readline().removeprefix(_BYTE_ORDER_MARK)


def read_index(
    path: Path,
    what: str,
    check: Callable[[dict[str, Any]], tuple[str, str]],
    *,
    next_step: str,
    parse: Callable[[bytes], dict[str, Any]] = parse_object,
) -> tuple[RowIndex, str]:
    """Read and check every line; return the index and the file's SHA-256.

    `parse` reads a line, `check` returns its key; both raise `FieldError`. Every bad line and repeated key is reported
    `InputError`: the first 20, and the count.
    """
    index, numbers, problems = RowIndex(path), array("Q"), []
    digest, offset = hashlib.sha256(), 0
    with open_input(path, what, "check the path") as file:
        for number, raw in enumerate(file, 1):
            digest.update(raw)
            line = raw.removeprefix(_BYTE_ORDER_MARK) if number == 1 else raw
            if line.strip():
                try:
                    index.add(check(parse(line)), offset)
                    numbers.append(number)
                except FieldError as error:
                    problems.append(f"line {number}, {error.field}: {error.rule}; got {shown(error.value)}")
            offset += len(raw)
    for first, again in index.repeats():
        problems.append(f"line {numbers[again]}: repeats the benchmark and id of line {numbers[first]}")
    if problems:
        raise problem_list(f"{what} {path}", problems, next_step=next_step)
    if not len(index):
        raise InputError(f"{what} {path}", "must hold at least one row; it is empty", next_step=next_step)
    return index, digest.hexdigest()


def fsync_folder(folder: Path) -> None:
    """Make a rename or a new file in `folder` survive a power failure."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
