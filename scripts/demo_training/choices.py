"""Metrics `arc` (numbers, four options) and `mmlu_pro` (syllables, five options): choices that need comparing only.

The content that decides the split is the set of options with the question, whatever order they are shown in.
"""

from __future__ import annotations

import random

from demo_training.items import Item, Maker
from demo_training.words import CONSONANTS, VOWELS

_LABELS = "ABCDE"


def _item(kind: str, form: str, asked: str, options: list[str], right: str, reason: str) -> Item:
    labels = list(_LABELS[: len(options)])
    label = labels[options.index(right)]
    shown = " ".join(f"{name}) {option}" for name, option in zip(labels, options, strict=True))
    content = f"{asked} {' '.join(sorted(options))}"
    fields = {"answer": label} | ({"available_options": labels} if kind == "mmlu_pro" else {})
    return Item(kind, form, content, f"{asked} {shown}", f"{right} {reason}. Answer: {label}", label, fields)


def _extreme(form: str, lowest: int, highest: int) -> Maker:
    """Return a maker of "which number is largest (smallest)?"."""

    def make(rng: random.Random) -> Item:
        numbers = rng.sample(range(lowest, highest + 1), 4)
        which, value = rng.choice((("largest", max(numbers)), ("smallest", min(numbers))))
        options = [str(number) for number in numbers]
        return _item("arc", form, f"Which is {which}?", options, str(value), f"is {which}")

    return make


def _syllables(rng: random.Random) -> list[str]:
    """Return five syllables of which no two share a letter."""
    return ["".join(pair) for pair in zip(rng.sample(CONSONANTS, 5), rng.sample(VOWELS, 5), strict=True)]


def _letter(form: str, verb: str, place: int) -> Maker:
    """Return a maker of "which syllable begins (ends) with this letter?"."""

    def make(rng: random.Random) -> Item:
        options = _syllables(rng)
        right = rng.choice(options)
        asked = f"Which {verb}s with {right[place]}?"
        return _item("mmlu_pro", form, asked, options, right, "fits")

    return make


def _reversed(rng: random.Random) -> Item:
    """Return "which syllable is this one backwards?"."""
    options = _syllables(rng)
    right = rng.choice(options)
    return _item("mmlu_pro", "backwards", f"Which is {right[::-1]} backwards?", options, right, "fits")


ARC_MAKERS = {"digits": (_extreme("digits", 1, 9), 0.6), "numbers": (_extreme("numbers", 10, 99), 0.4)}
MMLU_PRO_MAKERS = {
    "begins": (_letter("begins", "begin", 0), 0.4),
    "ends": (_letter("ends", "end", -1), 0.3),
    "backwards": (_reversed, 0.3),
}
