"""What the package needs at run time besides code: the demo checkpoint and the demo's tasks."""

from __future__ import annotations

from pathlib import Path

_HERE = Path(__file__).resolve().parent


def demo_checkpoint() -> Path:
    """Return the folder of the demo checkpoint."""
    return _HERE / "demo" / "checkpoint"


def demo_tasks() -> Path:
    """Return the demo's task file."""
    return _HERE / "demo" / "tasks.jsonl"
