"""Reading the words before a label: do they claim it as the answer, hedge, deny it, or merely mention it?

The clause before the label is read backwards, word by word: fillers, then a link (a colon, "is", "go with"), then
who it is about. Only clauses about the answer count; a denied or supposed one does not.
"""

from __future__ import annotations

import re
from enum import Enum

from alodlm.score.choice import vocabulary as v
from alodlm.score.choice.labels import OPENERS

_SEEN_CHARACTERS = 180
_CLAUSE_END = re.compile(r"[\n.!?;।。！？；](?=\s|$|(?<=[\n。！？；]))")
_TOKEN = re.compile(
    r"(?:[^\W\d_]|[\u0300-\u036f\u064b-\u0655\u0900-\u0dff])+(?:['’](?:[^\W\d_])+)?|\d+|[:=→⇒,(—–-]|(?<=\s)\|"
)
_COLONS = frozenset(":=|→⇒—–-")
_SUBJECT_WORDS = 10
_COLON_WORDS = 6
_DETERMINERS = ("a", "the", "that", "this", "and", "so", "then", "my", "our", "your")
_CONTRAST_WORDS = 12


class Reading(Enum):
    """What the words before a label say about it."""

    CLAIMED = "claimed"
    HEDGED = "hedged"
    DENIED = "denied"
    REVERSED = "reversed"  # "the incorrect option is B": a claim only where that was asked
    NAMED = "named"  # "option B": a label, nothing said about it
    NOTHING = "nothing"


def clause_before(text: str, start: int) -> tuple[str, list[str]]:
    """Return the clause that leads to position `start`, and its words in lower case; links keep their sign."""
    window = text[max(0, start - _SEEN_CHARACTERS) : start]
    body = window.rstrip(OPENERS)
    tail = window[len(body) :]
    cut = 0
    for cut_match in _CLAUSE_END.finditer(body):
        if body[max(0, cut_match.start() - 3) : cut_match.start()].lower() != "ans":
            cut = cut_match.end()
    clause = body[cut:]
    words = _TOKEN.findall(clause.lower())
    if "'" in clause or "’" in clause:
        words = [part for word in words for part in _apart(word.replace("’", "'"))]
    for sign in tail:
        if sign in ":=→" or (sign == "|" and " |" in tail) or (sign in "—–-" and "\n" not in tail):
            words.append(sign)
            break
    if "\n" in tail and words and words[-1] not in _COLONS and words[-1] not in v.COPULAS:
        return "", []
    return clause, words


def _apart(word: str) -> list[str]:
    """Part "answer's" and "l'option" into their words; "don't" and "it's" stay as they are."""
    first, sign, second = word.partition("'")
    if not sign or word in v.PRONOUNS or word in v.NEGATORS:
        return [word]
    if second == "s":
        return [first, "is"]
    return [word] if second in ("d", "ll", "ve", "re", "m", "t") else [second]


def read_before(text: str, start: int, *, bracketed: bool) -> Reading:
    """Say what the words before the label at `start` claim about it."""
    clause, words = clause_before(text, start)
    if not words:
        return Reading.NOTHING
    if not clause.isascii() and v.GLUED_BEFORE.search(
        text[max(0, start - 40) : start].rstrip(OPENERS.replace(":", ""))
    ):
        return Reading.CLAIMED
    position, named, answer_named = _skip_fillers(words)
    if position == 0:
        claimed = answer_named or any(word in v.ADVERBS for word in words)
        return Reading.CLAIMED if claimed else (Reading.NAMED if named else Reading.NOTHING)
    return _Clause(words, bracketed or named).read(position, named, answer_named)


def answers_in_words(text: str, start: int) -> bool:
    """Say whether the sentence before the bracketed label at `start` states the answer: "The answer is osmosis (C)"."""
    _, words = clause_before(text, start)
    if any(word in v.NEGATORS or word in v.WRONG or word in v.SUPPOSING or word in v.HEDGES for word in words):
        return False
    subject = next((k for k, word in enumerate(words) if word in v.SUBJECT_NOUNS), None)
    return subject is not None and any(word in v.COPULAS or word == ":" for word in words[subject + 1 : -1])


