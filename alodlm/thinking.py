"""Telling a model's answer from its thinking.

A closed thinking section is not part of the answer, text in a section that never closes is no answer, and a
closing tag without an opening one ends a section that began before the text. The stored text is never changed.
"""

from __future__ import annotations

import re

_TAG = re.compile(r"<(/?)(?:think|thinking|reasoning)\b[^<>]*>", re.IGNORECASE)
CHAT_TURN = re.compile(
    r"<[|｜][a-z_▁]{1,30}[|｜]>|</s>|<(?:start|end)_of_turn>|<(?:eos|endoftext)>|\[/?INST\]", re.IGNORECASE
)


def answer_part(text: str, *, opened: bool = False) -> str:
    """Return `text` without its thinking sections (tags of any case, with attributes, nested or repeated).

    `opened` says that the prompt ended inside a section, so the text begins in it. The result is empty where
    everything was thinking.
    """
    if opened and not ((first := _TAG.match(text.lstrip())) and not first[1]):
        text = f"<think>{text}"
    kept: list[str] = []
    depth = start = 0
    for tag in _TAG.finditer(text):
        if depth == 0:
            kept.append(text[start : tag.start()])
        if not tag[1]:
            depth += 1
        elif depth:
            depth -= 1
        else:
            kept.clear()
        start = tag.end()
    if depth == 0:
        kept.append(text[start:])
    return "".join(kept)


def ends_inside_thinking(prompt: str) -> bool:
    """Say whether a formatted prompt leaves a thinking section open for the model to continue.

    A tag that is merely mentioned in an earlier turn does not count: the chat marker after it ends that turn.
    """
    tags = list(_TAG.finditer(prompt))
    if not tags or tags[-1][1]:
        return False
    return CHAT_TURN.search(prompt, tags[-1].end()) is None
