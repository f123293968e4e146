"""The extraction: labels read from the last to the first until one is an explicit choice.

Rules, as recorded: `cue`, `label_first` ("B is correct"), `boxed`, `alone`, `last_line`, `start`; weaker, only
where none of these fired: `hedged`, `option_text`, `bold`, `bracket`. `undecided` is two labels claimed together,
`none` no choice at all.
"""

from __future__ import annotations

import re

from alodlm.score.choice import vocabulary as v
from alodlm.score.choice.cues import Reading, read_before
from alodlm.score.choice.labels import Label, ends_here, find_labels, group
from alodlm.score.choice.markup import BOX, plain
from alodlm.score.choice.option_texts import continues_as_option, copied_option

_NEGATIVE_QUESTION = re.compile(r"\b(?:incorrect|wrong|false|except|not|least)\b", re.IGNORECASE)
_BOLD = re.compile(
    r"(?:\*\*|__|\\textbf\{|<b>|<strong>)\s?[(\[]?(\w{1,2})[)\].:]{0,2}(?=\W)([^*_\n<{}]{0,120}?)(?:\*\*|__|\}|</)"
)
_LISTED = re.compile(r"^[^\w\n]{0,6}(\w{1,2})(?:[).:\]]|[^\w\n]{0,6}$)", re.MULTILINE)
_NAMED = re.compile(r"(?i:option|choice|answer|letter|alternative)\s{1,2}[(\[]?$")
_STARTED = re.compile(
    r"""["'”’]?(?:\s*$ | [ \t]*\n | [)\].:]{0,2},?\s{1,3}(?:because|since|as|due|for|weil|denn|parce|porque|perché|потому)\b
      | [)\].:!]{1,2}["'”’]?\s{1,3}(?!(?:is|are|was|has|have|had|does|do|did|can|could|would|will|and|or|represents|refers
          |states|says|describes|mentions|fails|cannot|may|might)\b)
      | [)\].:]{1,2}(?=[A-Z][a-z]{2}|\() | \s{1,3}[-–—(] | [。、，])""",
    re.VERBOSE,
)
_LAST_SENTENCE = re.compile(r"(?:\w{3,}|[)\]\"”]|\b[A-Za-z]{2,}\s[A-Z])[.!?]\s{1,3}[(\[]?$")
_INLINE = re.compile(r"(?<!\w)\(?(\w{1,2})[).]\s")
_SPECIES = re.compile(
    r"\.\s(?:coli|elegans|melanogaster|subtilis|difficile|pylori|aureus|thaliana|cerevisiae|cereus|anthracis|botulinum"
    r"|perfringens|albicans|influenzae|faecalis|burgdorferi|pneumoniae|gondii|sapiens|diphtheriae|trachomatis)\b"
)
_SENTENCE_END = re.compile(r"[.!?。！？](?=\s|$)|\n")
_QUESTION_PROMPT_CHARACTERS = 1500


def extract(text: str, options: tuple[str, ...], prompt: str = "") -> tuple[str | None, str]:
    """Return the chosen label, or None, and the rule that decided."""
    return _Answer(text, options, prompt).choose()


