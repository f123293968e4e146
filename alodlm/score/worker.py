"""One scoring worker: `python -m alodlm.score.worker SANDBOX_MODE`, chunks of jobs in, one score a line out.

The parent (`pool.py`) waits for the line `ready`, then writes JSON lines `[[task, text], …]`, where `task` is the raw
line of the task file; the worker answers each job with one JSON line, in order, as soon as it is scored. It ends when
its input ends.
"""

from __future__ import annotations

import json
import os
import sys

import msgspec

from alodlm.records import CODE_METRICS, Score
from alodlm.rows import parse_object, task_from_row
from alodlm.score import score_answer

READY = b"ready\n"


def serve(sandbox_mode: str) -> None:
    """Score chunks from stdin until it closes."""
    scores_out = os.fdopen(os.dup(1), "wb", buffering=0)
    # A library that prints must not reach the protocol.
    os.dup2(2, 1)
    scores_out.write(READY)
    for line in sys.stdin.buffer:
        for raw, text in json.loads(line):
            score = _score(raw, text, sandbox_mode)
            scores_out.write(json.dumps(msgspec.to_builtins(score)).encode() + b"\n")


def _score(raw: str, text: str, sandbox_mode: str) -> Score:
    task = task_from_row(parse_object(raw.encode()))
    if task.metric in CODE_METRICS:
        # Only a run with programs in it pays for this import.
        from alodlm.score.code import sandbox

        sandbox.configure(sandbox_mode)
    return score_answer(task, text)


if __name__ == "__main__":
    serve(sys.argv[1])
