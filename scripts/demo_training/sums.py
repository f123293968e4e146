"""Metric `math`: sums, worked column by column from the right, with the answer stated at the end."""

from __future__ import annotations

import random

from demo_training.items import Item


def _worked_sum(a: int, b: int) -> str:
    """Return the columns of a + b from the right, for example `7+8=15, 3+4+1=8`."""
    steps, carry = [], 0
    for x, y in zip(reversed(str(a)), reversed(str(b).zfill(len(str(a)))), strict=True):
        total = int(x) + int(y) + carry
        steps.append(f"{x}+{y}{'+1' if carry else ''}={total}")
        carry = total // 10
    return ", ".join(steps)


def _item(form: str, a: int, b: int) -> Item:
    content = "{}+{}".format(*sorted((a, b)))
    response = f"{_worked_sum(a, b)}. Answer: {a + b}"
    return Item("math", form, content, f"Compute {a}+{b}.", response, response, {"answer": str(a + b)})


def one_digit(rng: random.Random) -> Item:
    """Return a sum of a two-digit number and a digit."""
    return _item("one_digit", rng.randint(10, 99), rng.randint(1, 9))


def two_digits(rng: random.Random) -> Item:
    """Return a sum of two two-digit numbers."""
    return _item("two_digits", rng.randint(10, 99), rng.randint(10, 99))


def three_digits(rng: random.Random) -> Item:
    """Return a sum of two three-digit numbers."""
    return _item("three_digits", rng.randint(100, 999), rng.randint(100, 999))


MAKERS = {"one_digit": (one_digit, 0.4), "two_digits": (two_digits, 0.4), "three_digits": (three_digits, 0.2)}
