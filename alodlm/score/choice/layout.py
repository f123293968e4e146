"""Where a label stands: alone on a line, at the start, heading the last line, or in a copied list of options."""

from __future__ import annotations

import re

from alodlm.score.choice.labels import Label

_HEAD = re.compile(r"^[^\w\n]{0,6}(?:(?:[Oo]ption|[Cc]hoice)\s)?(\w{1,2})(?:[).:\]]|[^\w\n]{0,6}$)", re.MULTILINE)
_NEXT_HEAD = re.compile(r"[^\n]*\n\s{0,8}[^\w\n]{0,6}([A-Z]|\d{1,2})[).:\]]")
_INLINE_HEAD = re.compile(r"(?<!\w)\(?(\w{1,2})[).]\s")
_REASON = "because|since|as|due|for|weil|denn|parce|porque|perché|потому"
_DISCUSSING = (
    "is|are|was|has|have|had|does|do|did|can|could|would|will|and|or|represents|refers|states|says|describes|mentions"
    "|fails|cannot|may|might"
)
# What may follow a label that opens the answer; "(A) is heavy" begins a discussion.
_OPENED = re.compile(
    rf"""["'”’]?(?: [ \t]*(?:\n|\Z) | [)\].:]{{0,2}},?[ ]{{1,3}}(?:{_REASON})\b
      | [)\].:!]{{1,2}}["'”’]?(?:\Z|\s{{1,3}}(?!(?:{_DISCUSSING})\b)) | [)\].:]{{1,2}}(?=[A-Z][a-z]{{2}}|\()
      | \s{{1,3}}[-–—(] | [。、，])""",
    re.VERBOSE,
)
_LOOKED_AHEAD = 4000
_SPECIES = re.compile(
    r"\.\s(?:coli|elegans|melanogaster|subtilis|difficile|pylori|aureus|thaliana|cerevisiae|cereus|anthracis|botulinum"
    r"|perfringens|albicans|influenzae|faecalis|burgdorferi|pneumoniae|gondii|sapiens|diphtheriae|trachomatis)\b"
)
_INITIALS = re.compile(r"\.\s?[A-Z]\.")
# "Not A. Not B. D." but not "John Q. D." or "Ph. D."
_NEW_SENTENCE = re.compile(r"(?:\w{3,}|[)\]\"”]|\b[A-Za-z]{2,}\s[A-Z])[.!?]\s{1,3}[(\[]?$")


def _silent(text: str) -> bool:
    return not any(character.isalnum() for character in text)


class Layout:
    """The lines of one answer and what they list."""

    def __init__(self, text: str, options: tuple[str, ...]) -> None:
        self.text, self.options = text, options
        self._listed_starts: frozenset[int] | None = None

    def place(self, label: Label, *, named: bool) -> str | None:
        """Return the rule by which the label's place makes it a choice; `named` says that "option" precedes it."""
        text = self.text
        line_start = text.rfind("\n", 0, label.start) + 1
        line_end = text.find("\n", label.end)
        line_end = len(text) if line_end < 0 else line_end
        is_first, is_last = not text[:line_start].strip(), not text[line_end:].strip()
        ends_line = _silent(text[label.end : line_end])
        before = text[line_start : label.start]
        if not (_silent(before) or (named and len(before.split()) <= 3)):
            leads = label.capital and is_last and ends_line
            return "alone" if leads and _NEW_SENTENCE.search(text[max(0, label.start - 24) : label.start]) else None
        if ends_line:
            return "alone" if self._is_alone(label, is_first=is_first, is_last=is_last) else None
        if is_first:
            return "start" if self._opens(label) else None
        heads_last = is_last and label.capital and self._opens(label) and not self._heads_elsewhere(label)
        return "last_line" if heads_last else None

    def is_listed(self, label: Label) -> bool:
        """Say whether the label heads a line in a run of lines that lists the options."""
        return label.start in self._listed()

    def lists_several(self, label: Label) -> bool:
        """Say whether the label's own line is followed by a line that another label heads."""
        before = self.text[self.text.rfind("\n", 0, label.start) + 1 : label.start]
        following = _NEXT_HEAD.match(self.text, label.end) if _silent(before) else None
        return following is not None and following[1] != label.text

    def heads_line(self, label: Label) -> bool:
        """Say whether the label, set off by a full stop, a colon or a bracket, begins its line."""
        before = self.text[self.text.rfind("\n", 0, label.start) + 1 : label.start]
        return self.text[label.end : label.end + 1] in (".", ":", ")") and _silent(before)

    def _is_alone(self, label: Label, *, is_first: bool, is_last: bool) -> bool:
        if is_first and is_last:
            return True
        return label.capital and not self.is_listed(label) and (is_last or not self._heads_elsewhere(label))

    def _opens(self, label: Label) -> bool:
        after = self.text[label.end : label.end + 24]
        if not _OPENED.match(after) or _SPECIES.match(after) or _INITIALS.match(after):
            return False
        if label.text == "I" and after[:1] in (" ", "-", "–", "—"):
            return False
        if not label.capital and not label.bracketed and ("\n" in self.text.strip() or after[0] not in ")."):
            return False
        return not self.is_listed(label) and not self._lists_inline(label)

    def _lists_inline(self, label: Label) -> bool:
        """Say whether "A. red B. blue" goes on from the label: the options copied on one line."""
        heads = _INLINE_HEAD.findall(self.text, max(0, label.start - 1), label.start + _LOOKED_AHEAD)
        following = "ii" if label.text in ("i", "I") else chr(ord(label.text[0]) + 1)
        return following in heads or following.upper() in heads

    def _heads_elsewhere(self, label: Label) -> bool:
        """Say whether other labels head lines outside a list, too: then they are headings, not choices."""
        return any(
            head[1] in self.options and head[1] != label.text and head.start(1) not in self._listed()
            for head in _HEAD.finditer(self.text)
        )

    def _listed(self) -> frozenset[int]:
        if self._listed_starts is None:
            self._listed_starts = self._find_listed()
        return self._listed_starts

    def _find_listed(self) -> frozenset[int]:
        order = {option: i for i, option in enumerate(self.options)}
        heads = [(head.start(1), order.get(head[1], -9)) for head in _HEAD.finditer(self.text)]
        listed: set[int] = set()
        run: list[tuple[int, int]] = []
        for head in [*heads, (0, -99)]:
            if run and head[1] == run[-1][1] + 1:
                run.append(head)
                continue
            if len(run) > 2 or (len(run) == 2 and run[0][1] == 0):
                listed.update(start for start, _ in run)
            run = [head]
        return frozenset(listed)
