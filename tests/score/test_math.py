"""The `math` metric against tables of answers: one rule a row."""

from __future__ import annotations

import gzip
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from alodlm.records import Task
from alodlm.score.math import score


def rows(path: Path) -> list[dict]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


CASES = rows(Path(__file__).with_name("cases_math.jsonl"))
RULES = rows(Path(__file__).with_name("cases_math_rules.jsonl"))
SPOILED_SIGN = {"-": "+", "+": "-"}


def task(answer: str | float, prompt: str = "How much is it?") -> Task:
    return Task(benchmark="MATH-500", id=1, metric="math", prompt=prompt, answer=answer)


def spoiled(answer: str) -> str | None:
    """Change the last digit of an answer, else its first sign; None where it has neither."""
    digits = list(re.finditer(r"\d", answer))
    if digits:
        at = digits[-1].start()
        return f"{answer[:at]}{(int(answer[at]) + 1) % 10}{answer[at + 1 :]}"
    sign = re.search(r"[-+]", answer)
    return answer[: sign.start()] + SPOILED_SIGN[sign[0]] + answer[sign.end() :] if sign else None


@pytest.mark.parametrize("row", CASES, ids=[row["id"] for row in CASES])
def test_each_case_has_its_stated_verdict(row: dict) -> None:
    scored = score(task(row["answer"]), row["text"])
    assert scored.correct == row["correct"], (row["why"], scored)
    assert scored.failure in ((None,) if row["correct"] else ("wrong", "no_answer"))


@pytest.mark.parametrize("row", RULES, ids=[f"{at}-{row['rule']}" for at, row in enumerate(RULES)])
def test_each_rule_accepts_and_refuses_its_rows(row: dict) -> None:
    scored = score(task(row["answer"]), row["text"])
    assert scored.correct == row["correct"], scored


@pytest.mark.parametrize(
    ("prompt", "reference", "answer", "correct"),
    [
        ("Write 10 in base 5.", "20", r"\boxed{20_5}", True),
        ("How much is it?", "20", r"\boxed{20_5}", False),
        ("Find the base of the triangle.", "20", r"\boxed{20_5}", False),
        ("Round to the nearest tenth.", "4.5", r"\boxed{4.49}", True),
        ("How much is it?", "4.5", r"\boxed{4.49}", False),
        ("Give your answer as an interval.", "(2,7)", r"\boxed{2,7}", False),
        ("Which point is it?", "(2,7)", r"\boxed{2,7}", True),
        ("What is it? <think>", "5", "It may be 5.", False),
        ("What is it? <think>", "5", "It may be 6.</think> It is 5.", True),
    ],
)
def test_the_question_decides_between_two_readings(prompt: str, reference: str, answer: str, correct: bool) -> None:
    assert score(task(reference, prompt), answer).correct == correct


@pytest.mark.parametrize("reference", [12, 12.0, "12", "#### 12"])
def test_a_reference_may_be_a_number(reference: str | int | float) -> None:
    assert score(task(reference), "The answer is 12.").correct


@pytest.mark.parametrize(
    ("text", "extracted", "rule"),
    [
        (r"Thus \boxed{\frac12}.", r"\frac12", "boxed"),
        (r"$\boxed{2}$ and $\boxed{3}$", "2, 3", "boxes_joined"),
        ("The answer is 12 apples.", "12 apples", "stated"),
        ("#### 1,024", "1,024", "hashes"),
        ("A: 7", "7", "answer_line"),
        ("<answer>7</answer>", "7", "answer_tag"),
        ("So she has 7 eggs.", "7", "last_sentence"),
        ("So she has 7 eggs. That is all.", "7", "finished_sentence"),
        ("I do not know.", None, "none"),
        (r"\boxed{7", None, "unclosed_box"),
    ],
)
def test_what_was_compared_and_the_rule_that_found_it_are_recorded(text: str, extracted: str, rule: str) -> None:
    scored = score(task("999"), text)
    assert (scored.extracted, scored.rule) == (extracted, rule)
    assert scored.failure == ("no_answer" if extracted is None else "wrong")


@pytest.mark.shared
def test_gsm8k_own_solutions_are_right_and_spoiled_ones_wrong(shared: Path) -> None:
    questions = rows(shared / "data" / "gsm8k-test.jsonl")
    verdicts = [score(task(row["answer"]), row["answer"]).correct for row in questions]
    assert sum(verdicts) == len(questions) == 1319
    for row in questions:
        reasoning, _, number = row["answer"].rpartition("####")
        assert not score(task(row["answer"]), f"{reasoning}####{spoiled(number)}").correct, row["answer"]


@pytest.mark.shared
def test_math_500_own_solutions_are_right_and_spoiled_ones_wrong(shared: Path) -> None:
    questions = rows(shared / "data" / "math500-test.jsonl")
    verdicts = [score(task(row["answer"], row["problem"]), row["solution"]).correct for row in questions]
    assert sum(verdicts) == len(questions) == 500
    for row in questions:
        if (wrong := spoiled(row["answer"])) is not None:
            assert not score(task(row["answer"], row["problem"]), f"\\boxed{{{wrong}}}").correct, row["answer"]


def test_a_plain_number_is_scored_without_importing_sympy() -> None:
    program = (
        "import sys\n"
        "from alodlm.records import Task\n"
        "from alodlm.score.math import score\n"
        "task = Task(benchmark='GSM8K', id=1, metric='math', prompt='q', answer='#### 1,024')\n"
        "assert score(task, 'So he has 1024 eggs.\\n#### 1024').correct\n"
        "assert not {'sympy', 'mpmath', 'latex2sympy2', 'torch'} & set(sys.modules)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr


@pytest.mark.shared
def test_real_gsm8k_solutions_get_their_authors_verdict(shared: Path) -> None:
    with gzip.open(shared / "data" / "gsm8k-model-solutions.jsonl.gz", "rt", encoding="utf-8") as lines:
        solutions = [json.loads(line) for line in lines]
    differing = [
        row["index"]
        for row in solutions
        if score(task(row["ground_truth"], row["question"]), row["solution"]).correct != row["is_correct"]
    ]
    assert len(solutions) == 2640
    assert differing == []
