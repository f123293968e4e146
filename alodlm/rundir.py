"""A run's folder: every file name, what is appended and what is replaced whole.

`manifest.json` is written first and says what the run is; generations are appended, flushed and synced one by
one and never edited; `predictions.jsonl` and `summary.json` are replaced atomically. One process writes a folder
at a time.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from alodlm.errors import InputError
from alodlm.jsonl import RowIndex, fsync_folder
from alodlm.predictions import check_row
from alodlm.records import FieldError
from alodlm.rows import dump_line, parse_object

_BUSY = {errno.EWOULDBLOCK, errno.EAGAIN, errno.EACCES}


class RunFolder:
    """The files of one run below `root`."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.manifest = root / "manifest.json"
        self.generations = root / "generations"
        self.predictions = root / "predictions.jsonl"
        self.summary = root / "summary.json"

    def holds_run(self) -> bool:
        """Say whether any file of a run is here."""
        return any(path.exists() for path in (self.manifest, self.generations, self.predictions, self.summary))

    def check_usable(self, *, resume: bool) -> None:
        """Refuse a folder that cannot take this run, before anything is loaded."""
        try:
            self._check_usable(resume)
        except OSError as error:
            raise self._cannot_be_made(error) from None

    def _cannot_be_made(self, error: OSError) -> InputError:
        rule = f"cannot be made: {error.strerror}"
        return InputError(f"output folder {self.root}", rule, next_step="name another --output folder")

    def _check_usable(self, resume: bool) -> None:
        what, another = f"output folder {self.root}", "name another --output folder"
        if self.root.exists() and not self.root.is_dir():
            raise InputError(what, "must be a folder; it is a file", next_step=another)
        if self.holds_run() and not resume:
            raise InputError(what, "already holds a run", next_step=f"{another}, or continue that run with --resume")
        if self.holds_run() and not self.manifest.exists():
            raise InputError(what, "holds parts of a run but no manifest.json to resume from", next_step=another)
        existing = next(path for path in (self.root, *self.root.absolute().parents) if path.exists())
        if not existing.is_dir():
            raise InputError(what, f"cannot be made: {existing} is a file", next_step=another)
        if not os.access(existing, os.W_OK | os.X_OK):
            raise InputError(what, f"cannot be written: {existing} is read-only", next_step=another)

    @contextlib.contextmanager
    def locked(self) -> Iterator[None]:
        """Make the folder and hold it for this process; the lock ends with the process, however it ends."""
        try:
            self.root.mkdir(parents=True, exist_ok=True)
            handle = os.open(self.root, os.O_RDONLY)
        except OSError as error:
            raise self._cannot_be_made(error) from None
        try:
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError as error:
                if error.errno in _BUSY:
                    rule = "another process is writing a run there"
                    raise InputError(f"output folder {self.root}", rule, next_step="wait for it to end") from None
                # Some network file systems lock no folders: without the lock the run is as safe as its user.
            yield
        finally:
            os.close(handle)

    def read_manifest(self) -> dict[str, Any] | None:
        """Return the manifest of the run that is here, or None."""
        if not self.manifest.exists():
            return None
        try:
            return parse_object(self.manifest.read_bytes())
        except FieldError as error:
            thing, another = f"manifest {self.manifest}", "name another --output folder"
            raise InputError(thing, error.rule, value=error.value, next_step=another) from None


@contextlib.contextmanager
def replacing(path: Path) -> Iterator[BinaryIO]:
    """Open a file that takes the place of `path`, synced, when the block ends well; else `path` stays as it was."""
    temporary = path.with_name(f".{path.name}.partial")
    try:
        with temporary.open("wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
        fsync_folder(path.parent)
    except OSError as error:
        temporary.unlink(missing_ok=True)
        raise _named(error, path) from None
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def _named(error: OSError, path: Path) -> OSError:
    """Return the error with the file it is about, which a failed write does not tell."""
    return error if error.filename else OSError(error.errno, error.strerror, str(path))


def write_json(path: Path, value: dict[str, Any]) -> None:
    """Replace `path` with `value` as indented JSON."""
    with replacing(path) as file:
        file.write(json.dumps(value, ensure_ascii=False, indent=2).encode("utf-8", "backslashreplace") + b"\n")


class Journal:
    """The raw generations of one process: appended, flushed and synced row by row.

    Opening it drops a torn last line, which a killed run may leave, and indexes what is finished.
    """

    def __init__(self, folder: Path, rank: int = 0) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.path = folder / f"rank-{rank:05d}.jsonl"
        # Written without a buffer: what a failed write left in one would come out later, behind a repaired tail.
        self._handle = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o644)
        fsync_folder(folder)
        self.index = RowIndex(self.path)
        self._end = self._recover()

    def _recover(self) -> int:
        end = 0
        with self.path.open("rb") as file:
            for number, raw in enumerate(file, 1):
                try:
                    key = _journal_key(raw)
                except FieldError as error:
                    if file.read(1):
                        thing, rule = f"{self.path}, line {number}", f"is damaged: {error.field} {error.rule}"
                        next_step = "remove that line and run again with --resume"
                        raise InputError(thing, rule, next_step=next_step) from None
                    break
                self.index.add(key, end)
                end += len(raw)
        os.ftruncate(self._handle, end)
        return end

    def append(self, key: tuple[str, str], row: dict[str, Any]) -> None:
        """Store one generation for good before anything scores it."""
        data = memoryview(dump_line(row))
        try:
            written = 0
            while written < len(data):
                written += os.write(self._handle, data[written:])
            os.fsync(self._handle)
        except OSError as error:
            # A full disk may have taken half a row; a resume would drop it, but not everyone reads with that.
            with contextlib.suppress(OSError):
                os.ftruncate(self._handle, self._end)
            raise _named(error, self.path) from None
        self.index.add(key, self._end)
        self._end += len(data)

    def close(self) -> None:
        """Close the file; every row is already on disk."""
        os.close(self._handle)

    def finished(self, digests: np.ndarray) -> np.ndarray:
        """Return for each task digest the journal row that answers it, or -1."""
        return self.index.positions(digests)


def _journal_key(raw: bytes) -> tuple[str, str]:
    if not raw.endswith(b"\n"):
        raise FieldError("line", "has no end", raw[:40])
    return check_row(parse_object(raw))
