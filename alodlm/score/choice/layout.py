"""Where a label stands: alone on a line, at the start, heading the last line, or in a copied list of options."""

from __future__ import annotations

import re
from functools import cached_property

from alodlm.score.choice.labels import Label

_HEAD = re.compile(r"^[^\w\n]{0,6}(?:(?:[Oo]ption|[Cc]hoice)\s)?(\w{1,2})(?:[).:\]、]|[^\w\n]{0,6}$)", re.MULTILINE)
_NEXT_HEAD = re.compile(r"[^\n]*\n\s{0,8}[^\w\n]{0,6}([A-Z]|\d{1,2})[).:\]]")
_INLINE_HEAD = re.compile(r"(?<!\w)\(?(\w{1,2})(?:\)|\.\s)")
_REASON = (
    "because|since|as|due|for|although|though|but|I\\s(?:think|believe|guess)|weil|denn|parce|porque|perché|потому"
)
_DISCUSSING = (
    "is|are|was|has|have|had|does|do|did|can|could|would|will|and|or|represents|refers|states|says|describes|mentions"
    "|fails|cannot|may|might"
)
# What may follow a label that opens the answer; "(A) is heavy" begins a discussion.
_OPENED = re.compile(
    rf"""["'”’]?(?: [ \t]*(?:\n|\Z) | [)\].:]{{0,2}},?[ ]{{1,3}}(?:{_REASON})\b
      | [)\].:!]{{1,2}}["'”’]?(?:\Z|\s{{1,3}}(?!(?:{_DISCUSSING})\b)) | [)\].:]{{1,2}}(?=[A-Za-z]{{3}}|\()
      | \s{{1,3}}[-–—(] | [。、，])""",
    re.VERBOSE,
)
_LOOKED_AHEAD = 4000
# "(b) osmosis" may be a whole answer; "(b) Next, we find …" is a part of a longer one.
_SHORT = 120
_SPECIES = re.compile(
    r"\.\s(?:coli|elegans|melanogaster|subtilis|difficile|pylori|aureus|thaliana|cerevisiae|cereus|anthracis|botulinum"
    r"|perfringens|albicans|influenzae|faecalis|burgdorferi|pneumoniae|gondii|sapiens|diphtheriae|trachomatis)\b"
)
_INITIALS = re.compile(r"\.\s?[A-Z]\.")
# "Not A. Not B. D." but not "John Q. D." or "Ph. D."
_NEW_SENTENCE = re.compile(r"(?:\w{3,}|[)\]\"”]|\b[A-Za-z]{2,}\s[A-Z])[.!?]\s{1,3}[(\[]?$")


# "5. B" as the whole answer to a numbered question.
_NUMBERED = re.compile(r"\W{0,4}(?:Q|Question\s)?\d{1,3}[.):]\s{1,2}[^\w\s]{0,3}")
_LINE_LEAD = 40
_HEAD_LEAD = 13  # six marks and "Option "


def _silent(text: str) -> bool:
    return len(text) <= _LINE_LEAD and not any(character.isalnum() for character in text)


