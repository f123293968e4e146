"""Finding the fenced blocks of an answer: any length, ``` or ~~~, tagged, indented, nested, unclosed, on one line."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator
from itertools import islice
from typing import NamedTuple

from alodlm.score.code.syntax import repaired, tree_of

_OPENING = re.compile(r"^[ \t>]*(?:(?:[-*+]|\d+[.)])[ \t]+)?(?P<fence>`{3,}+|~{3,}+)(?P<info>[^\n`]*)$")
_ONE_LINE = re.compile(r"^[ \t>]*(?P<fence>`{3,}+|~{3,}+)(?P<info>[^\n]*?)(?P=fence)[ \t]*$")
_LATE_OPENING = re.compile(r"[^\s`].*?(?P<fence>(?<!`)`{3,}+)(?P<info>[\w+.-]*)[ \t]*$")
_TAG = re.compile(r"[ \t]*(?:\{[^}]*\}|[A-Za-z][\w+.#-]*)?")
_CODE_START = re.compile(r"(?:def|class|import|from|async|@)\b|\w+ *=")
_NEW_QUESTION = re.compile(
    r"^(?:\s*#*\s*\**(?:Question|Problem)\**\s*:|<\|im_start\|>|<\|start_header_id\|>)", re.IGNORECASE
)
_OTHER_LANGUAGES = frozenset(
    "bash sh shell console zsh cmd powershell text txt plaintext output out json yaml xml html css sql c cpp c++ java "
    "javascript js typescript ts go rust ruby php markdown md diff latex".split()
)
_MOST_CLOSINGS = 12


class Block(NamedTuple):
    """A block's program text (dedented and repaired), its tag in lower case, and its lines in the answer."""

    source: str
    tag: str
    start: int
    end: int

    @property
    def is_python(self) -> bool:
        """Whether the tag leaves it possible that this is Python."""
        return self.tag not in _OTHER_LANGUAGES


class Fenced(NamedTuple):
    """All blocks of an answer in order, and the text that precedes the first fence."""

    blocks: list[Block]
    before: str
    first_is_bare: bool


def find(text: str, depth: int = 0) -> Fenced:
    """Return the fenced blocks of an answer; those after a new question of the model's own are left out.

    A block that is itself no program but holds fenced ones counts as those, to a `depth` of two.
    """
    lines = text.split("\n")
    blocks: list[Block] = []
    index, before, bare = 0, None, False
    while index < len(lines):
        if index and blocks and _NEW_QUESTION.match(lines[index]):
            break
        block = _one_line(lines, index) or _block(lines, index)
        if block is None:
            index += 1
            continue
        if before is None:
            before, bare = "\n".join(lines[:index]), block.tag == ""
        blocks += (_inner(block, depth) if depth < 2 else []) or [block]
        index = block.end
    return Fenced(blocks, text if before is None else before, bare)


def outside_new_question(text: str) -> str:
    """Return unfenced text up to a new question of the model's own."""
    lines = text.split("\n")
    for index, line in enumerate(lines):
        if _NEW_QUESTION.match(line) and any(one.strip() for one in lines[:index]):
            return "\n".join(lines[:index])
    return text


def _one_line(lines: list[str], index: int) -> Block | None:
    found = _ONE_LINE.match(lines[index])
    if not found or not found["info"].strip():
        return None
    tag, code = _split_info(found["info"])
    return Block(repaired(code.strip()), tag, index, index + 1) if code.strip() else None


def _split_info(info: str) -> tuple[str, str]:
    """Split what follows a fence into its tag and code that starts on the same line."""
    tag = _TAG.match(info)[0]
    rest = info[len(tag) :]
    if _CODE_START.match(info.strip()) and tree_of(info.strip()) is not None:
        return "", info
    return tag.strip().lower(), rest


def _block(lines: list[str], index: int) -> Block | None:
    opening = _OPENING.match(lines[index]) or _LATE_OPENING.match(lines[index])
    if opening is None:
        return None
    tag, first = _split_info(opening["info"])
    head = [first.strip()] if _CODE_START.match(first.strip()) else []
    chosen = None
    for at, last in islice(_closings(lines, index, opening["fence"]), _MOST_CLOSINGS):
        source = _clean([*head, *lines[index + 1 : at], *([last] if last else [])], lines[index])
        if chosen is None and not last:
            chosen = Block(source, tag, index, at + 1)
        if source.strip() and tree_of(source) is not None:
            return Block(source, tag, index, at + 1)
    return chosen or Block(_clean([*head, *lines[index + 1 :]], lines[index]), tag, index, len(lines))


def _closings(lines: list[str], index: int, fence: str) -> Iterator[tuple[int, str]]:
    """Yield the lines that could close a fence, with the code that stands before it on the same line."""
    for at in range(index + 1, len(lines)):
        line = lines[at].rstrip()
        code = line.rstrip(fence[0])
        if len(line) - len(code) >= len(fence):
            yield at, code if code.strip(" \t>") else ""


def _inner(block: Block, depth: int) -> list[Block]:
    """Return the blocks inside of a block that is no program itself."""
    if block.source.count("```") + block.source.count("~~~") == 0 or tree_of(block.source) is not None:
        return []
    inner = find(block.source, depth + 1).blocks
    return [Block(one.source, one.tag, block.start, block.end) for one in inner]


def _clean(lines: list[str], opening: str) -> str:
    if opening.lstrip().startswith(">"):
        lines = [re.sub(r"^[ \t]*> ?", "", line) for line in lines]
    return repaired(textwrap.dedent("\n".join(lines)))