def speaks_of_none(text: str, start: int) -> bool:
    """Say whether the clause before `start` is about none of its labels, or all but the one at `start`."""
    words = clause_before(text, start)[1]
    return not v.NONE.isdisjoint(words) or (words[-1:] == ["but"] and not v.ALL.isdisjoint(words))


def concludes(text: str, start: int) -> bool:
    """Say whether the sentence before the label at `start` draws a conclusion: "Therefore it is osmosis (C)"."""
    _, words = clause_before(text, start)
    return any(word in v.CONCLUSIVE for word in words[:2]) and not any(word in v.NEGATORS for word in words)


def _skip_fillers(words: list[str]) -> tuple[int, bool, bool]:
    """Return where the fillers before the label begin, and whether they name an option, or the answer."""
    i, named, answer_named = len(words), False, False
    while i:
        word = words[i - 1]
        if word in v.OPTION_NOUNS or word in v.ANSWER_NOUNS:
            named, answer_named = True, answer_named or word in v.ANSWER_NOUNS
        elif word == ",":
            near = words[i - 2 : i + 1]  # a comma belongs to the parenthesis that it opens or closes
            if i < 2 or not any(word in v.PARENTHETICAL or word in v.THINKING_VERBS for word in near):
                break
        elif word in v.THINKING_VERBS and i > 1 and words[i - 2] == "i" and i > 2:
            i -= 1
        elif word == "(" or (word == "a" and _is_no_article(words, i)):
            pass
        elif word not in v.FILLERS or (i == 1 and (word in v.CONCLUSIVE or word in v.REVISING)):
            break
        i -= 1
    return i, named, answer_named


def _is_no_article(words: list[str], i: int) -> bool:
    """Say whether `words[i - 1]`, an "a", leads to a "combination of" labels or is Portuguese: "é a letra C"."""
    following = words[i] if i < len(words) else ""
    return following in ("combination", "mix") or following in v.OPTION_NOUNS or (i > 1 and words[i - 2] == "é")


