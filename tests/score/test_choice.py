"""Multiple choice: one row a kind of answer, and the near-misses that must not count."""

from __future__ import annotations

import gzip
import json
import re
import time
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from alodlm.records import Task
from alodlm.score import score_answer
from alodlm.score.choice import score

FOUR, TEN, DIGITS = "ABCD", "ABCDEFGHIJ", "1234"
HERE = Path(__file__).parent
SHARED = [json.loads(line) for line in (HERE / "cases_mcq.jsonl").read_text("utf-8").splitlines()]
OWN = [json.loads(line) for line in (HERE / "cases_choice.jsonl").read_text("utf-8").splitlines()]


def task(options: str = FOUR, *, prompt: str = "Which one?", answer: str | None = None, metric: str = "mmlu") -> Task:
    return Task("bench", 1, metric, prompt, answer or options[0], list(options))


def chosen(text: str, options: str = FOUR, prompt: str = "Which one?") -> str | None:
    return score(task(options, prompt=prompt), text).extracted


@pytest.mark.parametrize("case", SHARED, ids=[case["id"] for case in SHARED])
def test_the_shared_cases_have_their_verdict(case: dict) -> None:
    options = case["available_options"]
    answer = case["answer"] if case["answer"] in options else options[0]  # a task with an answer not shown is refused
    found = score_answer(Task("bench", case["id"], case["metric"], "Which one?", answer, options), case["text"])
    assert (found.correct, found.extracted) == (case["correct"], case["extracted"] or None)


@pytest.mark.parametrize("case", OWN, ids=[f"{case['kind']}-{i}" for i, case in enumerate(OWN)])
def test_each_kind_of_answer_gives_its_label_or_none(case: dict) -> None:
    assert chosen(case["text"], case["options"]) == case["extracted"], case["text"]


LISTED = "What carries water?\n\nA. Osmosis\nB. Red light\nC. osmosis pump\nD. Red  Light!\nAnswer:"
COPIES = [
    ("Osmosis", "A"),
    ("The answer is osmosis.", "A"),
    ("Answer: Osmosis pump", "C"),
    ("Answer: A Osmosis", "A"),
    ("\\boxed{\\text{Osmosis}}", "A"),
    ("Water moves.\n\nOsmosis pump.", "C"),
    ("Red light", None),
    ("Osmosis and red light", None),
    ("It is about osmosis in cells.", None),
    ("Osmosis. The answer is D.", "D"),
    ("Answer: B red light", "B"),
    ("B) Red light", "B"),
    ("Answer: B reduction", None),
]


@pytest.mark.parametrize(("text", "expected"), COPIES)
def test_an_option_copied_from_the_prompt(text: str, expected: str | None) -> None:
    assert chosen(text, prompt=LISTED) == expected


BOTH = "Which is true?\nA) It floats.\nB) It is red.\nC) Both A and B.\nD) Neither A nor B.\nAnswer:"
COPIED_PAIRS = [
    ("The answer is both A and B.", "C"),
    ("Neither A nor B", "D"),
    ("The answer is A and B.", None),
    ("Both A and B are true, so the answer is C.", "C"),
    ("(A) It floats.", "A"),
]


@pytest.mark.parametrize(("text", "expected"), COPIED_PAIRS)
def test_an_option_that_names_other_labels(text: str, expected: str | None) -> None:
    assert chosen(text, prompt=BOTH) == expected


def test_a_copy_does_not_count_where_the_prompt_gives_no_texts() -> None:
    assert chosen("Osmosis") is None


def test_a_question_about_the_wrong_one_may_be_answered_by_the_incorrect_option() -> None:
    assert chosen("The incorrect statement is B.", prompt="Which statement is incorrect?") == "B"
    assert chosen("The incorrect statement is B.", prompt="Which statement holds?") is None


RULES = [
    ("The answer is B.", "cue"),
    ("B is correct.", "label_first"),
    ("\\boxed{B}", "boxed"),
    ("B", "alone"),
    ("Oil floats.\n\nB) Osmosis", "last_line"),
    ("B. Oil floats.", "start"),
    ("The answer could be B.", "hedged"),
    ("Here we see **B) osmosis** at work.", "bold"),
    ("The powerhouse is the mitochondria (B).", "bracket"),
    ("Answer: A or B", "undecided"),
    ("Nothing.", "none"),
]


