"""Where the answer ends: before a question or a chat turn that the model starts itself."""

from __future__ import annotations

import re

_NEW_TURN = re.compile(
    r"<\|?(?:im_start|im_end|endoftext|eot_id|end_of_text|end|user|assistant|system|start_header_id|eom_id)\|?>"
    r"|</s>|\[/?INST\]"
    r"|^[ \t]*(?:\#{1,6}[ \t]*)?(?:\*\*|__)?(?:(?:new|next|another)[ \t]+)?"
    r"(?:question|problem|exercise|human|user|q)[ \t]*(?:\#?\d{1,4})?(?:\*\*|__)?[ \t]*:"
    r"|^(?:user|human)[ \t]*$",
    re.IGNORECASE | re.MULTILINE,
)
_COULD_ANSWER = re.compile(r"\d|\\boxed|\\fbox|answer|\$|\\\(", re.IGNORECASE)


def own_answer(text: str) -> str:
    """Return the text before the first question or turn that the model starts after it has said something.

    A heading before anything that could be an answer (`Problem: …` restated first) ends nothing.
    """
    for found in _NEW_TURN.finditer(text):
        if _COULD_ANSWER.search(text, 0, found.start()):
            return text[: found.start()]
    return text
