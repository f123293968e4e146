"""Questions about expression trees, and the one rewriting that readers share."""

from __future__ import annotations

from fractions import Fraction

from alodlm.score.math.parser import Tree


def variables(tree: Tree) -> set[str]:
    """Return the names of a tree's variables."""
    if tree[0] == "v":
        return {tree[1]}
    return set().union(*(variables(part) for part in tree[1:] if isinstance(part, tuple)))


def has_imaginary(tree: Tree) -> bool:
    """Say whether i occurs in a tree."""
    return tree[0] == "i" or any(has_imaginary(part) for part in tree[1:] if isinstance(part, tuple))


def size(tree: Tree) -> int:
    """Return the number of a tree's nodes."""
    return 1 + sum(size(part) for part in tree[1:] if isinstance(part, tuple))


def in_radians(tree: Tree) -> Tree:
    """Return a tree whose degrees are parts of π, as they are inside a trigonometric function."""
    if tree[0] == "°":
        return ("*", ("*", tree[1], ("q", Fraction(1, 180))), ("pi",))
    return tuple(in_radians(part) if isinstance(part, tuple) else part for part in tree)
