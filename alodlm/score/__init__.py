"""Deterministic scorers behind one interface: a task and an answer's text in, a `Score` out.

A scorer is a pure function of its arguments, never raises on any text, imports no torch, and keeps its own time
limit; `pool.py` runs scorers in worker processes that can be killed, as the backstop.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable

from alodlm.records import CHOICE_METRICS, Score, Task

SCORER_VERSION = "1"

_MODULES = {metric: "alodlm.score.choice" for metric in CHOICE_METRICS} | {
    "math": "alodlm.score.math",
    "exact": "alodlm.score.exact",
    "python_tests": "alodlm.score.code.python_tests",
    "evalplus": "alodlm.score.code.evalplus",
}


def scorer(metric: str) -> Callable[[Task, str], Score]:
    """Return the scorer of a deterministic metric, importing only its own module."""
    return importlib.import_module(_MODULES[metric]).score


def score_answer(task: Task, text: str) -> Score:
    """Score one answer's text against its task."""
    return scorer(task.metric)(task, text)
