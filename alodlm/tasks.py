"""Read and check task files before anything costly starts.

A task file is JSON lines, one `Task` a line. Every bad line is named with its field, value and rule. A sidecar
`NAME.manifest.json`, where there is one, must state the file's own hash, and goes into the run's manifest.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from alodlm.errors import InputError
from alodlm.jsonl import RowIndex, open_input, read_index
from alodlm.records import Task
from alodlm.rows import parse_object, task_from_row

_NEXT = "correct the file; the README's section on task files gives every field"


class TaskFile:
    """A checked task file: its hash, its benchmarks with their sizes, and its tasks in order.

    With `limit`, only the first `limit` tasks of each benchmark are part of it.
    """

    def __init__(self, path: Path, limit: int | None = None) -> None:
        if limit is not None and limit < 1:
            raise InputError("--limit", "must be at least 1", value=limit, next_step="give a number of tasks")
        self.path, self.limit = path, limit
        self.counts: Counter[str] = Counter()
        self.metrics: set[str] = set()
        self._taken = bytearray()
        index, self.sha256 = read_index(path, "task file", self._check, next_step=_NEXT)
        self._positions = np.flatnonzero(np.frombuffer(self._taken, dtype=np.uint8)).astype(np.uint32)
        self._index = index
        self.digests = index.digests if len(self._positions) == len(index) else index.digests[self._positions]
        self.manifest = _read_sidecar(path, self.sha256)

    def _check(self, row: dict[str, Any]) -> tuple[str, str]:
        task = task_from_row(row)
        taken = self.limit is None or self.counts[task.benchmark] < self.limit
        self._taken.append(taken)
        if taken:
            self.counts[task.benchmark] += 1
            self.metrics.add(task.metric)
        return task.key

    def __len__(self) -> int:
        return len(self._positions)

    @property
    def index(self) -> RowIndex:
        """Where every row of the file lies, those past the limit too."""
        return self._index

    @property
    def positions(self) -> np.ndarray:
        """The row numbers of this run's tasks, in task order."""
        return self._positions

    def rows(self, chosen: np.ndarray | None = None) -> Iterator[tuple[bytes, Task]]:
        """Yield `(raw line, task)` in task order; `chosen` are task numbers, default all."""
        positions = self._positions if chosen is None else self._positions[chosen]
        for raw in self._index.rows(positions):
            yield raw, task_from_row(parse_object(raw))

    def names(self, chosen: np.ndarray) -> list[str]:
        """Return the keys of some tasks as a user reads them."""
        return ["/".join(task.key) for _, task in self.rows(chosen)]


def _read_sidecar(path: Path, sha256: str) -> dict[str, Any] | None:
    sidecar = path.with_name(f"{path.stem}.manifest.json")
    if not sidecar.exists():
        return None
    again = "prepare the task file anew, or remove the manifest if the file was edited on purpose"
    with open_input(sidecar, "task manifest", again) as file:
        raw = file.read()
    try:
        manifest = json.loads(raw)
    except (ValueError, RecursionError):
        raise InputError(f"task manifest {sidecar}", "must be a JSON object", next_step=again) from None
    stated = manifest.get("sha256") if isinstance(manifest, dict) else None
    if stated != sha256:
        rule = f"its sha256 must be that of {path.name} ({sha256})"
        raise InputError(f"task manifest {sidecar}", rule, value=stated, next_step=again)
    return manifest
