"""Option texts, where a prompt gives them, and the one that an answer copies.

Only a list that names every displayed label, in order, at the starts of lines counts as given. A copy must be
exact (white space and case folded, end punctuation aside) and belong to one option only.
"""

from __future__ import annotations

import re
from collections import Counter
from functools import lru_cache

from alodlm.score.choice.markup import BOX, plain

_LINE = re.compile(r"^[ \t>*-]{0,6}[(\[]?(\w{1,2})[)\].:][ \t]{1,4}(\S[^\n]*)$", re.MULTILINE)
_TRIMMED = " \t\r\n.,;:!?\"'“”‘’⟦。，"
_STATED = re.compile(
    r"(?:\b(?:answer|option|choice|response|statement)\b[^.\n:]{0,40}?(?:\b(?:is|was|would be|must be|should be)\b|:)"
    r"|^[ \t]*(?:答案|正解|정답)[^\n:]{0,4}:|⟦)[ \t\n:]{0,4}(?:option )?([^\n]{1,400})",
    re.IGNORECASE | re.MULTILINE,
)

_SENTENCE_END = re.compile(r"[.!?](?=\s|$)")
_LONGEST_TEXT = 2000


def _fold(text: str) -> str:
    return " ".join(text.strip(_TRIMMED).casefold().split())


@lru_cache(maxsize=64)
def option_texts(prompt: str, options: tuple[str, ...]) -> dict[str, str]:
    """Return label → folded text of the last full list of options in `prompt`; empty where there is none."""
    lines = [(match[1], match[2]) for match in _LINE.finditer(prompt)]
    for end in range(len(lines), len(options) - 1, -1):
        listed = lines[end - len(options) : end]
        if tuple(label for label, _ in listed) == options:
            return {label: _fold(plain(text)) for label, text in listed}
    return {}


def copied_option(text: str, prompt: str, options: tuple[str, ...]) -> str | None:
    """Return the label of the option that `text` states word for word: last statement, last line, or whole text."""
    given = option_texts(prompt, options)
    if not given:
        return None
    occurrences = Counter(given.values())
    texts = {folded: label for label, folded in given.items() if folded and occurrences[folded] == 1}
    stated = [match[1] for match in _STATED.finditer(text)][-1:]
    lines = [line for line in text.splitlines() if line.strip()][-1:]
    lines = [line for line in lines if any(character.isalpha() for character in line)]  # a lone number may be working
    for candidate in (*stated, *lines, text[:_LONGEST_TEXT]):
        whole = candidate.split("}")[0] if BOX in text else candidate
        bare = whole.strip(" .\n").removeprefix("(").removesuffix(")")
        for form in (whole, _SENTENCE_END.split(whole)[0], bare, re.sub(r"^\s*the ", "", whole)):
            if (label := texts.get(_fold(form))) is not None:
                return label
    return None


def continues_as_option(text: str, end: int, label: str, prompt: str, options: tuple[str, ...]) -> bool:
    """Say whether the option's own text follows its label at `end`, as in "B osmosis"."""
    own = option_texts(prompt, options).get(label)
    if not own:
        return False
    following = _fold(text[end : end + len(own) + 8].lstrip(")]}.: "))
    return following.startswith(own) and not following[len(own) :][:1].isalnum()