class Layout:
    """The lines of one answer and what they list."""

    def __init__(self, text: str, options: tuple[str, ...]) -> None:
        self.text, self.options = text, options

    @cached_property
    def _begin(self) -> int:
        return len(self.text) - len(self.text.lstrip())

    @cached_property
    def _end(self) -> int:
        return len(self.text.rstrip())

    def place(self, label: Label, *, named: bool, own_text_follows: bool = False) -> str | None:
        """Return the rule by which the label's place makes it a choice.

        `named` says that "option" precedes it, `own_text_follows` that the prompt's own text of that option does.
        """
        text = self.text
        before = self._before(label)
        if _NUMBERED.fullmatch(before) and label.start - len(before) <= self._begin and _silent(text[label.end :]):
            return "alone"
        over = text.find("\n", label.end, label.end + _LINE_LEAD)
        ends_line = _silent(text[label.end : over if over >= 0 else label.end + _LINE_LEAD + 1])
        if not (_silent(before) or (named and len(before.split()) <= 3)):
            leads = (
                label.capital
                and ends_line
                and self._end - label.end < _LINE_LEAD
                and "\n" not in text[label.end : self._end]
            )
            return "alone" if leads and _NEW_SENTENCE.search(text, max(0, label.start - 24), label.start) else None
        is_first = label.start - len(before) <= self._begin
        is_last = not 0 <= text.find("\n", label.end) < self._end
        if ends_line:
            return "alone" if self._is_alone(label, is_first=is_first, is_last=is_last) else None
        if is_first:
            return "start" if self._opens(label, own_text_follows) else None
        heads_last = (
            is_last and label.capital and self._opens(label, own_text_follows) and not self._heads_elsewhere(label)
        )
        return "last_line" if heads_last else None

    def is_listed(self, label: Label) -> bool:
        """Say whether the label heads a line in a run of lines that lists the options."""
        return len(self._before(label)) <= _HEAD_LEAD and label.start in self._listed

    def lists_several(self, label: Label) -> bool:
        """Say whether the label's own line is followed by a line that another label heads."""
        following = _NEXT_HEAD.match(self.text, label.end) if _silent(self._before(label)) else None
        return following is not None and following[1] != label.text

    def heads_line(self, label: Label) -> bool:
        """Say whether the label, set off by a full stop, a colon or a bracket, begins its line."""
        return self.text[label.end : label.end + 1] in (".", ":", ")") and _silent(self._before(label))

    def _before(self, label: Label) -> str:
        """Return what stands before the label on its line (its last characters only, of a long line)."""
        earliest = max(0, label.start - _LINE_LEAD - 1)
        line_start = self.text.rfind("\n", earliest, label.start) + 1
        return self.text[max(line_start, earliest) : label.start]

    def _is_alone(self, label: Label, *, is_first: bool, is_last: bool) -> bool:
        if is_first and is_last:
            return True
        return label.capital and not self.is_listed(label) and (is_last or not self._heads_elsewhere(label))

    def _opens(self, label: Label, own_text_follows: bool) -> bool:
        after = self.text[label.end : label.end + 24]
        if not (own_text_follows or _OPENED.match(after)) or _SPECIES.match(after) or _INITIALS.match(after):
            return False
        if label.text == "I" and after[:1] in (" ", "-", "–", "—"):
            return False
        if not label.capital and (len(self.text) > _SHORT or "\n" in self.text.strip() or after[0] not in ")."):
            return False
        return not self.is_listed(label) and not self._lists_inline(label)

    def _lists_inline(self, label: Label) -> bool:
        """Say whether "A. red B. blue" goes on from the label: the options copied on one line."""
        heads = _INLINE_HEAD.findall(self.text, max(0, label.start - 1), label.start + _LOOKED_AHEAD)
        following = "ii" if label.text in ("i", "I") else chr(ord(label.text[0]) + 1)
        return following in heads or following.upper() in heads

    def _heads_elsewhere(self, label: Label) -> bool:
        """Say whether other labels head lines outside a list, too: then they are headings, not choices."""
        return bool(self._headings - {label.text})

    @cached_property
    def _heads(self) -> list[tuple[int, str]]:
        return [(head.start(1), head[1]) for head in _HEAD.finditer(self.text)]

    @cached_property
    def _headings(self) -> frozenset[str]:
        return frozenset(name for start, name in self._heads if name in self.options and start not in self._listed)

    @cached_property
    def _listed(self) -> frozenset[int]:
        """The starts of the labels that head lines in runs: "A, B", or any three in their order."""
        order = {option: i for i, option in enumerate(self.options)}
        listed: set[int] = set()
        run: list[tuple[int, int]] = []
        for start, place in [*((start, order.get(name, -9)) for start, name in self._heads), (0, -99)]:
            if run and place == run[-1][1] + 1:
                run.append((start, place))
                continue
            if len(run) > 2 or (len(run) == 2 and run[0][1] == 0):
                listed.update(start for start, _ in run)
            run = [(start, place)]
        return frozenset(listed)
