"""The `math` metric: what a text answers, and whether that equals the reference mathematically.

Stages from cheap to dear: thinking removed, cut at a new question, extraction, exact numbers, the answer's shape,
then algebra on its components. Promises never to raise on any text and to stop within `CPU_SECONDS`; what cannot be
read or proved is unequal. sympy is imported only by an answer that needs it.
"""

from __future__ import annotations

from alodlm.records import Score, Task
from alodlm.score.math.compare import Comparison, Question
from alodlm.score.math.errors import GiveUpError, UnreadableError
from alodlm.score.math.extract import Extraction, extract, reference_text
from alodlm.score.math.limit import OverTimeError, cpu_limit
from alodlm.score.math.numbers import same_number
from alodlm.score.math.structure import answer_tokens, identity, read_answer
from alodlm.score.math.turns import own_answer
from alodlm.thinking import answer_part, ends_inside_thinking

CPU_SECONDS = 3.0
_SHOWN_CHARACTERS = 2000


def score(task: Task, text: str) -> Score:
    """Score one answer's text against the task's reference."""
    found = None
    try:
        with cpu_limit(CPU_SECONDS):
            found = extract(own_answer(answer_part(text, opened=ends_inside_thinking(task.prompt))))
            correct = found.text is not None and _matches(found.text, task)
    except OverTimeError:
        return Score(False, _shown(found), "scorer_timeout", found and found.rule)
    failure = "no_answer" if found.text is None else "wrong"
    return Score(correct, _shown(found), None if correct else failure, found.rule)


def _shown(found: Extraction | None) -> str | None:
    return None if found is None or found.text is None else found.text[:_SHOWN_CHARACTERS]


def _matches(answer: str, task: Task) -> bool:
    expected = reference_text(task.reference)
    decided = same_number(answer, expected)
    return equivalent(answer, expected, prompt=task.prompt) if decided is None else decided


def equivalent(answer: str, expected: str, *, prompt: str = "") -> bool:
    """Say whether an extracted answer equals an expected one; text that cannot be read equals only its like."""
    try:
        tokens = answer_tokens(answer), answer_tokens(expected)
        if (written := identity(tokens[0])) and written == identity(tokens[1]):
            return True
        shapes = read_answer(answer, tokens[0]), read_answer(expected, tokens[1])
        return Comparison(Question.of(prompt)).equal(*shapes)
    except UnreadableError:
        return _equal_operators(answer, expected)
    except (GiveUpError, RecursionError, ZeroDivisionError):
        return False


def _equal_operators(answer: str, expected: str) -> bool:
    """Compare sums, integrals and limits, which only another reader knows."""
    if "\\" not in answer + expected:
        return False
    from alodlm.score.math import operators

    left, right = answer.strip(" $"), expected.strip(" $")
    bodies = operators.same_bounds(left, right)
    if bodies is not None and _are_different(*bodies):
        return False
    return operators.proves_equal(left, right)


def _are_different(left: str, right: str) -> bool:
    """Say whether two bodies under the same operator are readable and unequal, so that no more need be asked."""
    try:
        return not Comparison(Question()).equal(read_answer(left), read_answer(right))
    except (GiveUpError, RecursionError, ZeroDivisionError):
        return False
