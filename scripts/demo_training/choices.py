"""Metrics `arc` (numbers, four options) and `mmlu_pro` (words, five options): choices that need comparing only.

The content that decides the split is the set of options with the question, whatever order they are shown in.
"""

from __future__ import annotations

import random

from demo_training.items import Item, Maker
from demo_training.words import word

_LABELS = "ABCDE"


def _item(kind: str, form: str, asked: str, options: list[str], right: str, reason: str) -> Item:
    labels = list(_LABELS[: len(options)])
    label = labels[options.index(right)]
    shown = " ".join(f"{name}) {option}" for name, option in zip(labels, options, strict=True))
    content = f"{asked} {' '.join(sorted(options))}"
    fields = {"answer": label} | ({"available_options": labels} if kind == "mmlu_pro" else {})
    return Item(kind, form, content, f"{asked} {shown}", f"{right} {reason}. Answer: {label}", label, fields)


def _extreme(form: str, close: bool) -> Maker:
    """Return a maker of "which number is largest (smallest)?"; `close` numbers share their tens digit."""

    def make(rng: random.Random) -> Item:
        tens = [rng.randint(1, 9)] * 4 if close else rng.sample(range(1, 10), 4)
        units = rng.sample(range(10), 4) if close else [rng.randrange(10) for _ in range(4)]
        numbers = [10 * t + u for t, u in zip(tens, units, strict=True)]
        which, value = rng.choice((("largest", max(numbers)), ("smallest", min(numbers))))
        options = [str(number) for number in numbers]
        return _item("arc", form, f"Which is {which}?", options, str(value), f"is {which}")

    return make


def _words(rng: random.Random, length: int, place: int) -> list[str]:
    """Return five words of which no two share the letter at `place`."""
    found: dict[str, str] = {}
    while len(found) < len(_LABELS):
        candidate = word(rng, length)
        found.setdefault(candidate[place], candidate)
    return rng.sample(list(found.values()), len(found))


def _letter(form: str, verb: str, place: int) -> Maker:
    """Return a maker of "which word begins (ends) with this letter?"."""

    def make(rng: random.Random) -> Item:
        options = _words(rng, 3, place)
        right = rng.choice(options)
        asked = f"Which {verb}s with {right[place]}?"
        return _item("mmlu_pro", form, asked, options, right, "fits")

    return make


def _reversed(rng: random.Random) -> Item:
    """Return "which word is this one backwards?"."""
    options = _words(rng, 3, 0)
    right = rng.choice(options)
    return _item("mmlu_pro", "backwards", f"Which is {right[::-1]} backwards?", options, right, "fits")


ARC_MAKERS = {"apart": (_extreme("apart", False), 0.7), "close": (_extreme("close", True), 0.3)}
MMLU_PRO_MAKERS = {
    "begins": (_letter("begins", "begin", 0), 0.4),
    "ends": (_letter("ends", "end", -1), 0.3),
    "backwards": (_reversed, 0.3),
}
