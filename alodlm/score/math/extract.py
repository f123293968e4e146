"""Which part of a text is the answer, and the name of the rule that says so.

The last explicit statement (a box, `answer is`, `Answer:`, `####`, `A:`, `<answer>`) counts; else the last
expression of the last sentence; else the last number of a finished sentence; else there is no answer.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from alodlm.score.math.prose import first_expression, last_expression, sentences
from alodlm.score.math.unicode import plain_unicode


class Extraction(NamedTuple):
    """The text to compare and the rule that found it; `text` is None where there is no answer."""

    text: str | None
    rule: str


_STATEMENT = re.compile(
    r"(?P<box>\\(?:boxed|fbox|framebox)(?![A-Za-z]))"
    r"|(?P<tag><answer>)"
    r"|(?P<hashes>^[ \t]*\#\#\#\#(?!\#)|\#\#\#\#(?=[ \t]*[-\d$]))"
    r"|(?P<letter>^[ \t]*(?:\*\*)?A(?:\*\*)?[ \t]*:)"
    r"|(?P<said>\bfinal[ \t]+answers?\b(?:[ \t]*(?:is|are|was|would[ \t]be|will[ \t]be))?"
    r"|\banswers?\b(?:[ \t]+(?:to|for|in)\b[^.\n:]{0,80}?)?[ \t]*"
    r"(?:is|are|was|were|would[ \t]be|will[ \t]be|should[ \t]be|must[ \t]be|equals|comes[ \t]out[ \t]to)\b"
    r"|(?:^[\#*_ \t]*|\bthe[ \t]+|\bfinal[ \t]+|(?-i:\b(?=A)))answers?(?:\*\*)?[ \t]*[:=：])",
    re.IGNORECASE | re.MULTILINE,
)
_LEAD = re.compile(r"(?:[\s:：*_=]|\\\s|(?:therefore|thus|so|simply|just|given by|is|are)\b)*", re.IGNORECASE)
_JOINT = re.compile(
    r"[\s$,]*(?:\\[()\[\]])*[\s$,]*(?:(?:and|or)\b|\\text\{\s*(?:and|or)\s*\})?[\s$,]*(?:\\[()\[\]])*[\s$]*"
)
_NUMBERED_HEADING = re.compile(r"\d+[.)]\s+[A-Za-z]")
_NO_STATEMENT = re.compile(
    r"(?:not|in|as|found|clear|correct|right|wrong|incorrect|reasonable|valid|consistent|unique|below|above|given"
    r"|obtained|simply|therefore|based|because|by|when|if|that we|to|expected|supposed|required)\b[^\d$\\]*$",
    re.IGNORECASE,
)
_MAX_WORDS = 8
_MAX_STATEMENTS = 40
_MAX_BOX = 20_000
_TAIL = 20_000
_EDGE = ' \t\r\n*_`"~'


def extract(text: str) -> Extraction:
    """Return the answer that a text states, in the order of the rules."""
    explicit = _last_statement(text)
    if explicit is not None:
        return explicit
    return _from_prose(text[-_TAIL:])


def _last_statement(text: str) -> Extraction | None:
    """Return the last explicit statement that says something."""
    found = list(_STATEMENT.finditer(text))
    for at in range(len(found) - 1, max(-1, len(found) - 1 - _MAX_STATEMENTS), -1):
        kind = found[at].lastgroup
        if kind == "box":
            extraction = _boxes(text, found, at)
        elif _is_inside_box(text, found, at):
            continue
        else:
            stop = found[at + 1].start() if at + 1 < len(found) else len(text)
            extraction = _said(text, found[at], kind, stop)
        if extraction is not None:
            return extraction
    return None


def _is_inside_box(text: str, found: list[re.Match[str]], at: int) -> bool:
    """Say whether a phrase is part of a box's content, so that it states nothing of its own."""
    before = [marker for marker in found[max(0, at - 4) : at] if marker.lastgroup == "box"]
    return any(box_content(text, box.end())[1] > found[at].start() and closed(text, box.end()) for box in before)


def closed(text: str, at: int) -> bool:
    """Say whether the box whose braces begin at `at` closes."""
    return box_content(text, at)[0] is not None


