"""Made-up words: short, pronounceable, drawn from a seeded generator."""

from __future__ import annotations

import builtins
import keyword
import random

CONSONANTS = "bdfgklmnprstvz"
VOWELS = "aeiou"
_CALLED = ("sum", "min", "len")


def word(rng: random.Random, length: int) -> str:
    """Return a word of alternating consonants and vowels, beginning with either."""
    first = rng.randrange(2)
    return "".join(rng.choice((CONSONANTS, VOWELS)[(first + i) % 2]) for i in range(length))


def function_name(rng: random.Random, shortest: int = 3, longest: int = 5) -> str:
    """Return a made-up word that is neither a keyword nor a builtin, and does not end like one that is called."""
    while True:
        name = word(rng, rng.randint(shortest, longest))
        if not (keyword.iskeyword(name) or hasattr(builtins, name) or name.endswith(_CALLED)):
            return name