class _Answer:
    def __init__(self, text: str, options: tuple[str, ...], prompt: str) -> None:
        self.raw, self.options, self.prompt = text, options, prompt
        self.text = plain(text)
        self.labels = find_labels(self.text, options)
        self.hedged: str | None = None
        self.affirmed: list[tuple[str, int]] = []
        self._listed: frozenset[int] | None = None
        self._negative: bool | None = None

    def choose(self) -> tuple[str | None, str]:
        for joined in reversed(group(self.text, self.labels)):
            label, rule = self._judge(joined)
            if rule == "undecided":
                return (None, rule) if not self._affirmed_label() else (self._affirmed_label(), "label_first")
            if label is not None:
                later = self._affirmed_label(joined[-1].end)
                return (later, "label_first") if later else (label, rule)
        if later := self._affirmed_label():
            return later, "label_first"
        return self._fallback()

    # One group of labels

    def _judge(self, joined: list[Label]) -> tuple[str | None, str]:
        first, last = joined[0], joined[-1]
        if len({label.text.casefold() for label in joined}) > 1:
            return self._judge_several(joined)
        if v.NEGATED_AFTER.match(self.text, last.end):
            return None, "none"
        over = ends_here(self.text, last) or self._is_named(last) or self._own_text_follows(last)
        if not over or last.name is None:
            return self._affirm(joined) if last.name else (None, "none")
        if self._is_boxed(first):
            return first.name, "boxed"
        reading = self._read(first)
        if reading is Reading.CLAIMED and not self._is_listed(first) and not self._is_asked(last):
            if first.native and not first.bracketed and reading is not Reading.CLAIMED:
                return None, "none"
            return (None, "undecided") if self._another_follows(last) else (first.name, "cue")
        if reading is Reading.HEDGED and self.hedged is None:
            self.hedged = first.name
        if reading in (Reading.DENIED, Reading.HEDGED):
            return None, "none"
        return (
            self._judge_place(first, reading) if first.capital or first.bracketed or first.start < 2 else (None, "none")
        )

    def _judge_several(self, joined: list[Label]) -> tuple[str | None, str]:
        first = joined[0]
        if not ends_here(self.text, joined[-1]):
            return None, "none"
        if self._is_boxed(first) or (self._read(first) is Reading.CLAIMED and not self._is_asked(joined[-1])):
            return None, "undecided"
        return None, "none"

    def _judge_place(self, label: Label, reading: Reading) -> tuple[str | None, str]:
        if (place := self._place(label, reading)) is not None:
            return label.name, place
        return self._affirm([label])

    def _affirm(self, joined: list[Label]) -> tuple[str | None, str]:
        label = joined[0]
        if not label.capital and not label.bracketed:
            return None, "none"
        matched = v.LABEL_FIRST.match(self.text, label.end)
        if not matched and not self.text.isascii():
            matched = v.GLUED_AFTER.match(self.text, label.end)
        if matched and not self._is_asked(label, matched.end()) and self._read(label) not in (Reading.DENIED,):
            self.affirmed.append((label.name or "", label.start))
        return None, "none"

    def _affirmed_label(self, after: int = -1) -> str | None:
        """Return the one label that was said to be correct after position `after`; several are a discussion."""
        names = {name for name, start in self.affirmed if start > after and not self._explains(after, start)}
        return names.pop() if len(names) == 1 else None

    def _explains(self, after: int, start: int) -> bool:
        """Say whether position `start` lies in the sentence of the claim that ended at `after`."""
        return after >= 0 and _SENTENCE_END.search(self.text, after, start) is None

    # Cues and places

    def _read(self, label: Label) -> Reading:
        if self._negative is None:
            self._negative = bool(_NEGATIVE_QUESTION.search(self.prompt[-_QUESTION_PROMPT_CHARACTERS:]))
        return read_before(self.text, label.start, bracketed=label.bracketed, negative_question=self._negative)

    def _is_named(self, label: Label) -> bool:
        return label.capital and _NAMED.search(self.text[max(0, label.start - 16) : label.start]) is not None

    def _own_text_follows(self, label: Label) -> bool:
        return (
            label.name is not None
            and label.capital
            and continues_as_option(self.text, label.end, label.name, self.prompt, self.options)
        )

    def _is_boxed(self, label: Label) -> bool:
        before = self.text[max(0, label.start - 24) : label.start].rstrip(" ([{\n")
        for noun in ("option", "choice", "answer", ":", "is", "the"):
            before = before.removesuffix(noun).rstrip() if not before.endswith(BOX) else before
        return before.endswith(BOX)

    def _is_asked(self, label: Label, end: int | None = None) -> bool:
        """Say whether the sentence around the label is a question."""
        over = _SENTENCE_END.search(self.text, label.end if end is None else end)
        return over is not None and over[0] in "?？" and over.start() - label.end < 200

    def _another_follows(self, label: Label) -> bool:
        """Say whether "(A) supply and (C) demand" goes on to claim a second label."""
        over = _SENTENCE_END.search(self.text, label.end + 2)
        end = min(over.start() if over else len(self.text), label.end + 120)
        return any(
            other.start > label.end and other.text.casefold() != label.text.casefold()
            and re.search(r"\b(?:and|or)\s{1,2}\(?$", self.text[max(0, other.start - 8) : other.start]) is not None
            and not v.NEGATED_AFTER.match(self.text, other.end)
            for other in self.labels
            if other.bracketed and label.end < other.start < end
        )  # fmt: skip

    def _place(self, label: Label, reading: Reading) -> str | None:
        """Return the rule by which the label's place makes it a choice."""
        text = self.text
        line_start = text.rfind("\n", 0, label.start) + 1
        line_end = text.find("\n", label.end)
        line_end = len(text) if line_end < 0 else line_end
        led = not any(ch.isalnum() for ch in text[line_start : label.start]) or (
            reading is Reading.NAMED and len(text[line_start : label.start].split()) <= 3
        )
        is_last = not text[line_end:].strip()
        over = not any(ch.isalnum() for ch in text[label.end : line_end])
        if is_last and over and label.capital and _LAST_SENTENCE.search(text[max(0, label.start - 24) : label.start]):
            return "alone"
        if not led:
            return None
        if over and label.capital | label.bracketed | is_last:
            return "alone" if self._is_alone(label, is_last, not text[:line_start].strip()) else None
        if not text[:line_start].strip() and self._starts(label):
            return "start"
        delimited = label.bracketed or text[label.end : label.end + 1] in (")", ".", ":")
        if is_last and delimited and label.capital and self._starts(label) and not self._other_lines(label):
            return "last_line"
        return None

    def _is_alone(self, label: Label, is_last: bool, is_first: bool) -> bool:
        if not label.capital and not (is_last and is_first):
            return False
        if is_last and is_first:
            return True
        return not self._is_listed(label) and (is_last or not self._other_lines(label))

    def _starts(self, label: Label) -> bool:
        after = self.text[label.end : label.end + 24]
        if not _STARTED.match(after):
            return False
        if self._is_listed(label) or _SPECIES.match(after) or (label.text == "I" and after[:1] in ", -–—'"):
            return False
        if not label.capital and not label.bracketed:
            return after.startswith((")", ".")) and "\n" not in self.text.strip()
        return not (re.match(r"\.\s?[A-Z]\.", after) or self._lists_inline(label))

    def _lists_inline(self, label: Label) -> bool:
        """Say whether "A. red B. blue" goes on from the label: the options copied on one line."""
        heads = [match[1] for match in _INLINE.finditer(self.text, max(0, label.start - 1), label.start + 2000)]
        return "".join(heads[:2]) in "".join(self.options) and len(heads) > 1

    def _is_listed(self, label: Label) -> bool:
        """Say whether the label heads a line in a run of lines that lists the options."""
        return label.start in self._listed_starts()

    def _listed_starts(self) -> frozenset[int]:
        if self._listed is None:
            self._listed = self._find_listed()
        return self._listed

    def _find_listed(self) -> frozenset[int]:
        order = {option: i for i, option in enumerate(self.options)}
        heads = [(m.start(1), order.get(m[1], -9)) for m in _LISTED.finditer(self.text)]
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

    def _other_lines(self, label: Label) -> bool:
        """Say whether other labels, too, head lines: then they are headings, not choices."""
        return any(
            match[1] in self.options and match[1] != label.text and match.start(1) not in self._listed_starts()
            for match in _LISTED.finditer(self.text)
        )

    # Weaker signs

    def _fallback(self) -> tuple[str | None, str]:
        if self.hedged is not None:
            return self.hedged, "hedged"
        if copied := copied_option(self.text, self.prompt, self.options):
            return copied, "option_text"
        bold = {m[1] for m in _BOLD.finditer(self.raw) if m[1] in self.options and not self._is_denied(self.raw, m)}
        if len(bold) == 1 and not any(word.islower() for word in bold):
            return bold.pop(), "bold"
        return self._bracketed()

    def _is_denied(self, text: str, match: re.Match[str]) -> bool:
        word = text[max(0, match.start() - 16) : match.start()].lower().split()[-1:]
        after = text[match.end() : match.end() + 40]
        article = match[1] in ("A", "I") and match[2][:1] == " "
        return bool(word and word[0] in v.NEGATORS) or v.NEGATED_AFTER.match(after) is not None or article

    def _bracketed(self) -> tuple[str | None, str]:
        """Accept the one label in brackets that ends the last sentence."""
        bracketed = [label for label in self.labels if label.bracketed and label.capital]
        if len({label.text for label in bracketed}) != 1:
            return None, "none"
        label = bracketed[-1]
        ends = not any(ch.isalnum() for ch in self.text[label.end :])
        if label.name is None or not ends or self._read(label) is Reading.DENIED:
            return None, "none"
        attached = label.start > 1 and self.text[label.start - 2].isalnum()
        return (None, "none") if attached else (label.name, "bracket")