def _boxes(text: str, found: list[re.Match[str]], last: int) -> Extraction | None:
    """Return the content of a box, joined with the boxes before it that `and` or a comma connects."""
    content, _ = box_content(text, found[last].end())
    if content is None:
        return Extraction(None, "unclosed_box")
    if not _inner_box(content).strip(" $"):
        return None
    parts = [_inner_box(content)]
    begin = found[last].start()
    for at in range(last - 1, -1, -1):
        if found[at].lastgroup != "box":
            break
        earlier, end = box_content(text, found[at].end())
        between = text[end:begin] if earlier is not None else ""
        if earlier is None or end > begin or not between.strip(" $") or not _JOINT.fullmatch(between):
            break
        parts.append(_inner_box(earlier))
        begin = found[at].start()
    return Extraction(", ".join(reversed(parts)).strip(), "boxed" if len(parts) == 1 else "boxes_joined")


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


def _inner_box(content: str) -> str:
    """Return the content of a box without boxes that surround all of it."""
    for _ in range(4):
        inner = re.match(r"\s*\\(?:boxed|fbox)\s*(?=\{)", content)
        if inner is None:
            break
        held, end = box_content(content, inner.end())
        if held is None or content[end:].strip():
            break
        content = held
    return content


def _said(text: str, marker: re.Match[str], kind: str, stop: int) -> Extraction | None:
    """Return what a phrase, heading or tag states, None where it states nothing."""
    if kind == "tag":
        closing = text.find("</answer>", marker.end())
        stop = len(text) if closing < 0 else closing
        content = text[marker.end() : min(stop, marker.end() + _TAIL)]
        return _statement(content.strip(), "answer_tag")
    segment = _segment(text, marker.end(), stop)
    rule = {"hashes": "hashes", "letter": "answer_line", "said": "stated"}[kind]
    if kind == "hashes" and (_NUMBERED_HEADING.match(segment) or _is_heading(segment, text[marker.end() :])):
        return None
    return _statement(segment, rule)


def _is_heading(segment: str, rest: str) -> bool:
    """Say whether `#### Step two` is a Markdown heading: words with more lines below."""
    return not re.search(r"\d", segment[:12]) and "\n" in rest.strip()


def _segment(text: str, start: int, stop: int) -> str:
    """Return the statement's line, or the next one where the rest of its own line is empty."""
    begin = _LEAD.match(text, start, stop).end()
    display = re.compile(r"\\\[.*?\\\]|\$\$.*?\$\$", re.DOTALL).match(text, begin, min(stop, begin + _TAIL))
    if display:
        return display[0]
    end = text.find("\n", begin, stop)
    return text[begin : stop if end < 0 else end][:_TAIL].strip()


def _statement(segment: str, rule: str) -> Extraction | None:
    """Return the expression or the short text that a statement consists of."""
    segment = segment.strip(_EDGE)
    parts = sentences(segment)
    if not parts:
        return None
    first = parts[0][0].strip(_EDGE)
    expression = first_expression(first)
    if expression is not None:
        return Extraction(expression, rule)
    if not first or _NO_STATEMENT.match(first) or len(first.split()) > _MAX_WORDS:
        return None
    return Extraction(first, rule)


def _from_prose(text: str) -> Extraction:
    """Return the last expression of the last sentence, else the last number of a finished one."""
    made = sentences(text)
    if not made:
        return Extraction(None, "none")
    last, finished = made[-1]
    if finished or not _breaks_off(last):
        expression = last_expression(last)
        if expression is not None:
            return Extraction(expression, "last_sentence")
    for sentence, finished in reversed(made[:-1]):
        expression = last_expression(sentence) if finished else None
        if expression is not None:
            return Extraction(expression, "finished_sentence")
    return Extraction(None, "none")


_BROKEN = re.compile(
    r"(?:[+\-*/=^(\[{,<≤≥≈]|\\(?:cdot|times|frac)|\b(?:and|or|the|a|an|of|to|is|are|by|with|for|in|so|that|we|he|she))$",
    re.IGNORECASE,
)


def _breaks_off(sentence: str) -> bool:
    """Say whether an unfinished sentence ends in the middle of something."""
    return _BROKEN.search(sentence.rstrip(_EDGE)) is not None or (sentence.count("$") % 2 == 1 and "\\" in sentence)


def reference_text(reference: str) -> str:
    """Return the answer that a reference holds: bare, in a solution's last box, after `####` or on a line `A: …`."""
    text = plain_unicode(reference).strip()
    if "####" in text:
        return text.rpartition("####")[2].strip()
    if "\\boxed" in text or "\\fbox" in text:
        boxed = _last_statement(text)
        if boxed is not None and boxed.text is not None and boxed.rule.startswith("box"):
            return boxed.text
    line = re.search(r"(?:^|\n)\s*A:\s*(\S[^\n]*)\s*$", text)
    return line[1].strip() if line else text
