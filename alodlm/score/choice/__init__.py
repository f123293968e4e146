"""Multiple choice: which displayed label an answer chooses, if it chooses exactly one.

The last explicit choice counts: a label with a cue, boxed, alone on a line, or at the start; failing these a hedged
one, a copy of an option's text, a bold or bracketed label. What is discussed, denied, supposed or copied is no
choice, and two labels claimed together are none. Never a guess: no choice found is `no_answer`. Linear time.
"""

from __future__ import annotations

from alodlm.records import Score, Task
from alodlm.score.answer_text import final_text
from alodlm.score.choice.extraction import extract


def score(task: Task, text: str) -> Score:
    """Score a multiple-choice task; `rule` names the extraction that fired."""
    label, rule = extract(final_text(task, text), task.options, task.prompt)
    if label is None:
        return Score(False, None, "no_answer", rule)
    correct = label == task.reference
    return Score(correct, label, None if correct else "wrong", rule)
