"""The `math` metric against tables of answers: one rule a row."""

from __future__ import annotations

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


def task(answer: str, prompt: str = "How much is it?") -> Task:
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
    subprocess.run([sys.executable, "-c", program], check=True, timeout=60)
