"""Mathematics within prose: math spans, sentences, and runs of mathematical words.

Works on one line or paragraph at a time in linear time. A run never starts after a word that changes its value.
"""

from __future__ import annotations

import re

from alodlm.score.math.tokens import FUNCTIONS
from alodlm.score.math.words import APPROXIMATELY, CHANGING_WORDS, NUMBER_WORDS, SCALING_WORDS, TENS

_SPAN = re.compile(
    r"\$\$(?P<double>[^$]+)\$\$|(?<!\\)\$(?P<single>(?:[^$\\\n]|\\.|\\\n)+?)(?<!\\)\$(?!\d)"
    r"|\\\((?P<round>.{0,1500}?)\\\)|\\\[(?P<square>.{0,3000}?)\\\]",
    re.DOTALL,
)
_PROSE_IN_SPAN = re.compile(r"(?<![\\A-Za-z{])[A-Za-z]{3,}\s+[A-Za-z]{2,}")
_NAMES = "|".join(sorted((*FUNCTIONS, "sqrt", "pi", "infinity"), key=len, reverse=True))
_NUMBER = r"(?:\d++(?:[.,]\d++)*+\.?|\.\d++)"
_WORD = re.compile(
    rf"""(?>(?:\\(?:text\w*|mbox|mathrm)\{{[^{{}}]{{0,80}}\}}|{_NUMBER}(?:e[+-]?\d+)?|\\[A-Za-z]+
    |\\[,;!%{{}}$ ]|\\[(\[)\]]|[+\-*/^=<>!|()\[\]{{}}_%°±√π∞·×÷≤≥≠≈∈∪∩$€£¥:,']
    |\#|(?<![A-Za-z])(?:{_NAMES})(?![A-Za-z])|(?<![A-Za-z\d])[A-Za-z](?![A-Za-z])|(?<=\d)[A-Za-z]{{1,2}}(?![A-Za-z])
    |[½⅓⅔¼¾⅕⅖⅗⅘⅙⅚⅛⅜⅝⅞⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁺ⁿ₀-₉]|[Ͱ-Ͽ]|[，．（）＝＋－％０-９−–⁄])++)""",
    re.VERBOSE,
)
_DIGIT = re.compile(r"[\d½⅓⅔¼¾⅕⅖⅗⅘⅙⅚⅛⅜⅝⅞π∞]|\bpi\b|\\pi|\\infty|√|sqrt")
_ORDINAL = re.compile(r"\d+(?:st|nd|rd|th)$")
_LONE_WORDS = frozenset({"a", "A", "I", "i", "O", "s", "S", "t"})
_CHANGING = re.compile(
    r"\b(?:more than|less than|fewer than|greater than|not|between)\s+$",
    re.IGNORECASE,
)
_SIGN_WORD = re.compile(r"\b(?:negative|minus)\s+$", re.IGNORECASE)
_SENTENCE_END = re.compile(r"(?<!\\)[.!?](?=[\s\"')*_\]]|$)[\"')*_\]]*|。|．(?![\d０-９])|\n+")
_PLAIN_WORD = re.compile(
    r"(?:\\(?:text\w*|mbox|mathrm)\{[^{}]{0,80}\}|[^\s\u3040-\u30ff\u4e00-\u9fff\uac00-\ud7af。])+"
)
_TIGHT_COMMA = re.compile(r"(?<=\d)(?:,\s?\\!|\{,\})\s?(?=\d{3})")
_START_WORDS = frozenset({"", "about", "approximately", "negative", "minus", "either", "both"})
_FOLLOWING_WORD = re.compile(r"[ \t-]{1,3}([A-Za-z]+)")
_UNIT_AT_END = re.compile(r"\s*(?:%|\\%|[A-Za-z]+(?=\s*[.,;]?\s*$))")
_MAX_JOINT = 40
_SEPARATORS = ".,;:?!"
_AFTER_WORD = _SEPARATORS + '*`"”'
_EDGES = ' \t\r\n*_`"“”~'
_JOINERS = re.compile(r"\s*,?\s*(?:(?:and|or)\b)?\s*", re.IGNORECASE)


