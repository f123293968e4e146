"""Where the answer ends: before a question or a chat turn that the model starts itself."""

from __future__ import annotations

import re

_MARKER = re.compile(
    r"<\|?(?:im_start|im_end|endoftext|eot_id|end_of_text|end|user|assistant|system|start_header_id|eom_id)\|?>|</s>",
    re.IGNORECASE,
)
_INSTRUCTION = re.compile(r"\[/?INST\]")
_HEADING = re.compile(
    r"\n[ \t]*(?:\#{1,6}[ \t]*)?(?:\*\*|__)?"
    r"(?i:(?:(?:new|next|another)[ \t]+)?(?:question|problem|exercise|human|user|instruction|q)[ \t]*(?:\#?\d{1,4})?"
    r"(?:\*\*|__)?[ \t]*:|(?:user|human)[ \t]*(?=\n|$))"
)
_COULD_ANSWER = re.compile(r"\d|\\boxed|\\fbox|answer|\$|\\\(", re.IGNORECASE)


def own_answer(text: str) -> str:
    """Return the text before the first question or turn that the model starts after it has said something.

    A heading before anything that could be an answer (`Problem: …` restated first) ends nothing.
    """
    end = len(text)
    for pattern in (_HEADING, _MARKER, _INSTRUCTION):
        for found in pattern.finditer(text, 0, end):
            if _COULD_ANSWER.search(text, 0, found.start()):
                end = found.start()
                break
    return text[:end]
