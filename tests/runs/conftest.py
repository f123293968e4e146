"""What the tests of killed runs share: when to kill, and what must be equal afterwards."""

from __future__ import annotations

import json

import pytest

CLOCKS = {"wall_seconds", "prefill_seconds", "decode_seconds"}


class Killing:
    """Moments of a run, told by its files."""

    moments = ("generating", "scoring", "writing")

    @staticmethod
    def reached(folder, moment, count):
        """Say whether the run in `folder` is past `count` generations, scoring, or writing its results."""
        journal = folder / "generations" / "rank-00000.jsonl"
        partial = folder / ".predictions.jsonl.partial"
        if moment == "generating":
            return journal.exists() and journal.read_bytes().count(b"\n") >= count
        if moment == "scoring":
            return partial.exists()
        return (folder / "predictions.jsonl").exists() or (partial.exists() and partial.stat().st_size > 0)

    @staticmethod
    def without_clocks(folder):
        """Return the prediction rows without what no two runs share."""
        rows = [json.loads(line) for line in (folder / "predictions.jsonl").read_text().splitlines()]
        return [{name: value for name, value in row.items() if name not in CLOCKS} for row in rows]


@pytest.fixture(scope="session")
def killing():
    """The helpers above."""
    return Killing()
