"""The extraction: labels read from the last to the first until one is an explicit choice.

Rules, as recorded: `cue`, `label_first` ("B is correct"), `boxed`, `alone`, `last_line`, `start`; weaker, only
where none of these fired: `hedged`, `option_text`, `bold`, `bracket`. `undecided` is two labels claimed together,
`none` no choice at all.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from itertools import islice

from alodlm.score.choice import vocabulary as v
from alodlm.score.choice.cues import Reading, answers_in_words, concludes, read_before, speaks_of_none
from alodlm.score.choice.labels import Label, ends_here, find_labels, group
from alodlm.score.choice.layout import Layout
from alodlm.score.choice.markup import BOX, plain
from alodlm.score.choice.option_texts import continues_as_option, copied_option

Verdict = tuple[str | None, str]

_NOTHING: Verdict = (None, "none")
_UNDECIDED: Verdict = (None, "undecided")
_NAMES = ("option", "choice", "answer", "letter", "alternative")
_BOX_NOUNS = ("option", "choice", "answer", "the", ":", "is")
_NEGATIVE_QUESTION = re.compile(r"\b(?:incorrect|wrong|false|except|not|least)\b", re.IGNORECASE)
_QUESTION_CHARACTERS = 1500
_SENTENCE_END = re.compile(r"[.!?。！？](?=\s|$)|\n")
_LONGEST_QUESTION = 200
# So many empty lines: the model has left its answer behind.
_GAP = re.compile(r"\n{4}")
_AND = re.compile(r"\b(?:and|or)\s{1,2}\(?$")
_REASON = re.compile(
    r"[.!?。！？](?=\s|$)|\n|\b(?:because|since|as|while|whereas|but|not|unlike|rather|instead|than)\b"
)
_VERB = re.compile(r"\)?\s(?:is|are|was|were|has|have|can|cannot|does|do|would|will|fails|gives)\b")
_DOTTED = re.compile(r"\. (?![A-Z]\.)")
_JOINED_WITHIN = 120
_LONGEST_JOIN = 8
_MAXIMUM_EMPHASIS = 1000
_BOLD = re.compile(
    r"(?:\*\*|__|\\textbf\{|<b>|<strong>)\s?[(\[]?(\w{1,2})[)\].:]{0,2}(?=\W)([^*_\n<{}]{0,120}?)(?:\*\*|__|\}|</)"
)


def extract(text: str, options: tuple[str, ...], prompt: str = "") -> Verdict:
    """Return the chosen label, or None, and the rule that decided."""
    return _Answer(text, options, prompt).choose()


class _Answer:
    """One answer's text with its labels; `hedged` and `affirmed` collect weaker and label-first claims."""

    def __init__(self, text: str, options: tuple[str, ...], prompt: str) -> None:
        self.raw, self.options, self.prompt = text, options, prompt
        self.text = plain(text)
        self.labels = find_labels(self.text, options)
        self.layout = Layout(self.text, options)
        self.has_box = BOX in self.text
        self.hedged: str | None = None
        self.affirmed: list[tuple[str, int]] = []

    def choose(self) -> Verdict:
        for joined in reversed(group(self.text, self.labels)):
            verdict = self._judge(joined)
            if verdict == _UNDECIDED and (copied := self._copied()):
                return copied, "option_text"  # an option may read "both A and B"
            if verdict[1] != "none":
                later = self._affirmed_after(joined[-1].end)
                return (later, "label_first") if later else verdict
        if later := self._affirmed_after(-1):
            return later, "label_first"
        return (self.labels[0].name, "alone") if self._only_repeats() else self._weaker()

    def _only_repeats(self) -> bool:
        """Say whether the text is one capital label, over and over."""
        if len({label.text for label in self.labels}) != 1 or not self.labels[0].capital:
            return False
        written = sum(character.isalnum() for character in self.text)
        return written == sum(label.end - label.start for label in self.labels)

    def _judge(self, joined: list[Label]) -> Verdict:
        first, last = joined[0], joined[-1]
        if v.REFUTED.match(self.text, last.end):
            return _NOTHING
        several = len({label.text.casefold() for label in joined}) > 1
        if last.name is None and not several:
            return _NOTHING
        over = ends_here(self.text, last) or self._is_named(last) or self._own_text_follows(last)
        if over and self._is_claimed(first, last):
            several = several or self._another_follows(last) or self.layout.lists_several(last)
            return _UNDECIDED if several else (first.name, "cue")
        if several:
            return _UNDECIDED if over and self._is_boxed(first) else _NOTHING
        return self._judge_place(first, over=over)

    def _is_claimed(self, first: Label, last: Label) -> bool:
        reading = self._read(first)
        if reading is Reading.HEDGED and self.hedged is None and first is last:
            self.hedged = first.name
        return reading is Reading.CLAIMED and not self.layout.is_listed(first) and not self._is_asked(last.end)

    def _judge_place(self, label: Label, *, over: bool) -> Verdict:
        """Judge a label that no words before it claim."""
        if over and self._is_boxed(label):
            return label.name, "boxed"
        reading = self._read(label)
        if reading in (Reading.DENIED, Reading.HEDGED) or self._is_marked_wrong(label):
            return _NOTHING
        if label.bracketed and label.capital and label.name and self._states_in_words(label):
            return label.name, "cue"
        if over and (place := self._place(label, reading)):
            return label.name, place
        if label.capital and label.name is not None and self._is_affirmed(label):
            self.affirmed.append((label.name, label.start))
        return _NOTHING

    def _place(self, label: Label, reading: Reading) -> str | None:
        own = self._own_text_follows(label)
        return self.layout.place(label, named=reading is Reading.NAMED, own_text_follows=own)

    def _is_marked_wrong(self, label: Label) -> bool:
        if v.MARKED_WRONG.match(self.text, label.end):
            return True
        return len(self.labels) > 1 and v.MARKED_FALSE.match(self.text, label.end) is not None

    def _states_in_words(self, label: Label) -> bool:
        """Say whether "The answer is osmosis (C)." ends with the label, the only one of its sentence."""
        end = label.end + 1
        if self.text[end : end + 1] not in ("", ".", ",", "!", "\n") or not answers_in_words(self.text, label.start):
            return False
        earlier = bisect_left(self.labels, label.start, key=lambda other: other.start)
        near = [other for other in self.labels[max(0, earlier - 20) : earlier] if other.bracketed]
        return not near or _SENTENCE_END.search(self.text, near[-1].end, label.start) is not None

    def _is_affirmed(self, label: Label) -> bool:
        matched = v.LABEL_FIRST.match(self.text, label.end)
        if not matched and not self.text.isascii():
            matched = v.GLUED_AFTER.match(self.text, label.end)
        if not matched and self.text[max(0, label.start - 8) : label.start].lower().rstrip(" (").endswith("only"):
            matched = v.ONLY_ONE.match(self.text, label.end)
        if not matched or self._is_asked(matched.end()):
            return False
        return not speaks_of_none(self.text, label.start)

    def _affirmed_after(self, position: int) -> str | None:
        """Return the one label said to be correct in a sentence after `position`; several are a discussion."""
        over = _SENTENCE_END.search(self.text, position) if position >= 0 and self.affirmed else None
        earliest = over.end() if over else (-1 if position < 0 else len(self.text))
        names = {name for name, start in self.affirmed if start >= earliest}
        return names.pop() if len(names) == 1 else None

    def _read(self, label: Label) -> Reading:
        marked = label.bracketed or self.layout.heads_line(label)
        reading = read_before(self.text, label.start, bracketed=marked)
        if reading is Reading.REVERSED:
            asked = _NEGATIVE_QUESTION.search(self.prompt[-_QUESTION_CHARACTERS:])
            return Reading.CLAIMED if asked else Reading.DENIED
        return reading

    def _is_named(self, label: Label) -> bool:
        before = self.text[max(0, label.start - 16) : label.start].rstrip(" ([")
        return label.capital and before.lower().endswith(_NAMES)

    def _own_text_follows(self, label: Label) -> bool:
        if label.name is None or not label.capital:
            return False
        return continues_as_option(self.text, label.end, label.name, self.prompt, self.options)

    def _is_boxed(self, label: Label) -> bool:
        if not self.has_box:
            return False
        before = self.text[max(0, label.start - 24) : label.start].lower().rstrip(" ([{\n")
        for noun in _BOX_NOUNS * 2:
            before = before.removesuffix(noun).rstrip()
        return before.endswith(BOX)

    def _is_asked(self, end: int) -> bool:
        """Say whether the sentence that goes on at `end` is a question."""
        over = _SENTENCE_END.search(self.text, end, end + _LONGEST_QUESTION)
        return over is not None and over[0] in "?？"

    def _another_follows(self, label: Label) -> bool:
        """Say whether "(A) supply and (C) demand" or "A. supply and C. demand" goes on to claim a second label."""
        over = _REASON.search(self.text, label.end + 1, label.end + _JOINED_WITHIN)
        end = over.end() if over else label.end + _JOINED_WITHIN
        dotted = self.text[label.end : label.end + 1] == "."
        first = bisect_left(self.labels, label.end, key=lambda other: other.start)
        previous = label
        for other in self.labels[first : first + _JOINED_WITHIN]:
            if other.start >= end:
                return False
            alone = other.start - previous.end > _LONGEST_JOIN or previous is label
            if (other.bracketed or (dotted and alone and _DOTTED.match(self.text, other.end))) and (
                _AND.search(self.text, max(0, other.start - 8), other.start)
                and other.text.casefold() != label.text.casefold()
                and not _VERB.match(self.text, other.end)
            ):
                return True
            previous = other
        return False

    def _weaker(self) -> Verdict:
        if self.hedged is not None:
            return self.hedged, "hedged"
        if copied := self._copied():
            return copied, "option_text"
        emphasised = islice(_BOLD.finditer(self.raw), _MAXIMUM_EMPHASIS)
        bold = {match[1] for match in emphasised if self._counts_as_bold(match)}
        return (bold.pop(), "bold") if len(bold) == 1 else self._bracketed()

    def _copied(self) -> str | None:
        return copied_option(self.text, self.prompt, self.options)

    def _counts_as_bold(self, match: re.Match[str]) -> bool:
        if match[1] not in self.options or match[1].islower() or (match[1] in ("A", "I") and match[2][:1] == " "):
            return False
        word = self.raw[max(0, match.start() - 16) : match.start()].lower().split()[-1:]
        denied = word and word[0] in v.NEGATORS
        return (
            not denied
            and not v.REFUTED.match(self.raw, match.end())
            and not v.MARKED_WRONG.match(self.raw, match.end())
        )

    def _bracketed(self) -> Verdict:
        """Accept the label in brackets that ends the text, if it is the only one, or the last sentence concludes."""
        bracketed = [label for label in self.labels if label.bracketed and label.capital]
        if not bracketed or bracketed[-1].name is None:
            return _NOTHING
        label = bracketed[-1]
        rest = _GAP.split(self.text[label.end :], maxsplit=1)[0]
        ends = not any(character.isalnum() for character in rest)
        only = len({other.text for other in bracketed}) == 1
        if not ends or not (only or self._concludes(label, bracketed)) or self._read(label) is Reading.DENIED:
            return _NOTHING
        return label.name, "bracket"

    def _concludes(self, label: Label, bracketed: list[Label]) -> bool:
        before = bracketed[-2]
        return (
            concludes(self.text, label.start) and _SENTENCE_END.search(self.text, before.end, label.start) is not None
        )