@pytest.mark.parametrize(("text", "rule"), RULES)
def test_the_rule_that_fired_is_recorded(text: str, rule: str) -> None:
    assert score(task(), text).rule == rule


def test_failures_tell_a_wrong_label_from_no_answer() -> None:
    assert score(task(answer="B"), "Answer: B").failure is None
    assert score(task(answer="B"), "Answer: C").failure == "wrong"
    assert score(task(answer="B"), "Answer: none").failure == "no_answer"


PIECES = [
    *("answer", "The ", " is ", "not ", "A", "B", " or ", "(", ")", "**", "\\boxed{", "}", "\n", ": ", ".", "I", "a "),
    *("Question:", "<think>", "</think>", "答案", "正解は", "ب", "$", "`", "correct", "option ", "1", ",", "~~"),
]
REPEATED = [
    *(
        "A ",
        "A or B ",
        "(A",
        "\\boxed{",
        "**",
        "answer is ",
        "Answer: A\n",
        "<think>",
        "not ",
        "a",
        " ",
        "\n",
        "A) x\n",
    ),
    *("$", "~~", "ب ", "*", "_A", "</", "Question:\n", "A is correct. ", "(A) ", "A\n", "**A** "),
]


@settings(max_examples=400, deadline=None)
@given(st.one_of(st.text(max_size=80), st.lists(st.sampled_from(PIECES), max_size=25).map("".join)))
def test_any_text_gives_a_displayed_label_or_none(text: str) -> None:
    for options in (FOUR, TEN, DIGITS):
        found = score(task(options, prompt=LISTED), text)
        assert found.extracted is None or found.extracted in options
        assert (found.failure == "no_answer") == (found.extracted is None)


@pytest.mark.parametrize("piece", REPEATED)
def test_a_long_repetition_ends(piece: str) -> None:
    text = piece * (300_000 // len(piece))
    started = time.process_time()
    assert score(task(), text).extracted in (*FOUR, None)
    assert time.process_time() - started < 9  # seconds, three times what a busy machine took for the slowest


# Real outputs beside the official script's finding, which is the first "answer is X"; see `kind_of_difference`.
OUTPUTS = "mmlu-pro-model-outputs.jsonl.gz"
EXPLAINED = {
    5759: '"The answer is (CDF)" names no one label',
    10484: '"The answer is (I and III only)" is the text of option E',
}


def kind_of_difference(row: dict, extracted: str | None, rule: str | None) -> str:
    """Name why the finding differs from the official one; `unexplained` must not occur."""
    official, text = row["pred"], row["generated_text"]
    if official == extracted:
        return "same"
    if official is None:
        return "wording that the official pattern does not know"
    if rule == "undecided":
        return "two labels claimed together"
    if official not in TEN[: len(row["options"])]:
        return "a label that was not shown"
    later = text[text.index(f"answer is {'(' * (f'answer is ({official}' in text)}{official}") + 10 :]
    if extracted and re.search(rf"\b{extracted}\b|[（(]{extracted}[)）]", later):
        return "a later conclusion"
    return "explained by id" if row["question_id"] in EXPLAINED else "unexplained"


@pytest.mark.shared
def test_every_difference_from_the_official_extraction_is_of_a_known_kind(shared: Path) -> None:
    kinds: Counter[str] = Counter()
    lines = gzip.decompress((shared / "data" / OUTPUTS).read_bytes()).decode().split("\n")
    for row in map(json.loads, filter(None, lines)):
        options = "\n".join(f"{label}. {text}" for label, text in zip(TEN, row["options"], strict=False))
        prompt = f"Question: {row['question']}\nOptions:\n{options}\nAnswer: Let's think step by step."
        found = score(task(TEN[: len(row["options"])], prompt=prompt, metric="mmlu_pro"), row["generated_text"])
        kinds[kind_of_difference(row, found.extracted, found.rule)] += 1
    assert kinds["unexplained"] == 0
    assert kinds.total() == 12_032
    assert kinds["same"] > 10_150
    assert kinds["a later conclusion"] < 120
