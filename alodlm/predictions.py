"""Prediction rows: read from a file a user supplies, and made from a generation and its score.

Supplied token counts, timing and unknown fields come through unchanged; what a scorer or judge wrote is replaced.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from alodlm.errors import problem_list
from alodlm.jsonl import RowIndex, read_index
from alodlm.records import FieldError, Score, Task
from alodlm.rows import parse_object, parse_strict_object
from alodlm.tasks import TaskFile

_NEXT = "give one prediction for every task, each with benchmark, id, text, generated_tokens and wall_seconds"
_MOST_SECONDS = 1e9
_MOST_TOKENS = 1 << 53
_WRITTEN_HERE = frozenset(
    {"benchmark", "id", "metric", "text", "correct", "extracted", "extraction_rule", "failure", "judgements"}
)


def check_row(row: dict[str, Any]) -> tuple[str, str]:
    """Return the key of a supplied prediction; a `FieldError` names what breaks a rule."""
    for name, kinds, rule in (
        ("benchmark", str, "must be a string"),
        ("id", (str, int, float), "must be a string or a number"),
        ("text", str, "must be a string"),
        ("generated_tokens", int, "must be a whole number >= 0"),
        ("wall_seconds", (int, float), "must be a finite number > 0"),
    ):
        if name not in row:
            raise FieldError(name, "is required", sorted(row)[:12])
        if not isinstance(row[name], kinds) or isinstance(row[name], bool):
            raise FieldError(name, rule, row[name])
    if not 0 <= row["generated_tokens"] <= _MOST_TOKENS:
        raise FieldError(
            "generated_tokens", "must be a whole number >= 0 that a file can hold", row["generated_tokens"]
        )
    if not 0 < row["wall_seconds"] <= _MOST_SECONDS:
        raise FieldError("wall_seconds", "must be a finite number > 0, in seconds", row["wall_seconds"])
    return row["benchmark"], str(row["id"])


def read_predictions(path: Path, tasks: TaskFile) -> tuple[RowIndex, np.ndarray, str]:
    """Read and check supplied predictions against the tasks they answer.

    Returns the file's index, for each task the number of its row (shape `[tasks]`), and the file's SHA-256. Where
    the tasks are limited, predictions for the rest of the task file are passed over.
    """
    index, sha256 = read_index(path, "predictions file", check_row, next_step=_NEXT, parse=parse_strict_object)
    positions = index.positions(tasks.digests)
    missing = np.flatnonzero(positions < 0)
    extra = np.flatnonzero(tasks.index.positions(index.digests) < 0)
    if len(missing) or len(extra):
        problems = [f"missing: {name}" for name in tasks.names(missing)]
        problems += [f"extra: {'/'.join(check_row(parse_object(raw)))}" for raw in index.rows(extra)]
        counted = f"predictions file {path} ({len(missing)} missing, {len(extra)} extra)"
        raise problem_list(counted, problems, next_step=_NEXT)
    return index, positions, sha256


def prediction_row(task: Task, generation: dict[str, Any], score: Score) -> dict[str, Any]:
    """Return one line of predictions.jsonl: the key, the generation as it is, and what the scorer found."""
    kept = {name: value for name, value in generation.items() if name not in _WRITTEN_HERE}
    return {
        "benchmark": task.benchmark,
        "id": task.id,
        "metric": task.metric,
        "text": generation["text"],
        **kept,
        "correct": score.correct,
        "extracted": score.extracted,
        "extraction_rule": score.rule,
        "failure": score.failure,
        "judgements": {},
    }