def spans(text: str) -> list[tuple[int, int, str]]:
    """Return the math spans of a text: start, end and content. A pair of dollar amounts is no span."""
    if "$" not in text and "\\(" not in text and "\\[" not in text:
        return []
    found = []
    at = 0
    while (span := _SPAN.search(text, at)) is not None:
        content = span[span.lastgroup]
        if span.lastgroup == "single" and not _is_math(content):
            at = span.start() + 1
            continue
        found.append((span.start(), span.end(), content.strip()))
        at = span.end()
    return found


def _is_math(content: str) -> bool:
    lopsided = content[0].isspace() != content[-1].isspace()
    return not lopsided and not _PROSE_IN_SPAN.search(content)


def sentences(text: str) -> list[tuple[str, bool]]:
    """Return the sentences of a text, each with whether it is finished; math spans are never cut."""
    covered = [(start, end) for start, end, _ in spans(text)]
    made, begin, index = [], 0, 0
    for stop in _SENTENCE_END.finditer(text):
        while index < len(covered) and covered[index][1] <= stop.start():
            index += 1
        if index < len(covered) and covered[index][0] <= stop.start():
            continue
        if text[begin : stop.start()].strip():
            made.append((text[begin : stop.start()].strip(), True))
        begin = stop.end()
    if text[begin:].strip():
        made.append((text[begin:].strip(), False))
    return made


def first_expression(sentence: str) -> str | None:
    """Return the expression that a statement begins with, lists joined by `and` or a comma included."""
    body = _TIGHT_COMMA.sub(",", sentence.strip(_EDGES))
    found = spans(body)
    if found and not _runs(body[: found[0][0]]):
        return _joined_spans(body, found, first=True)
    runs = _runs(body)
    if not runs:
        return None
    if runs[0][0] > 0 and not _is_start(before := body[: runs[0][0]]):
        changed = CHANGING_WORDS.intersection(before.lower().split()) - APPROXIMATELY
        return body if changed else last_expression(sentence)
    return _joined_runs(body, runs)


def _is_start(before: str) -> bool:
    return len(before.split()) <= 1 and before.strip().lower() in _START_WORDS


def last_expression(sentence: str) -> str | None:
    """Return the last mathematical expression of a sentence, a math span before plain writing."""
    body = _TIGHT_COMMA.sub(",", sentence.strip(_EDGES))
    found = spans(body)
    if found:
        return _joined_spans(body, found, first=False)
    runs = _runs(body)
    if not runs:
        return _number_word(body)
    first = len(runs) - 1
    while first and _is_joint(body[runs[first - 1][1] : runs[first][0]]):
        first -= 1
    joined = [_qualified(body, *runs[first]), *(body[start:end] for start, end in runs[first + 1 :])]
    return ", ".join(joined)


def _qualified(body: str, start: int, end: int) -> str:
    """Return a run, with the word before or after it where that changes its value (`2 million`)."""
    before = _CHANGING.search(body, 0, start) or _SIGN_WORD.search(body, 0, start)
    after = _FOLLOWING_WORD.match(body, end)
    if after and after[1].lower() in SCALING_WORDS:
        end = after.end()
    return body[before.start() if before else start : end].strip()


def _name_differs(left: str, right: str) -> bool:
    """Say whether two equations are about different quantities (`x = 2` and `y = 3`)."""
    names = [text.partition("=")[0].strip() for text in (left, right) if "=" in text]
    return len(names) == 2 and names[0] != names[1]


def _is_joint(between: str) -> bool:
    """Say whether only `and`, `or` or a comma stands between two expressions."""
    return len(between) <= _MAX_JOINT and _JOINERS.fullmatch(between) is not None


def _joined_spans(body: str, found: list[tuple[int, int, str]], *, first: bool) -> str:
    """Return the first or last span with its neighbours that only `and` or a comma separates."""
    groups: list[list[str]] = []
    for at, (start, _, content) in enumerate(found):
        between = body[found[at - 1][1] : start] if at else ""
        if at and between.strip() and _is_joint(between) and (first or not _name_differs(found[at - 1][2], content)):
            groups[-1].append(content)
        elif between.strip().lower() in _BINDING:
            groups[-1][-1] += f"{between}{content}"
        else:
            groups.append([content])
    return ", ".join(groups[0 if first else -1])


