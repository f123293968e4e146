"""Option texts, where a prompt gives them, and the one that an answer copies.

Only a list that names every displayed label, in order, at the starts of lines counts as given. A copy must be
exact (white space and case folded, end punctuation aside) and belong to one option only.
"""

from __future__ import annotations

import re
from functools import lru_cache

from alodlm.score.choice.markup import BOX, plain

_LINE = re.compile(r"^[ \t>*-]{0,6}[(\[]?(\w{1,2})[)\].:][ \t]{1,4}(\S[^\n]*)$", re.MULTILINE)
_TRIMMED = " \t\r\n.,;:!?\"'“”‘’⟦。，"
_STATED = re.compile(
    r"(?:\b(?:answer|option|choice|response|statement)\b[^.\n:]{0,40}?(?:\b(?:is|was|would be|must be|should be)\b|:)"
    r"|^[ \t]*(?:答案|正解|정답)[^\n:]{0,4}:|⟦)[ \t\n:]{0,4}(?:the |option )?([^\n]{1,400})",
    re.IGNORECASE | re.MULTILINE,
)

_SENTENCE_END = re.compile(r"[.!?](?=\s|$)")
_LONGEST_TEXT = 2000


def _fold(text: str) -> str:
    return " ".join(text.strip(_TRIMMED).casefold().split())


@lru_cache(maxsize=64)
def option_texts(prompt: str, options: tuple[str, ...]) -> dict[str, str]:
    """Return folded option text → label for the last full list in `prompt`; texts that occur twice are left out."""
    lines = [(match[1], match[2]) for match in _LINE.finditer(prompt)]
    for end in range(len(lines), len(options) - 1, -1):
        listed = lines[end - len(options) : end]
        if tuple(label for label, _ in listed) == options:
            break
    else:
        return {}
    texts: dict[str, str] = {}
    repeated: set[str] = set()
    for label, text in listed:
        folded = _fold(plain(text))
        if folded in texts or not folded:
            repeated.add(folded)
        texts[folded] = label
    return {text: label for text, label in texts.items() if text not in repeated}


def copied_option(text: str, prompt: str, options: tuple[str, ...]) -> str | None:
    """Return the label of the option that `text` states word for word: last statement, last line, or whole text."""
    texts = option_texts(prompt, options)
    if not texts:
        return None
    stated = [match[1] for match in _STATED.finditer(text)][-1:]
    lines = [line for line in text.splitlines() if line.strip()][-1:]
    lines = [line for line in lines if any(character.isalpha() for character in line)]  # a lone number may be working
    for candidate in (*stated, *lines, text[:_LONGEST_TEXT]):
        whole = candidate.split("}")[0] if BOX in text else candidate
        for form in (whole, _SENTENCE_END.split(whole)[0], whole.strip(" .\n").removeprefix("(").removesuffix(")")):
            if (label := texts.get(_fold(form))) is not None:
                return label
    return None


def continues_as_option(text: str, end: int, label: str, prompt: str, options: tuple[str, ...]) -> bool:
    """Say whether the option's own text follows its label at `end`, as in "B osmosis"."""
    for folded, name in option_texts(prompt, options).items():
        if name == label:
            following = _fold(text[end : end + len(folded) + 8])
            return following.startswith(folded) and not following[len(folded) :][:1].isalnum()
    return False
