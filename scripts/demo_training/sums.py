"""Metric `math`: sums and differences, worked column by column from the right, with the answer stated at the end."""

from __future__ import annotations

import random

from demo_training.items import Item


def _worked_sum(a: int, b: int) -> str:
    """Return the columns of a + b from the right, for example `7+8=15, 3+4+1=8`."""
    steps, carry = [], 0
    for x, y in zip(reversed(str(a)), reversed(str(b)), strict=True):
        total = int(x) + int(y) + carry
        steps.append(f"{x}+{y}{'+1' if carry else ''}={total}")
        carry = total // 10
    return ", ".join(steps)


def _worked_difference(a: int, b: int) -> str:
    """Return the columns of a - b >= 0 from the right, a borrow shown as a ten and taken off the next column."""
    steps, borrow = [], 0
    for x, y in zip(reversed(str(a)), reversed(str(b)), strict=True):
        top = int(x) - borrow
        borrow = int(top < int(y))
        steps.append(f"{top + 10 * borrow}-{y}={top + 10 * borrow - int(y)}")
    return ", ".join(steps)


def _item(form: str, a: int, b: int) -> Item:
    sign, value, worked = ("-", a - b, _worked_difference) if form == "difference" else ("+", a + b, _worked_sum)
    content = f"{a}{sign}{b}" if sign == "-" else "{}+{}".format(*sorted((a, b)))
    response = f"{worked(a, b)}. Answer: {value}"
    return Item("math", form, content, f"Compute {a}{sign}{b}.", response, str(value), {"answer": str(value)})


def two_digits(rng: random.Random) -> Item:
    """Return a sum of two two-digit numbers."""
    return _item("two_digits", rng.randint(10, 99), rng.randint(10, 99))


def three_digits(rng: random.Random) -> Item:
    """Return a sum of two three-digit numbers."""
    return _item("three_digits", rng.randint(100, 999), rng.randint(100, 999))


def difference(rng: random.Random) -> Item:
    """Return a difference of two two-digit numbers, the larger first."""
    a, b = rng.sample(range(10, 100), 2)
    return _item("difference", max(a, b), min(a, b))


MAKERS = {"two_digits": (two_digits, 0.5), "difference": (difference, 0.3), "three_digits": (three_digits, 0.2)}
