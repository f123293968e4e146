"""Demo items: a question, the response that the model learns, and how a task scores it.

An item's split follows from a hash of its content alone (the operands, the word, the options, the function's
body), so training, validation and held-out items are disjoint by construction: whatever generator or seed makes
an item, its content decides where it may be used.
"""

from __future__ import annotations

import hashlib
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

SPLIT_BUCKETS = 16
SPLITS = ("held-out", "validation", "training")


@dataclass(frozen=True)
class Item:
    """One example. `key` is the end of the response that decides the score; `fields` go into the task record."""

    kind: str
    form: str
    content: str
    question: str
    response: str
    key: str
    fields: dict[str, Any] = field(default_factory=dict)

    @property
    def split(self) -> str:
        """The split that the content's hash assigns: 1 bucket in 16 held out, 1 for validation, 14 for training."""
        digest = hashlib.sha256(f"{self.kind}\n{self.content}".encode()).digest()
        return SPLITS[min(digest[0] % SPLIT_BUCKETS, len(SPLITS) - 1)]

    @property
    def prompt(self) -> str:
        """The question as the model sees it, in its chat markers, up to where the answer begins."""
        return f"<|im_start|>user\n{self.question}<|im_end|>\n<|im_start|>assistant\n"


Maker = Callable[[random.Random], Item]


def draw(makers: dict[str, tuple[Maker, float]], split: str, rng: random.Random) -> Iterator[Item]:
    """Yield items of one split for ever, each form as often as its weight says."""
    forms = [maker for maker, _ in makers.values()]
    weights = [weight for _, weight in makers.values()]
    while True:
        maker = rng.choices(forms, weights)[0]
        item = maker(rng)
        while item.split != split:
            item = maker(rng)
        yield item


def distinct(makers: dict[str, tuple[Maker, float]], split: str, rng: random.Random, count: int) -> list[Item]:
    """Return `count` items of one split with `count` different contents, the forms shared out by weight.

    The forms' counts are exact (largest remainder), not drawn, so that a small set still holds every form.
    """
    total = sum(weight for _, weight in makers.values())
    shares = {form: weight / total * count for form, (_, weight) in makers.items()}
    counts = {form: int(share) for form, share in shares.items()}
    for form in sorted(shares, key=lambda name: counts[name] - shares[name])[: count - sum(counts.values())]:
        counts[form] += 1
    found: dict[str, Item] = {}
    for form, (maker, weight) in makers.items():
        stream = draw({form: (maker, weight)}, split, rng)
        goal = len(found) + counts[form]
        while len(found) < goal:
            item = next(stream)
            found.setdefault(item.content, item)
    return list(found.values())
