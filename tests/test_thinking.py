"""Thinking sections: what is cut, what stays, and prompts that leave a section open."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from alodlm.thinking import answer_part, ends_inside_thinking

ANSWERS = [
    ("B", "B"),
    ("", ""),
    ("<think>A</think>B", "B"),
    ("<think>\nA\n</think>\n\nB", "\n\nB"),
    ("<THINK>A</Think>B", "B"),
    ("<thinking>A</thinking>B", "B"),
    ("<reasoning>A</reasoning>B", "B"),
    ("<thought>A</thought>B", "B"),
    ("[THINK]A[/THINK]B", "B"),
    ('<think effort="high">A</think >B', "B"),
    ("<think/>B", "<think/>B"),
    ("x<think>A</think>y<think>A</think>z", "xyz"),
    ("<think>A<think>C</think>D</think>B", "B"),
    ("<think>A", ""),
    ("B<think>A", "B"),
    ("<think>A<think>C</think>B", ""),
    ("A</think>B", "B"),
    ("A</think>C</think>B", "B"),
    ("A</think>", ""),
    ("<think>A</think>B</think>", "B"),
    ("<think>A</think>C</think>B", "B"),
    ("</think></think>", ""),
    ("I think B", "I think B"),
    ("[Reasoning] It floats. B", "[Reasoning] It floats. B"),
    ("a <thinker> b", "a <thinker> b"),
    ("x < think > y", "x < think > y"),
]


@pytest.mark.parametrize(("text", "answer"), ANSWERS)
def test_the_answer_is_what_no_section_holds(text: str, answer: str) -> None:
    assert answer_part(text) == answer


OPENED = [
    ("A</think>B", "B"),
    ("A", ""),
    ("<think>A</think>B", "B"),
    ("<think>A", ""),
    ("\n<think>A</think>B", "\nB"),
    ("</think>B", "B"),
    ("A<think>C</think>D</think>B", "B"),
]


@pytest.mark.parametrize(("text", "answer"), OPENED)
def test_a_text_may_begin_inside_a_section(text: str, answer: str) -> None:
    assert answer_part(text, opened=True) == answer


PROMPTS = [
    ("Question?", False),
    ("<|im_start|>assistant\n<think>\n", True),
    ("<|im_start|>assistant\n<think>\n\n</think>\n\n", False),
    ("<|im_start|>assistant\n<think>\nLet me see", True),
    ("<｜Assistant｜><think>\n", True),
    ("[INST] Question? [/INST] [THINK]", True),
    ("Question?\nAssistant: <think>", True),
    ("Think inside <think> tags.<|im_end|>\n<|im_start|>assistant\n", False),
    ("Think inside <think> and </think>.\nQuestion?", False),
    ("Start with <think> and go on.\nQuestion?\nAnswer:", False),
    ("<|im_start|>user\nUse <think>.<|im_end|>\n<|im_start|>assistant\n<think>\n", True),
    ("Shot: <think>A</think>B\nQuestion?\n<think>", True),
]


@pytest.mark.parametrize(("prompt", "inside"), PROMPTS)
def test_a_prompt_may_end_inside_a_section(prompt: str, inside: bool) -> None:
    assert ends_inside_thinking(prompt) is inside


@given(st.text(), st.text(alphabet="ab \n.:"))
def test_an_answer_after_a_closed_section_is_kept_whole(thinking: str, answer: str) -> None:
    assert answer_part(f"<think>{thinking.replace('<', '').replace('[', '')}</think>{answer}") == answer


@given(st.lists(st.sampled_from(["<think>", "</think>", "a", "\n", "<", "[THINK]", "/>"]), max_size=20).map("".join))
def test_any_mixture_of_tags_is_read(text: str) -> None:
    assert len(answer_part(text)) <= len(text)
    assert answer_part(f"<think>{text.replace('</think>', '')}") == ""


@pytest.mark.parametrize("piece", ["<think>", "</think>", "<think ", "<", "<think></think>", "[think"])
def test_a_megabyte_of_tags_ends(piece: str) -> None:
    assert len(answer_part(piece * (1_000_000 // len(piece)))) <= 1_000_000
