"""A golden checkpoint folder to spoil, one copy a test."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

GOLDEN = Path(__file__).resolve().parent.parent / "golden"


@pytest.fixture
def folder(tmp_path) -> Path:
    """A writable copy of a checkpoint of 3 layers, loop [0, 3), 4 depths, hidden 32, vocabulary 96; no tokenizer."""
    copy = tmp_path / "checkpoint"
    shutil.copytree(GOLDEN / "full", copy)
    return copy


@pytest.fixture
def edit(folder):
    """Change keys of a JSON file in the folder; a value of `...` removes the key."""

    def change(name: str, **changes: object) -> None:
        values = json.loads((folder / name).read_text()) | changes
        (folder / name).write_text(json.dumps({key: value for key, value in values.items() if value is not ...}))

    return change
