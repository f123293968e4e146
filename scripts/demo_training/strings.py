"""Metric `exact`: one made-up word, one operation on its letters. The word alone decides the split."""

from __future__ import annotations

import random

from demo_training.items import Item, Maker
from demo_training.words import word

_OPERATIONS = {
    "capitals": ("Write {} in capitals.", str.upper),
    "backwards": ("Write {} backwards.", lambda text: text[::-1]),
    "doubled": ("Double each letter of {}.", lambda text: "".join(letter * 2 for letter in text)),
    "sorted": ("Sort the letters of {}.", lambda text: "".join(sorted(text))),
}


def _maker(form: str, shortest: int, longest: int) -> Maker:
    asked, operation = _OPERATIONS[form]

    def make(rng: random.Random) -> Item:
        text = word(rng, rng.randint(shortest, longest))
        answer = operation(text)
        return Item("exact", form, text, asked.format(text), answer, answer, {"answer": answer})

    return make


MAKERS = {
    "capitals": (_maker("capitals", 4, 7), 0.2),
    "backwards": (_maker("backwards", 4, 7), 0.3),
    "doubled": (_maker("doubled", 3, 6), 0.2),
    "sorted": (_maker("sorted", 3, 5), 0.3),
}
