"""Finding labels in plain text: single letters or numbers that stand alone, and what closes them.

A letter inside a word, a formula, an abbreviation or a hyphenated name is no label. Labels joined by "or", "and",
a comma or a slash form one group. Nothing here decides whether a label was chosen.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from alodlm.score.choice.markup import BOX
from alodlm.score.choice.vocabulary import FOLLOWING, FOLLOWING_STRICT, VERBS

OPENERS = f" \t\r\n\"'“”‘’«»„「『【〔([{{{BOX}<:-–—>#•·=*✅☑👉➡→✔✓🎯💡📌🔹⭐🏆|"
_BRACKETS = {"(": ")", "<": ">", "[": "]", "{": "}", "【": "】", "「": "」", "『": "』", "〔": "〕", BOX: "}"}
_LETTER = "A-Za-z0-9_À-ÖØ-öø-ɏͰ-ϿЀ-ӿ"
# Letters of other alphabets that stand for the labels, in their own order of listing.
_NATIVE = {
    **dict(zip("أبجد", "ABCD", strict=True)), "ا": "A", "إ": "A", "ه": "E",
    **dict(zip("কখগঘঙ", "ABCDE", strict=True)), "অ": "A", "ব": "B", "ড": "C", "ঢ": "D",
    **dict(zip("कखगघङ", "ABCDE", strict=True)), "अ": "A", "ब": "B", "स": "C", "द": "D",
    **dict(zip("АБГ", "ABD", strict=True)), "С": "C",
    **dict(zip("ΑΒΓΔΕ", "ABCDE", strict=True)),
}  # fmt: skip
_NATIVE_PATTERN = (
    r"(?<![\u0600-\u06ff])[أابجده](?![\u0600-\u06ff])|(?<![\u0900-\u0dff])[কখগঘঙঅবডঢकखगघङअबसद](?![\u0900-\u0dff])"
    r"|(?<![\u0370-\u04ffA-Za-z])[АБГСΑΒΓΔΕ](?![\u0370-\u04ffA-Za-z])"
)
_JOIN = re.compile(
    r"""["'”’)\]}】.]{0,3}\s{0,3}(?:
      [,;/&+|、،，~–—-]
      | (?:[,;]\s{0,2}|\()?(?<![a-z])(?:and/or|and|or|nor|vs\.?|versus|und|oder|et|ou|y|e|o|u|и|или|dan|atau
      |ve|veya|en|of|i|lub|eller|và|hoặc|na|au)(?![a-z])
      | 和|或者?|及|与|與|以及|还是|と|か|または|および|や|와|과|또는|이?나|및
      |و|أو|और|या|এবং|বা|หรือ|และ
    )\s{0,3}
    (?:(?:also|maybe|possibly|perhaps|even|probably|likely|option|choice|answer|or|and|选项|選項),?\s{1,2}){0,3}
    ["'“‘(\[{⟦【]{0,3}""",
    re.VERBOSE | re.IGNORECASE,
)
_BROKEN = re.compile(
    r"""['’](?!s\b)(?:[^\W\d_](?!(?:ir|ır|ur|ür)\b)) | ['’]s\b | [-–]\w | [+\#^°%√′″] | \((?!\s)[^()\s]{0,3}\)
      | \.(?:[A-Za-z]{1,2}\b|[A-Z]\.) | \s{0,2}(?:[=×÷∩∪∈∉⊂⊆≤≥≠→⇒⇔·∙^≈±]|\\[a-zA-Z]|->|=>|[<>]\s)
      | \s{0,2}[+*]\s{0,2}[\w(\\]""",
    re.VERBOSE,
)
_BROKEN_NUMBER = re.compile(r"[.,:/]\d|\s{0,2}[-−+*/]\s{0,2}\d|\s?[%°$€£]")
_BEFORE_LETTER = "^\\°@+"
_BEFORE_NUMBER = "^\\°@.,/$€£+×=−-"
_ENDED = re.compile(
    r"""\s{0,2}(?:[.!?,;:"'”’»)\]}>】」』。、，！？；|⟧/&]|\.\.\.|…)|[ \t]*(?:\n|$)|\s{1,3}[-–—(\[✓✔✅]"""
)
_CONJUNCTION = re.compile(r"[^\W\d_]|[/&]")
_REASON_FOLLOWS = re.compile(r",\s{1,2}(?:because|since|as|weil|parce|porque)\b")
_WORD = re.compile(r"\s{1,3}([^\W\d_]+)")
_MORE_NUMERALS = re.compile(r"(?:,|\s(?:and|or|&))\s{0,2}(?:and\s)?(?:II|III|IV|V)\b")
_JOINED_ON = re.compile(r"[A-Za-z0-9][.'’–&-]")
_CALLED = re.compile(r"(?<![^\W_])[A-Za-z0-9]{1,2}\($")
_NAMED_IN_BRACKETS = re.compile(r"\((?:[Oo]ption|[Cc]hoice|[Aa]nswer)\s$")
_CAPITAL = re.compile(r"([A-Z])(?![A-Za-z0-9_])")
_SMALL = re.compile(r"[\s(\[{<\"':=|>-]([a-z])(?![A-Za-z0-9_])")
_SMALL_FIRST = re.compile(r"([a-z])(?![A-Za-z0-9_])")
_MAXIMUM_LABELS = 1000


@dataclass(slots=True)
class Label:
    """One label in the text: its name as displayed (None where no such option was), and where it stands."""

    name: str | None
    start: int
    end: int
    capital: bool
    bracketed: bool
    text: str


@lru_cache(maxsize=256)
def _patterns(options: tuple[str, ...]) -> tuple[bool, re.Pattern[str], dict[str, str]]:
    """Return whether the labels are plain letters, the pattern of anything like a label, and the labels' names."""
    numbers = all(option.isdigit() for option in options)
    unusual = [option for option in options if not (option.isdigit() or (option.isascii() and len(option) == 1))]
    core = "|".join([*map(re.escape, sorted(unusual, key=len, reverse=True)), r"\d{1,3}" if numbers else "[A-Za-z]"])
    names = {option.casefold(): option for option in options}
    anything = re.compile(rf"((?<![{_LETTER}])(?:{core})(?![{_LETTER}])|{_NATIVE_PATTERN})")
    return not (numbers or unusual), anything, names


def _lone_letters(text: str) -> list[re.Match[str]]:
    """Return the single letters of an ASCII text; two passes that skip ahead are three times as fast as one."""
    found = [
        match
        for match in list(_CAPITAL.finditer(text))[-_MAXIMUM_LABELS:]
        if match.start() == 0 or not _is_word(text[match.start() - 1])
    ]
    small = list(_SMALL.finditer(text))[-_MAXIMUM_LABELS:]
    if first := _SMALL_FIRST.match(text):
        small.insert(0, first)
    return sorted(found + small, key=lambda match: match.start(1)) if small else found


def _is_word(character: str) -> bool:
    return character.isalnum() or character == "_"


def find_labels(text: str, options: tuple[str, ...]) -> list[Label]:
    """Return the labels that stand alone in `text`, in order (the last thousand, and the first)."""
    letters, anything, names = _patterns(options)
    found = _lone_letters(text) if letters and text.isascii() else list(anything.finditer(text))
    labels: list[Label] = []
    for match in reversed(found):
        if len(labels) == _MAXIMUM_LABELS:
            break
        if label := _label(text, match, names):
            labels.append(label)
    if len(labels) == _MAXIMUM_LABELS and (label := _label(text, found[0], names)):
        labels.append(label)
    labels.reverse()
    return labels


def _label(text: str, match: re.Match[str], names: dict[str, str]) -> Label | None:
    """Return the label at `match`; None for a part of a word, a formula, an abbreviation or a name."""
    word, (start, end) = match[1], match.span(1)
    native = not word.isascii() and word.casefold() not in names
    small = word.islower() and not native
    name = names.get((_NATIVE.get(word, word) if native else word).casefold())
    if small and (name is None or not _may_be_lower(text, end)):
        return None
    before = text[max(0, start - 2) : start]
    opener = before[-1:]
    if opener and (opener in (_BEFORE_NUMBER if word.isdigit() else _BEFORE_LETTER) or _JOINED_ON.fullmatch(before)):
        return None
    after = text[end : end + 24]
    if _BROKEN.match(after) or (word.isdigit() and _BROKEN_NUMBER.match(after)):
        return None
    if after[:1] in ("'", "’") and not after[1:2].isalpha() and opener not in ("'", "‘", "’"):
        return None  # a prime
    if word == "I" and _MORE_NUMERALS.match(after):
        return None
    if opener == "(" and _CALLED.search(text, max(0, start - 5), start):
        return None  # P(A)
    return Label(name, start, end, not small, _is_bracketed(text, start, end), word)


def _is_bracketed(text: str, start: int, end: int) -> bool:
    opener, closer = text[start - 1] if start else "", text[end : end + 1]
    if opener == BOX or closer == _BRACKETS.get(opener, "\0"):
        return True
    return closer == ")" and _NAMED_IN_BRACKETS.search(text, max(0, start - 12), start) is not None


def _may_be_lower(text: str, end: int) -> bool:
    following = _WORD.match(text, end)
    return following is None or following[1].lower() in FOLLOWING_STRICT or not following[1].isascii()


def ends_here(text: str, label: Label) -> bool:
    """Say whether the label is over where it ends: by punctuation, a bracket, the line's end or a linking word."""
    if not label.capital and not label.bracketed and text[label.end : label.end + 1] in (",", ";", "/", "&"):
        return _REASON_FOLLOWS.match(text, label.end) is not None
    if _ENDED.match(text, label.end):
        return True
    following = _WORD.match(text, label.end)
    if following is None:
        return not text[label.end : label.end + 1].isascii()
    word = following[1].lower()
    if not word.isascii() and ord(word[0]) > 0x52F:
        return True
    strict = label.text in ("A", "I") or label.text.isdigit() or not label.capital
    return word in (FOLLOWING_STRICT if strict else FOLLOWING) and not (label.text == "I" and word == "as")


def group(text: str, labels: list[Label]) -> list[list[Label]]:
    """Return the labels in groups: "A or B", "(A), (C)" and "D/H" are one group each."""
    groups: list[list[Label]] = []
    for label in labels:
        if groups and _joined(text, groups[-1][-1], label):
            groups[-1].append(label)
        else:
            groups.append([label])
    return groups


def _joined(text: str, first: Label, second: Label) -> bool:
    gap = second.start - first.end
    if gap > 40 or first.capital != second.capital or not _JOIN.fullmatch(text, first.end, second.start):
        return False
    following = _WORD.match(text, second.end)
    if following is None:
        return True
    word = following[1].lower()
    if not word.isascii():
        return True
    if word in ("are", "both", "together", "or", "and", "as", "since", "because", "in", "given", "for"):
        return True
    return word not in VERBS and _CONJUNCTION.search(text, first.end, second.start) is not None
