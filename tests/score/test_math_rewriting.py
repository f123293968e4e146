"""MATH-500's answers, rewritten in equal ways and spoiled in unequal ones, by rules of writing alone.

The rewriting knows nothing of the scorer: it works on the text of the reference answers.
"""

from __future__ import annotations

import json
import re
from fractions import Fraction
from pathlib import Path

import pytest

from alodlm.records import Task
from alodlm.score.math import score

UNICODE = {
    r"\pi": "π",
    r"\infty": "∞",
    r"\cup": "∪",
    r"\pm": "±",
    r"^\circ": "°",
    "-": "−",
    r"\in": "∈",
    r"\theta": "θ",
}
POWERS = {"^2": "²", "^3": "³", "^4": "⁴", "^5": "⁵", "^6": "⁶", "^7": "⁷", "^8": "⁸"}
FRACTION = re.compile(r"\\d?frac\s*(?:\{([^{}]*(?:\{[^{}]*\}[^{}]*)*)\}|(\d))\s*(?:\{([^{}]*)\}|(\d))")
PLAIN_VALUE = re.compile(r"[-+0-9a-zA-Z\s\\{}.*/()^]*$")
WORDY = re.compile(r"\\text|\\mbox|_|,|pmatrix|=|\\in|\\cup|\$|\\pm")


def is_value(answer: str) -> bool:
    """Say whether an answer is one expression, to which arithmetic can be applied."""
    return not WORDY.search(answer) and "^\\circ" not in answer and not re.match(r"\d+\s*\\frac", answer)


def plain(answer: str) -> str:
    """Write LaTeX as a calculator would: (a)/(b), sqrt(a), pi, x^(n)."""
    text = re.sub(r"(\d)\s*\\frac\{(\d+)\}\{(\d+)\}", r"\1 \2/\3", answer)
    text = FRACTION.sub(lambda found: f"({found[1] or found[2]})/({found[3] or found[4]})", text)
    text = re.sub(r"\\sqrt\s*(?:\{([^{}]*)\}|(\d))", lambda found: f"sqrt({found[1] or found[2]})", text)
    text = (
        text.replace(r"\pi", "pi ")
        .replace(r"\cdot", "*")
        .replace(r"\pm", "±")
        .replace(r"\left", "")
        .replace(r"\right", "")
    )
    return re.sub(r"\^\{([^{}]*)\}", r"^(\1)", text)


def unicoded(answer: str) -> str:
    """Write LaTeX with the characters that Unicode has."""
    text = re.sub(r"\\sqrt(?:\{(\d+)\}|(\d))", lambda found: f"√{found[1] or found[2]}", answer)
    for latex, char in (UNICODE | POWERS).items():
        text = re.sub(re.escape(latex) + r"(?![a-zA-Z\d])", char, text) if latex != "-" else text.replace(latex, char)
    return text


def reversed_terms(answer: str) -> str:
    """Write a sum's terms, a list's or set's members or a union's parts in the opposite order."""
    if r"\cup" in answer:
        return r"\cup".join(reversed(answer.split(r"\cup")))
    if re.fullmatch(r"[^()\[\]]*(?:, ?[^()\[\]]*)+", answer) and not re.search(r"\d,(?:\\!\s*)?\d{3}", answer):
        inner = answer.removeprefix(r"\{").removesuffix(r"\}")
        turned = ", ".join(reversed(inner.split(",")))
        return rf"\{{{turned}\}}" if inner != answer else turned
    if is_value(answer) and not re.search(r"[({]", answer):
        terms = re.findall(r"[-+]?[^-+]+", re.sub(r"(?<![a-z]) +", "", answer))
        return "".join(term if term[0] in "+-" else f"+{term}" for term in reversed(terms)).removeprefix("+")
    return answer


def decimal(answer: str) -> str | None:
    """Write a fraction or whole number as an exact decimal, where there is one."""
    found = re.fullmatch(r"(-?)" + FRACTION.pattern, answer)
    if found is None:
        return f"{answer}.0" if re.fullmatch(r"-?\d+", answer) else None
    top, bottom = found[2] or found[3], found[4] or found[5]
    if not (top.isdigit() and bottom.isdigit()):
        return None
    value = Fraction(int(top), int(bottom))
    places = next((places for places in range(1, 12) if (value * 10**places).denominator == 1), None)
    return None if places is None else f"{found[1]}{float(value):.{places}f}"


