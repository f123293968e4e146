"""Answers per second of the math scorer, right and wrong apart, one JSON line.

    python scripts/bench_math.py MATH500.jsonl                      this package
    OTHER/bin/python scripts/bench_math.py MATH500.jsonl --scorer math-verify

The second form runs where math-verify is installed and imports nothing of this package. Each reference answer is
tried as it stands, rewritten to an equal one that needs algebra, and spoiled in its last digit; the first answers
warm up and are not counted. CPU time of one process.
"""

from __future__ import annotations

import argparse
import json
import re
import time
from collections.abc import Callable
from pathlib import Path

Verdict = Callable[[str, str], bool]
VALUE = re.compile(r"(?!.*(?:text|mbox|matrix|circ|pm|cup|in\b))[^,=_]*$")


def own_scorer() -> Verdict:
    from alodlm.records import Task
    from alodlm.score.math import score

    return lambda answer, reference: score(Task("bench", 1, "math", "question", reference), answer).correct


def math_verify() -> Verdict:
    from math_verify import parse, verify

    return lambda answer, reference: verify(parse(f"${reference}$"), parse(answer))


def spoiled(answer: str) -> str | None:
    digits = list(re.finditer(r"\d", answer))
    if not digits:
        return None
    at = digits[-1].start()
    return f"{answer[:at]}{(int(answer[at]) + 1) % 10}{answer[at + 1 :]}"


def groups(references: list[str]) -> dict[str, list[tuple[str, str]]]:
    """Return pairs of answer and reference by kind."""
    return {
        "right": [(rf"Thus \boxed{{{text}}}.", text) for text in references],
        "rewritten": [
            (rf"Thus \boxed{{\frac{{2({text})+6}}{{2}}-3}}.", text) for text in references if VALUE.match(text)
        ],
        "wrong": [(rf"Thus \boxed{{{wrong}}}.", text) for text in references if (wrong := spoiled(text))],
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("questions", type=Path)
    parser.add_argument("--scorer", choices=("own", "math-verify"), default="own")
    options = parser.parse_args()
    references = [json.loads(line)["answer"] for line in options.questions.read_text("utf-8").splitlines()]
    verdict = own_scorer() if options.scorer == "own" else math_verify()
    result: dict[str, object] = {"scorer": options.scorer}
    for name, pairs in groups(references).items():
        for answer, reference in pairs[:20]:
            verdict(answer, reference)
        started = time.process_time()
        accepted = sum(verdict(answer, reference) for answer, reference in pairs)
        seconds = time.process_time() - started
        result[name] = {"answers": len(pairs), "accepted": accepted, "per_second": round(len(pairs) / seconds, 1)}
    print(json.dumps(result))


if __name__ == "__main__":
    main()
