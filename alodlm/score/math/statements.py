"""Where a text states an answer explicitly: boxes, `####`, `<answer>`, `A:`, and phrases with the word answer.

Each kind is found by a search for its literal, so that long texts cost little.
"""

from __future__ import annotations

import re
from typing import NamedTuple


class Marker(NamedTuple):
    """One place where a statement begins: `kind` is box, tag, hashes, letter or said."""

    start: int
    end: int
    kind: str


_BOX = re.compile(r"\\(?:boxed|fbox|framebox)(?![A-Za-z])")
_TAG = re.compile(r"<(?i:answer)>")
_HASHES = re.compile(r"####(?!#)")
_LETTER = re.compile(r"A(?:\*\*)?[ \t]{0,9}:")
_NSWER = re.compile(r"nswer")
_NSWER_CAPITALS = re.compile(r"NSWER")
_VERB = r"(?:is|are|was|were|would[ \t]be|will[ \t]be|should[ \t]be|must[ \t]be|equals|comes[ \t]out[ \t]to)\b"
_PHRASE = re.compile(
    rf"(?P<verb>answers?\b(?:[ \t]{{1,9}}(?:to|for|in)\b[^.\n:]{{0,80}}?)?[ \t]{{0,9}}{_VERB})"
    r"|answers?(?:[ \t]{0,9}\([^()\n]{0,60}\))?(?:\*\*)?[ \t]{0,9}(?P<colon>[:=：])|answers?\b",
    re.IGNORECASE,
)
_FINAL_BEFORE = re.compile(r"\bfinal[ \t]{1,9}$", re.IGNORECASE)
_OPENS_SENTENCE = re.compile(r"(?:^|\n|[.!?][ \t])[#*_> \t]*(?:The[ \t]{1,9})?$")
_SAYS_MORE = re.compile(r"[ \t*_]*(?:\n|[\d$\\(\[-])")
_NATIVE = re.compile(r"答案(?:是|为|為|：|:)")
_LINE_START = re.compile(r"(?:^|\n)[ \t]{0,9}(?:\*\*)?$")
_MAX_BOX = 20_000


def markers(text: str) -> list[Marker]:
    """Return every place where a statement begins, in order."""
    found = [Marker(box.start(), box.end(), "box") for box in _BOX.finditer(text)]
    found += [Marker(tag.start(), tag.end(), "tag") for tag in _TAG.finditer(text)]
    found += [
        Marker(hashes.start(), hashes.end(), "hashes")
        for hashes in _HASHES.finditer(text)
        if text[hashes.start() - 1 : hashes.start()] != "#"
        and (_at_line_start(text, hashes.start()) or text[hashes.end() : hashes.end() + 2].strip()[:1].isdigit())
    ]
    found += [
        Marker(letter.start(), letter.end(), "letter")
        for letter in _LETTER.finditer(text)
        if _at_line_start(text, letter.start())
    ]
    found += [Marker(native.start(), native.end(), "said") for native in _NATIVE.finditer(text)]
    for pattern in (_NSWER, _NSWER_CAPITALS):
        for word in pattern.finditer(text):
            if (said := _phrase(text, word.start() - 1)) is not None:
                found.append(said)
    return sorted(found)


def _at_line_start(text: str, at: int) -> bool:
    return _LINE_START.search(text[max(0, at - 12) : at]) is not None and (at <= 12 or "\n" in text[at - 12 : at])


def _phrase(text: str, at: int) -> Marker | None:
    """Return the marker of `answer is`, `answer:` or `final answer` at the word that begins at `at`."""
    if at < 0 or text[at] not in "aA" or (at and text[at - 1].isalpha()):
        return None
    phrase = _PHRASE.match(text, at)
    before = text[max(0, at - 12) : at]
    final = _FINAL_BEFORE.search(before)
    if phrase is None or not (phrase["verb"] or phrase["colon"] or (final and _SAYS_MORE.match(text, phrase.end()))):
        return None
    if phrase["colon"] and not (final or text[at] == "A" or _OPENS_SENTENCE.search(before)):
        return None
    return Marker(at, phrase.end(), "said")


def box_content(text: str, at: int) -> tuple[str | None, int]:
    """Return what a box holds and where it ends; None when its braces never close."""
    while at < len(text) and text[at].isspace():
        at += 1
    if text[at : at + 1] != "{":
        token = re.compile(r"\\[A-Za-z]+|\d|[^\s$\\]").match(text, at)
        return (token[0], token.end()) if token else ("", at)
    level, start = 0, at
    for brace in re.compile(r"\\.|[{}]", re.DOTALL).finditer(text, at, at + _MAX_BOX):
        level += (brace[0] == "{") - (brace[0] == "}")
        if level == 0:
            return text[start + 1 : brace.start()], brace.end()
    return None, len(text)


def is_closed(text: str, at: int) -> bool:
    """Say whether the box whose braces begin at `at` closes."""
    return box_content(text, at)[0] is not None