def _runs(body: str) -> list[tuple[int, int]]:
    """Return the start and end of each run of mathematical words that holds a number or a constant."""
    runs: list[tuple[int, int]] = []
    start = end = -1
    level = 0
    for word in _PLAIN_WORD.finditer(body):
        bare = word[0].rstrip(_AFTER_WORD) or ("*" if word[0] == "*" else "")
        if word[0].endswith("...") and "." in bare:
            bare += "..."
        if not _is_mathematical(bare):
            if start >= 0:
                runs.append((start, end))
            start, level = -1, 0
            continue
        if start >= 0 and bare[0] == "(" and level <= 0 and body[end - 1].isdigit():
            runs.append((start, end))
            start = -1
        start = word.start() if start < 0 else start
        end = word.start() + len(bare)
        level += sum((char in "([{") - (char in ")]}") for char in bare)
        if level <= 0 and len(bare) < len(word[0]) and set(word[0][len(bare) :]) & set(_SEPARATORS):
            runs.append((start, end))
            start, level = -1, 0
    if start >= 0:
        runs.append((start, end))
    return [_balanced(body, *run) for run in runs if _DIGIT.search(body, *run)]


def _is_mathematical(word: str) -> bool:
    if not word or word in _LONE_WORDS:
        return False
    return _WORD.fullmatch(word) is not None and _ORDINAL.match(word) is None


def _balanced(body: str, start: int, end: int) -> tuple[int, int]:
    """Return a run without a bracket at either end whose partner is outside."""
    level = sum((char in "([{") - (char in ")]}") for char in body[start:end])
    while level < 0 and body[end - 1] in ")]}":
        end, level = end - 1, level + 1
    while level > 0 and body[start] in "([{":
        start, level = start + 1, level - 1
    return start, end


def _joined_runs(body: str, runs: list[tuple[int, int]]) -> str:
    """Return the first run, joined with the later ones that `and`, `or` or a comma connects to it."""
    start, end = runs[0]
    pieces = [_qualified(body, start, end)]
    for following_start, following_end in runs[1:]:
        between = body[end:following_start].strip()
        if between.lower() in _BINDING:
            return body[start:following_end]
        if not _connects(between):
            break
        pieces.append(body[following_start:following_end])
        end = following_end
    unit = _UNIT_AT_END.match(body, end) if pieces == [body[start:end]] else None
    return (", ".join(pieces) + (unit[0] if unit else "")).strip()


def _connects(between: str) -> bool:
    """Say whether the words between two runs make them one answer: `and`, a comma, `or perhaps`."""
    words = between.lower().replace(",", " ").replace("(", " ").split()
    if not words:
        return between.startswith((",", ";"))
    return len(words) < 5 and (words[-1] in ("and", "or") or words[0] == "or")


def _number_word(body: str) -> str | None:
    """Return the last number word of a sentence; parts of larger numbers and `one` as a pronoun do not count."""
    words = [word.lower() for word in re.findall(r"[A-Za-z]+(?:-[A-Za-z]+)*", body)]
    for at in range(len(words) - 1, -1, -1):
        before, after = words[at - 1] if at else "", words[at + 1] if at + 1 < len(words) else ""
        if words[at] not in NUMBER_WORDS or before in TENS:
            continue
        if words[at] == "one" and (after in ("", "of") or before in _PRONOUN_BEFORE):
            continue
        return f"{words[at]} {after}" if after in SCALING_WORDS or after in NUMBER_WORDS else words[at]
    return None


_BINDING = frozenset({"to", "out of", "of", "by", "through", "plus", "minus", "times", "over", "percent of", "% of"})
_PRONOUN_BEFORE = frozenset({"this", "that", "the", "each", "every", "which", "another", "no", "any", "other", "last"})
