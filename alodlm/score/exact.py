"""Exact match: the whole answer must equal the reference, white space folded, case kept.

A question of the model's own after the answer is cut; a reference that itself holds such words still matches.
"""

from __future__ import annotations

from alodlm.records import Score, Task
from alodlm.score.answer_text import before_new_question
from alodlm.thinking import answer_part, ends_inside_thinking


def score(task: Task, text: str) -> Score:
    """Score an `exact` task: thinking removed, ends trimmed, runs of white space as one."""
    answer = answer_part(text, opened=ends_inside_thinking(task.prompt))
    whole, cut = _folded(answer), _folded(before_new_question(answer, task.prompt))
    reference = _folded(task.reference)
    if not cut:
        return Score(False, None, "no_answer", "whole_text")
    correct = reference in (whole, cut)
    return Score(correct, reference if correct else cut, None if correct else "wrong", "whole_text")


def _folded(text: str) -> str:
    return " ".join(text.split())