def equal_writings(answer: str) -> list[str]:
    """Return whole answers' texts that state the same value."""
    texts = [
        rf"\boxed{{{answer}}}",
        f"So the answer is ${answer}$.",
        rf"\[ \boxed{{ {answer.replace('frac', 'dfrac').replace('ddfrac', 'dfrac')} }} \]",
        f"**Final Answer**\n\n\\({answer}\\)",
        rf"\boxed{{{reversed_terms(answer)}}}",
        rf"\boxed{{{unicoded(answer)}}}",
        rf"\boxed{{{answer.replace(' ', '')}}}" if "\\" not in answer else rf"$\displaystyle \boxed{{{answer}\,}}$.",
    ]
    if "pmatrix" in answer:
        texts.append(rf"\boxed{{{answer.replace('pmatrix', 'bmatrix')}}}")
    if r"\text" not in answer and "pmatrix" not in answer and r"\mbox" not in answer:
        texts.append(f"#### {plain(answer)}")
    if is_value(answer):
        texts += [
            rf"\boxed{{x = {answer}}}",
            rf"\boxed{{\frac{{2({answer})}}{{2}}}}",
            rf"\boxed{{({answer})+3-3}}",
            rf"\boxed{{{answer}\text{{ cm}}}}",
        ]
    if (exact := decimal(answer)) is not None:
        texts += [rf"\boxed{{{exact}}}", f"The answer is {exact}."]
    return texts


def with_digit(answer: str, which: int, change: int) -> str | None:
    """Change one digit; exponents of units and the 1 of `\\frac1` stay digits like any other."""
    digits = [found.start() for found in re.finditer(r"\d", answer)]
    if not digits:
        return None
    at = digits[which]
    return f"{answer[:at]}{(int(answer[at]) + change) % 10}{answer[at + 1 :]}"


def spoiled(answer: str) -> list[str]:
    """Return answers that differ in value from this one."""
    wrong = [with_digit(answer, 0, 1), with_digit(answer, -1, 1), with_digit(answer, -1, 5), with_digit(answer, 0, 3)]
    wrong.append(re.sub(r"(?<=\d)(?!.*\d)", "7", answer, count=1) if re.search(r"\d$", answer) else None)
    if is_value(answer) and answer != "0":
        wrong += [
            f"-({answer})",
            f"10({answer})",
            f"({answer})+1",
            f"({answer})^2+1",
            rf"{answer}\cdot\pi",
            f"({answer})i",
        ]
        wrong.append(rf"\pm ({answer})")
    elif re.match(r"\d", answer) and answer != "0":
        wrong += [f"1{answer}", f"-{answer}"]
    elif r"\text{ degrees}" in answer:
        wrong += [f"-{answer}", f"1 + {answer}"]
    if found := re.fullmatch(r"(-?)\\d?frac\{?(\d+)\}?\{?(\d+)\}?", answer):
        wrong.append(rf"{found[1]}\frac{{{found[3]}}}{{{found[2]}}}" if found[2] != found[3] else None)
    if "," in answer and not re.search(r"\d,(?:\\!\s*)?\s*\d{3}", answer):
        wrong += [answer.partition(",")[0] + answer[-1:], answer + ", 8191", answer.replace(",", "+", 1)]
    if re.fullmatch(r"\\text\{.*\}", answer):
        wrong += [r"\text{not }" + answer, r"\text{north}", r"\text{(Z)}", "7", answer + ", " + r"\text{other}"]
    if "pmatrix" in answer:
        wrong += [answer.replace(r"\\", "&", 1), answer.replace("pmatrix", "vmatrix"), "0", "-1", "1"]
    for left, right in ((r"\pi", "e"), ("x", "t"), ("sqrt", "sqrt[3]"), ("(", "["), ("]", ")"), ("-", "+"), ("_", "^")):
        if left in answer and r"\text" not in answer and not (left == "(" and is_value(answer)):
            wrong.append(answer.replace(left, right, 1))
    return [text for text in wrong if text is not None and text != answer]


def correct(text: str, row: dict) -> bool:
    task = Task(benchmark="MATH-500", id=row["unique_id"], metric="math", prompt=row["problem"], answer=row["answer"])
    return score(task, text).correct


@pytest.fixture(scope="module")
def questions(shared: Path) -> list[dict]:
    path = shared / "data" / "math500-test.jsonl"
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


@pytest.mark.shared
def test_equal_writings_are_accepted(questions: list[dict]) -> None:
    tried = [(text, row) for row in questions for text in equal_writings(row["answer"])]
    assert all(len(set(equal_writings(row["answer"]))) >= 5 for row in questions)
    missed = [(text, row["answer"]) for text, row in tried if not correct(text, row)]
    assert len(missed) <= 0.01 * len(tried), missed


@pytest.mark.shared
def test_spoiled_writings_are_refused(questions: list[dict]) -> None:
    tried = [(rf"\boxed{{{text}}}", row) for row in questions for text in spoiled(row["answer"])]
    assert all(len(spoiled(row["answer"])) >= 5 for row in questions if row["answer"] != "0")
    assert [(text, row["answer"]) for text, row in tried if correct(text, row)] == []
