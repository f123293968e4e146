"""The part of a model's text that is its answer to the question asked.

Thinking is removed, and the text ends where the model starts a new question of its own ("Question:", "Problem:",
the same in other languages, a new chat turn). A question repeated before anything was answered is not a new one.
Linear time on any text; nothing raises.
"""

from __future__ import annotations

import re

from alodlm.records import Task
from alodlm.thinking import CHAT_TURN, answer_part, ends_inside_thinking

_LEADING_TURN = re.compile(rf"(?:\s*(?:{CHAT_TURN.pattern})(?:(?:assistant|model)\b)?)+", re.IGNORECASE)
_PLAIN_QUESTION = "question|problem|pregunta|problema|pergunta|questão|frage|domanda|вопрос|задача|pertanyaan|soal|soru"
_FOREIGN_QUESTION = "问题|题目|問題|題目|質問|设问|질문|문제|السؤال|سؤال|प्रश्न|câu hỏi|คำถาม"
_NUMBER = r"[ \t]{0,3}(?:[#]|no\.|number)?[ \t]?\d{1,4}"
_NEW_QUESTION = re.compile(
    rf"""
    ^[ \t]{{0,8}}[#>*_`~-]{{0,6}}[ \t]{{0,3}}[*_]{{0,3}}(?:
        (?:(?:next|new|another)[ \t])?(?:{_PLAIN_QUESTION}|{_FOREIGN_QUESTION.replace(" ", "[ ]")})
            (?:(?:{_NUMBER})?[*_]{{0,3}}[ \t]{{0,3}}[:：]|{_NUMBER}(?:[.)]|[*_ \t]{{0,4}}$))
        | (?-i:Q)[*_]{{0,3}}[:：][*_]{{0,3}}[ \t]{{0,3}}(?=\S{{1,40}}[ \t]\S{{1,40}}[ \t]\S)
        | (?:user|human|assistant|(?<=\#)[ ]?(?:instruction|input|response))[*_]{{0,3}}:
    )
    | (?<=[.!?)\]*。！？）])[ ]{{0,3}}(?-i:\*{{0,2}}Question(?:[ ]?\d{{1,4}})?\*{{0,2}}):
    | {CHAT_TURN.pattern}
    """,
    re.IGNORECASE | re.MULTILINE | re.VERBOSE,
)
# A text without any of these holds no marker: most answers are spared the search.
_HINTS = (
    *(word for word in _PLAIN_QUESTION.split("|") if word.isascii() and not word.startswith("problema")),
    *("q:", "q*", "user", "human", "assistant", "response", "input", "instruction", "<", "[inst", "[/inst"),
)
_ALL_HINTS = (*_HINTS, *f"{_PLAIN_QUESTION}|{_FOREIGN_QUESTION}".split("|"), "q：", "<")
_COULD_BE_AN_ANSWER = re.compile(r"[0-9\\]|\b[B-HJ-Z]\b")
_COMPARED_CHARACTERS = 60
_FEWEST_CHARACTERS = 8


def final_text(task: Task, text: str) -> str:
    """Return the answer in `text`: no thinking, nothing from the first new question on; it may be empty."""
    return before_new_question(answer_part(text, opened=ends_inside_thinking(task.prompt)), task.prompt)


def before_new_question(text: str, prompt: str = "") -> str:
    """Return `text` up to where it starts a question that `prompt` does not end with."""
    if not _may_hold_marker(text):
        return text
    start = opening.end() if (opening := _LEADING_TURN.match(text)) else 0
    for count, marker in enumerate(_NEW_QUESTION.finditer(text, start)):
        before = text[start : marker.start()]
        if count or not (_is_blank(before) or _repeats_prompt(before, text[marker.end() :], prompt)):
            return before
    return text[start:]


def _may_hold_marker(text: str) -> bool:
    lowered = text.lower()
    for hint in _HINTS if text.isascii() else _ALL_HINTS:  # noqa: SIM110 - a generator takes three times as long
        if hint in lowered:
            return True
    return False


def _is_blank(text: str) -> bool:
    return not text.strip(" \t\r\n#*_>-")


def _repeats_prompt(before: str, after: str, prompt: str) -> bool:
    """Say whether a question, put before anything that could be an answer, is the one that `prompt` ends with."""
    if _COULD_BE_AN_ANSWER.search(before):
        return False
    asked_from = 0
    for marker in _NEW_QUESTION.finditer(prompt.rstrip()):
        if not CHAT_TURN.fullmatch(marker[0]):
            asked_from = marker.start()
    line = after.lstrip(" \t\r\n*_").split("\n", 1)[0]
    repeated = " ".join(line.split())[:_COMPARED_CHARACTERS]
    return len(repeated) >= _FEWEST_CHARACTERS and repeated in " ".join(prompt[asked_from:].split())
