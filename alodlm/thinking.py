"""Telling a model's answer from its thinking.

A closed thinking section is not part of the answer, text in a section that never closes is no answer, and a
closing tag without an opening one ends a section that began before the text. The stored text is never changed.
"""

from __future__ import annotations

import re

_TAG = re.compile(r"</?(?:think|thinking|thought|reasoning)\b[^<>]{0,200}>|\[(?-i:/?THINK)\]", re.IGNORECASE)
CHAT_TURN = re.compile(
    r"<[|｜][a-z_▁]{1,30}[|｜]>|</s>|<(?:start|end)_of_turn>|<(?:eos|endoftext)>|\[/?INST\]", re.IGNORECASE
)
# What may stand before a tag that opens a section; before any other tag stands a sentence that mentions it.
_OPENING_PLACE = re.compile(r"(?:^|[>\]}|｜]|\b(?:assistant|model|answer|response)[ \t]?:)[ \t]*$", re.IGNORECASE)


def _closes(tag: re.Match[str]) -> bool:
    return tag[0][1] == "/"


def answer_part(text: str, *, opened: bool = False) -> str:
    """Return `text` without its thinking sections (tags of any case, with attributes, nested or repeated).

    `opened` says that the prompt ended inside a section, so the text begins in it. The result is empty where
    everything was thinking. A closing tag too many at the very end is passed over.
    """
    if opened and not ((first := _TAG.match(text.lstrip())) and not _closes(first)):
        text = f"<think>{text}"
    kept: list[str] = []
    depth = start = 0
    closed, end = False, len(text.rstrip())
    for tag in _TAG.finditer(text):
        if tag[0].endswith("/>"):
            continue  # an empty section
        if depth == 0:
            kept.append(text[start : tag.start()])
        if not _closes(tag):
            depth += 1
        elif depth:
            depth, closed = depth - 1, True
        elif not closed or tag.end() < end:
            kept.clear()
            closed = True
        start = tag.end()
    if depth == 0:
        kept.append(text[start:])
    return "".join(kept)


def ends_inside_thinking(prompt: str) -> bool:
    """Say whether a formatted prompt leaves a thinking section open for the model to continue.

    A tag that is merely mentioned does not count: in an earlier turn (the chat marker after it ends that turn), or
    inside a sentence with more text after it.
    """
    tags = [tag for tag in _TAG.finditer(prompt) if not tag[0].endswith("/>")]
    if not tags or _closes(tags[-1]):
        return False
    last = tags[-1]
    if CHAT_TURN.search(prompt, last.end()):
        return False
    line = prompt[prompt.rfind("\n", 0, last.start()) + 1 : last.start()]
    return not prompt[last.end() :].strip() or _OPENING_PLACE.search(line[-40:]) is not None
