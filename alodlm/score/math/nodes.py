"""The shapes an answer can have, as small frozen records."""

from __future__ import annotations

from dataclasses import dataclass

from alodlm.score.math.parser import Tree


@dataclass(frozen=True, slots=True)
class Value:
    """One expression. `decimals` counts the places where it was written as a decimal, `exact` forbids rounding.

    `unit_power` is the exponent of its unit where one was written (`cm^2`).
    """

    tree: Tree
    decimals: int | None = None
    digits: int = 0
    exact: bool = False
    unit_power: str = ""


@dataclass(frozen=True, slots=True)
class Text:
    """Words, lower-cased, without punctuation."""

    words: str


@dataclass(frozen=True, slots=True)
class Based:
    """A whole number written in a base (None where none was written)."""

    digits: str
    base: int


@dataclass(frozen=True, slots=True)
class Clock:
    """Numbers joined by colons (a time or a ratio) with `am`, `pm` or nothing."""

    parts: tuple[Node, ...]
    half: str = ""


@dataclass(frozen=True, slots=True)
class Bracketed:
    """Components in order between brackets: a tuple, a vector or an interval."""

    opening: str
    closing: str
    items: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Several:
    """Several values whose order is free."""

    items: tuple[Node, ...]
    is_set: bool = False


@dataclass(frozen=True, slots=True)
class Matrix:
    """Rows of components."""

    rows: tuple[tuple[Node, ...], ...]


@dataclass(frozen=True, slots=True)
class Region:
    """A union of intervals, with the variable where an inequality named one."""

    pieces: tuple[Bracketed, ...]
    variable: str | None = None


@dataclass(frozen=True, slots=True)
class Equation:
    """`left = right`; `name` is the left side where that is a lone name, such as `x` or `f(x)`."""

    left: Node
    right: Node
    name: str | None = None
    is_quantity: bool = False


@dataclass(frozen=True, slots=True)
class Inequality:
    """`smaller < larger` (or ≤) that is no one-variable inequality solved for its variable."""

    smaller: Tree
    larger: Tree
    closed: bool


Node = Value | Text | Based | Clock | Bracketed | Several | Matrix | Region | Equation | Inequality
