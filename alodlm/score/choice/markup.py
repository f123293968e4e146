"""Plain text from a model's markup, so that a label reads the same however it was dressed.

Emphasis, LaTeX wrappers, HTML tags and full-width forms go; a box keeps its opening as `BOX`. What is struck out
goes with its text. Linear time; nothing else about the text changes.
"""

from __future__ import annotations

import re
import unicodedata

BOX = "⟦"

_INVISIBLE = re.compile(r"[\u200b-\u200f\u202a-\u202e\u2060\ufe0e\ufe0f\u0640]")
_BOXED = re.compile(r"\\(?:boxed|fbox|framebox)\s{0,3}\{?")
_WRAPPER = re.compile(
    r"\\(?:text(?:bf|rm|it|sf|tt|normal)?|math(?:bf|rm|sf|it|tt)?|mbox|hbox|bf|rm|large|Large|bold(?:symbol)?)"
    r"(?![a-zA-Z])\s{0,3}\{?"
)
_SPACING = re.compile(r"\\(?:[()\[\],;:! ]|(?:q?quad|left|right|displaystyle)(?![a-zA-Z]))|\$")
_ANSWER_TAG = re.compile(r"<(?:final_?)?(?:answer|ans|choice|option)>", re.IGNORECASE)
_BREAK_TAG = re.compile(
    r"<br\s?/?>|</?(?:p|div|li|ul|ol|h[1-6])>|</(?:final_?)?(?:answer|ans|choice|option)>", re.IGNORECASE
)
_STRUCK = re.compile(r"~~[^~\n]{1,200}~~|<(del|s|strike)>[^<\n]{1,200}</\1>", re.IGNORECASE)
# A capital <B> may be a label in angle brackets.
_OTHER_TAG = re.compile(r"</?(?:[biuq]|(?i:strong|em|code|span|mark|sub|sup|pre|font|big|small))\b[^<>\n]{0,80}>")
_TICKED = re.compile(r"^[ \t>*-]{0,8}\[[xX✓✔]\][ \t]", re.MULTILINE)
_UNTICKED = re.compile(r"^[ \t>*-]{0,8}\[ \][^\n]*$", re.MULTILINE)
_STARRED = re.compile(r"(?<![\w*])\*([^*\n]{1,80})\*(?![\w*])")
_UNDERLINED = re.compile(r"(?<![\w_])_([^_\n]{1,80})_(?![\w_])")
_EMPHASIS = re.compile(r"\*{2,}|_{2,}|`+")


def plain(text: str) -> str:
    """Return `text` without its markup."""
    if not text.isascii():
        text = _INVISIBLE.sub("", unicodedata.normalize("NFKC", text.replace("🅰", "A").replace("🅱", "B")))
    if "\\" in text or "$" in text:
        text = _SPACING.sub(" ", _WRAPPER.sub("", _BOXED.sub(BOX, text)))
    if "~~" in text or "</" in text:
        text = _STRUCK.sub(" ", text)
    if "[x]" in text or "[X]" in text or "[ ]" in text:
        text = _UNTICKED.sub("", _TICKED.sub("Answer: ", text))
    if "<" in text:
        text = _OTHER_TAG.sub("", _BREAK_TAG.sub("\n", _ANSWER_TAG.sub("\nAnswer: ", text)))
    if "*" in text or "_" in text or "`" in text:
        text = _EMPHASIS.sub("", _UNDERLINED.sub(r"\1", _STARRED.sub(r"\1", text)))
    return text