class _Clause:
    """One clause that leads to a label, read from its link backwards."""

    def __init__(self, words: list[str], bracketed: bool) -> None:
        self.words, self.bracketed = words, bracketed

    def read(self, position: int, named: bool, answer_named: bool) -> Reading:
        """Read the clause whose link is `words[position - 1]`; the flags say what the words after it name."""
        words, link = self.words, self.words[position - 1]
        before = words[position - 2] if position > 1 else ""
        if link in _COLONS:
            return self._colon(position - 1)
        if link in v.PRONOUNS and "'" in link:
            return self._deny_or(position - 1, Reading.CLAIMED)
        if link in v.NEGATORS or link in v.SUPPOSING or (link == "out" and before.startswith("rul")):
            return Reading.DENIED
        if link in v.CONCLUSIVE or (link in v.REVISING and position == 1):
            return Reading.CLAIMED
        if link == "," and (before in v.CONCLUSIVE or before in v.REVISING):
            return Reading.CLAIMED
        if link in v.COPULAS or link in v.AUXILIARIES or link in v.HEDGES:
            return self._copula(position)
        if link == "but" or (link == "rather" and before == "but"):
            contrasted = any(word in v.NEGATORS for word in words[max(0, position - _CONTRAST_WORDS) : position])
            return Reading.CLAIMED if contrasted else Reading.NOTHING
        if (answer_named or (named and link in v.CORRECT)) and all(word in v.ADJECTIVES for word in words[:position]):
            return self._noun_phrase(position)
        return self._verb_link(position, named)

    def _verb_link(self, position: int, named: bool) -> Reading:
        words, link = self.words, self.words[position - 1]
        before = words[position - 2] if position > 1 else ""
        if link in v.PARTICLES and before in v.PARTICLES[link]:
            return self._verb(position - 2)
        if link in v.CHOOSING or (link in v.THINKING_VERBS and before in ("i", "we")):
            return self._verb(position - 1)
        if link in v.LINKING_VERBS and (self.bracketed or named or (link == "leaves" and before in ("this", "that"))):
            return self._verb(position - 1)
        ascribed = link in v.THINKING_VERBS or (link == "that" and (before in v.THINKING_VERBS | v.CERTAINTY))
        if ascribed and any(word in v.TEMPTING or word in v.NEGATORS for word in words):
            return Reading.DENIED
        return Reading.DENIED if link == "that" and before in v.NEGATORS else Reading.NOTHING

    def _colon(self, i: int) -> Reading:
        words = self.words
        if i and (words[i - 1] in v.COPULAS or words[i - 1] == "follows"):
            return self._copula(i)
        if i and words[i - 1] in v.LIST_NOUNS and words[i] in ":=|":
            return Reading.NOTHING
        for k in range(i - 1, max(-1, i - 1 - _COLON_WORDS), -1):
            word = words[k]
            if word in v.SUBJECT_NOUNS or (word in v.COLON_WORDS and k == i - 1):
                if words[i] != ":" and k != i - 1:
                    return Reading.NOTHING
                return self._noun_phrase(k)
        return Reading.NOTHING

    def _copula(self, i: int) -> Reading:
        """Read "<subject> <auxiliaries> is" where `words[:i]` ends with the last word of the verb."""
        words, hedged = self.words, False
        while i and (words[i - 1] in v.COPULAS or words[i - 1] in v.AUXILIARIES or words[i - 1] in v.HEDGES):
            hedged = hedged or words[i - 1] in v.HEDGES
            i -= 1
        if i == 0:
            return Reading.CLAIMED if words[0] in ("must", "has", "es", "è", "é") else Reading.NOTHING
        if words[i - 1] in v.NEGATORS:
            return Reading.DENIED
        claim = Reading.HEDGED if hedged else Reading.CLAIMED
        subject = self._subject(i)
        if subject is not None:
            return self._noun_phrase(subject, claim)
        if words[i - 1] in v.PRONOUNS:
            return self._deny_or(i - 1, claim)
        if self.bracketed and not any(word in v.TEMPTING or word in v.WRONG for word in words[max(0, i - 3) : i]):
            return claim
        return Reading.NOTHING

    def _subject(self, i: int) -> int | None:
        for k in range(i - 1, max(-1, i - 1 - _SUBJECT_WORDS), -1):
            word, before = self.words[k], self.words[k - 1] if k else ""
            if word in v.SUBJECT_NOUNS or (word == "one" and before in v.ADJECTIVES and before not in _DETERMINERS):
                return k
        return None

    def _verb(self, i: int) -> Reading:
        """Read who chooses; `words[i]` is the verb."""
        words, k = self.words, i
        while k and (
            words[k - 1] in v.AUXILIARIES or words[k - 1] in ("i'd", "i'll", "we'd", "would", "i", "am", "i'm")
        ):
            k -= 1
        near = words[max(0, k - 2) : i]
        if any(word in v.NEGATORS for word in near):
            return Reading.DENIED
        if any(word in v.TEMPTING or word in v.SUPPOSING for word in words[max(0, k - 3) : i]):
            return Reading.NOTHING
        return Reading.CLAIMED

    def _noun_phrase(self, noun: int, claim: Reading = Reading.CLAIMED) -> Reading:
        """Read what stands before the noun at `noun`: adjectives that deny, then suppositions and doubts."""
        words = self.words
        if any(word in v.WRONG for word in words[max(0, noun - 2) : noun]):
            return Reading.DENIED if words[noun] in v.ANSWER_NOUNS else Reading.REVERSED
        k = noun
        while k and words[k - 1] in v.ADJECTIVES and words[k - 1] not in ("so", "then", "therefore", "thus", "hence"):
            k -= 1
        return self._deny_or(k, claim)

    def _deny_or(self, k: int, claim: Reading) -> Reading:
        """Return `claim` unless the words that end before `words[k]` suppose, doubt or ascribe it to others."""
        words = self.words
        if k and words[k - 1] in v.SUPPOSING:
            return Reading.NOTHING
        if k and words[k - 1] in v.NEGATORS:
            return claim if words[max(0, k - 2)] in ("no", "without", "little") else Reading.DENIED
        if k == 0 or not (words[k - 1] in v.CERTAINTY or words[k - 1] in v.THINKING_VERBS):
            return claim
        k -= 1
        near = words[max(0, k - 3) : k]
        if any(word in v.NEGATORS for word in near) and "no" not in near:
            return Reading.DENIED
        if any(word in v.TEMPTING or word in v.SUPPOSING for word in near) and "i" not in near:
            return Reading.NOTHING
        return claim
