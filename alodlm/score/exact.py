"""Exact match: the whole answer must equal the reference, white space folded, case kept."""

from __future__ import annotations

from alodlm.records import Score, Task
from alodlm.thinking import answer_part, ends_inside_thinking


def score(task: Task, text: str) -> Score:
    """Score an `exact` task: thinking removed, ends trimmed, runs of white space as one."""
    answer = " ".join(answer_part(text, opened=ends_inside_thinking(task.prompt)).split())
    if not answer:
        return Score(False, None, "no_answer", "whole_text")
    correct = answer == " ".join(task.reference.split())
    return Score(correct, answer, None if correct else "wrong", "whole_text")
