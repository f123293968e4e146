"""The slots behind the prefix: which hold a committed token, which are empty, and in which order they are run.

Pure values without torch: every change returns a new window. A slot's index is its distance from the prefix.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import takewhile
from typing import NamedTuple


class Commit(NamedTuple):
    """A committed token, the 1-based pass at which it committed, and its row's hazard in that window's first pass."""

    token: int
    depth: int
    first_hazard: float


class Window(NamedTuple):
    """Slots by position; None is an empty one."""

    slots: tuple[Commit | None, ...] = ()

    @property
    def lead(self) -> tuple[Commit, ...]:
        """The filled slots before the first empty one: what is emitted next."""
        return tuple(takewhile(lambda slot: slot is not None, self.slots))

    def grown(self, length: int) -> Window:
        """Add empty slots up to `length`."""
        return Window(self.slots + (None,) * (length - len(self.slots)))

    def order(self) -> tuple[list[int], int]:
        """Return slot indices in row order (filled, then empty, each by position) and how many are filled."""
        filled = [index for index, slot in enumerate(self.slots) if slot is not None]
        empty = [index for index, slot in enumerate(self.slots) if slot is None]
        return filled + empty, len(filled)

    def filled(self, commits: Mapping[int, Commit]) -> Window:
        """Put commits into the empty slots that they name."""
        assert all(self.slots[index] is None for index in commits)
        return Window(tuple(commits.get(index, slot) for index, slot in enumerate(self.slots)))

    def dropped(self, count: int) -> Window:
        """Remove the first `count` slots, which became part of the prefix."""
        return Window(self.slots[count:])
