"""Exact match: white space folded, case kept, the whole answer."""

from __future__ import annotations

import pytest

from alodlm.records import Task
from alodlm.score.exact import score

ROWS = [
    ("Paris", "Paris", True, None),
    ("  Paris \n", "Paris", True, None),
    ("New   York\n\tCity", " New York City ", True, None),
    ("New\u00a0York", "New York", True, None),
    ("paris", "Paris", False, "wrong"),
    ("Paris.", "Paris", False, "wrong"),
    ("**Paris**", "Paris", False, "wrong"),
    ("It is Paris", "Paris", False, "wrong"),
    ("Par is", "Paris", False, "wrong"),
    ("", "Paris", False, "no_answer"),
    (" \n", "Paris", False, "no_answer"),
    ("<think>Rome</think>\nParis", "Paris", True, None),
    ("<think>Paris", "Paris", False, "no_answer"),
    ("Rome</think>Paris", "Paris", True, None),
    ("Paris<|im_end|>", "Paris", True, None),
    ("Paris\n\nQuestion: And of Italy?\nRome", "Paris", True, None),
    ("Question: Which city?", "Question: Which city?", True, None),
    ("Say it.\n\nQuestion: Which city?", "Say it. Question: Which city?", True, None),
    ("42", 42, True, None),
]


@pytest.mark.parametrize(("text", "reference", "correct", "failure"), ROWS)
def test_the_whole_answer_equals_the_reference(
    text: str, reference: str | int, correct: bool, failure: str | None
) -> None:
    found = score(Task("bench", 1, "exact", "Name it.", reference), text)
    assert (found.correct, found.failure) == (correct, failure)


def test_what_was_compared_is_kept() -> None:
    assert score(Task("bench", 1, "exact", "Name it.", "Paris"), " New  York ").extracted == "New York"


def test_an_answer_that_begins_inside_thinking() -> None:
    task = Task("bench", 1, "exact", "<|im_start|>assistant\n<think>\n", "Paris")
    assert score(task, "Paris").failure == "no_answer"
    assert score(task, "Rome</think>Paris").correct
