"""Which part of a text is the answer, and the name of the rule that says so.

The last explicit statement (a box, `answer is`, `Answer:`, `####`, `A:`, `<answer>`) counts; else the last
expression of the last sentence; else the last number of a finished sentence; else there is no answer.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from alodlm.score.math.prose import first_expression, last_expression, sentences
from alodlm.score.math.statements import Marker, box_content, is_closed, markers
from alodlm.score.math.unicode import plain_unicode


class Extraction(NamedTuple):
    """The text to compare and the rule that found it; `text` is None where there is no answer."""

    text: str | None
    rule: str


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
_COMPARISON = re.compile(
    r"(?:also |still |indeed )?(?:less|more|greater|fewer|larger|smaller|bigger|close|closer|consistent|the same)\b",
    re.IGNORECASE,
)
_SAYS_SOMETHING = re.compile(r"[\w∞√½⅓⅔¼¾∅]")
_EMPTY_BOX = re.compile(r"\$?\\(?:boxed|fbox)\s*\{\s*\}\$?")
_MAX_WORDS = 8
_MAX_JOINT = 40
_MAX_STATEMENTS = 40
_RULES = {"hashes": "hashes", "letter": "answer_line", "said": "stated"}
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
    found = markers(text)
    for at in range(len(found) - 1, max(-1, len(found) - 1 - _MAX_STATEMENTS), -1):
        if found[at].kind == "box":
            extraction = _boxes(text, found, at)
        elif _is_inside_box(text, found, at):
            continue
        else:
            stop = found[at + 1].start if at + 1 < len(found) else len(text)
            extraction = _said(text, found[at], stop)
        if extraction is not None:
            return extraction
    return None


def _is_inside_box(text: str, found: list[Marker], at: int) -> bool:
    """Say whether a phrase is part of a box's content, so that it states nothing of its own."""
    before = [marker for marker in found[max(0, at - 4) : at] if marker.kind == "box"]
    return any(box_content(text, box.end)[1] > found[at].start and is_closed(text, box.end) for box in before)


def _boxes(text: str, found: list[Marker], last: int) -> Extraction | None:
    """Return the content of a box, joined with the boxes before it that `and` or a comma connects."""
    content, _ = box_content(text, found[last].end)
    if content is None:
        return Extraction(None, "unclosed_box")
    if not _inner_box(content).strip(" $"):
        return None
    parts = [_inner_box(content)]
    begin = found[last].start
    for at in range(last - 1, -1, -1):
        if found[at].kind != "box":
            break
        earlier, end = box_content(text, found[at].end)
        between = text[end:begin] if earlier is not None else ""
        if earlier is None or end > begin or not between.strip(" $") or not _is_joint(between):
            break
        parts.append(_inner_box(earlier))
        begin = found[at].start
    return Extraction(", ".join(reversed(parts)).strip(), "boxed" if len(parts) == 1 else "boxes_joined")


def _is_joint(between: str) -> bool:
    return len(between) <= _MAX_JOINT and _JOINT.fullmatch(between) is not None


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


def _said(text: str, marker: Marker, stop: int) -> Extraction | None:
    """Return what a phrase, heading or tag states, None where it states nothing."""
    if marker.kind == "tag":
        closing = text.find("</answer>", marker.end)
        stop = len(text) if closing < 0 else closing
        return _statement(text[marker.end : min(stop, marker.end + _TAIL)].strip(), "answer_tag")
    segment = _segment(text, marker.end, stop)
    if marker.kind == "hashes" and (_NUMBERED_HEADING.match(segment) or _is_heading(segment, text[marker.end :])):
        return None
    return _statement(segment, _RULES[marker.kind])


def _is_heading(segment: str, rest: str) -> bool:
    """Say whether `#### Step two` is a Markdown heading: words with more lines below."""
    return not re.match(r"[-+($€£\\\s]*\\?[\d.({]|[A-Za-z]\b", segment) and "\n" in rest.strip()


def _segment(text: str, start: int, stop: int) -> str:
    """Return the statement's line, or the next one where the rest of its own line is empty."""
    begin = _LEAD.match(text, start, stop).end()
    display = re.compile(r"\\\[.*?\\\]|\$\$.*?\$\$", re.DOTALL).match(text, begin, min(stop, begin + _TAIL))
    if display:
        return display[0]
    closing = text.find("</answer>", begin, stop)
    stop = stop if closing < 0 else closing
    end = text.find("\n", begin, stop)
    return text[begin : stop if end < 0 else end][:_TAIL].strip()


def _statement(segment: str, rule: str) -> Extraction | None:
    """Return the expression or the short text that a statement consists of."""
    segment = segment.strip(_EDGE)
    parts = sentences(segment)
    if not parts or _COMPARISON.match(segment) or not _SAYS_SOMETHING.search(parts[0][0]):
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
    made = sentences(_EMPTY_BOX.sub("", text))
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
