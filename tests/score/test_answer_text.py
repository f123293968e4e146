"""Where an answer ends: the model's next question, a leaked chat turn, and what must not be taken for one."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from alodlm.records import Task
from alodlm.score.answer_text import before_new_question, final_text

PROMPT = "Question: What is red?\nAnswer: blood\n\nQuestion: What floats on water?\nAnswer:"
CUTS = [
    "\n\nQuestion: What sinks?\nAnswer: iron",
    "\nQuestion 2: What sinks?",
    "\n\n**Question:** What sinks?",
    "\n### Question 2\nWhat sinks?",
    "\n\nProblem: What sinks?",
    "\nProblem 7. What sinks?",
    "\n> Question: What sinks?",
    "\nQ: What really sinks here?\nA: iron",
    " Question: What sinks?",
    "\nNext question: What sinks?",
    "\n\nQuestion: What is red?\nAnswer: blood",
    "\nUser: What sinks?",
    "\nHuman: What sinks?",
    "\n### Instruction:\nWhat sinks?",
    "<|im_end|>\n<|im_start|>user\nWhat sinks?",
    "<|endoftext|>What sinks?",
    "</s>What sinks?",
    "<end_of_turn>\n<start_of_turn>user",
    "<｜end▁of▁sentence｜>",
    "[INST] What sinks? [/INST]",
    "\n\n问题：什么会沉？",
    "\n質問：何が沈む？",
    "\nPregunta: ¿Qué se hunde?",
    "\nFrage 2: Was sinkt?",
    "\nВопрос: Что тонет?",
]


@pytest.mark.parametrize("continued", CUTS)
def test_what_follows_a_new_question_is_cut(continued: str) -> None:
    assert before_new_question(f"Oil floats.{continued}", PROMPT).rstrip() == "Oil floats."


KEPT = [
    "Oil floats.",
    "To answer this question: oil floats.",
    "The problem: water is heavy. So oil.",
    "Question 3 of the list asks for oil.",
    "Question: What floats on water?\nAnswer: oil",
    "**Problem:** find x.\n\nx = 3",
    "Sure.\n\nQuestion: What floats on water?\nAnswer: oil",
    "Points:\nP: (1, 2)\nQ: (3, 4)",
    "a < b | c and [x]",
]


@pytest.mark.parametrize("text", KEPT)
def test_what_is_no_new_question_is_kept(text: str) -> None:
    assert before_new_question(text, PROMPT) == text


def test_a_question_of_the_prompt_is_new_once_something_was_answered() -> None:
    text = "The answer is B.\n\nQuestion: What floats on water?\nAnswer: C"
    assert before_new_question(text, PROMPT) == "The answer is B.\n\n"


def test_a_leading_chat_turn_is_dropped() -> None:
    assert before_new_question("<|im_start|>assistant\nOil<|im_end|>").strip() == "Oil"


def test_thinking_goes_before_questions_are_looked_for() -> None:
    task = Task("bench", 1, "math", PROMPT, "3")
    assert final_text(task, "<think>\nQuestion: what?\n</think>3") == "3"
    assert final_text(Task("bench", 1, "math", "Solve.\n<think>\n", "3"), "3") == ""


@given(st.lists(st.sampled_from(["Question:", "\n", "oil ", "<|im_end|>", "Q: ", "#", "**", ". "]), max_size=20))
def test_the_answer_is_a_part_of_the_text(pieces: list[str]) -> None:
    text = "".join(pieces)
    assert before_new_question(text, PROMPT) in text


@pytest.mark.parametrize("piece", ["Question:\n", "<|", " ", "\n", "#", "Q: a b c\n", "<|im_start|>", ". ", "*"])
def test_a_megabyte_of_repetition_ends(piece: str) -> None:
    assert len(before_new_question(piece * (1_000_000 // len(piece)), PROMPT)) <= 1_000_000
