"""Plain stand-ins for the few library objects that functions return and that cannot be rebuilt from data."""

from __future__ import annotations

import builtins
import re
from typing import Any

BUILTIN_NAMES: dict[Any, str] = {
    value: name for name, value in vars(builtins).items() if isinstance(value, type) and not name.startswith("_")
}


def is_match(value: object) -> bool:
    """Say whether the value is exactly a `re.Match`."""
    return type(value) is re.Match


def describe_match(match: re.Match[Any]) -> tuple[Any, ...]:
    """Return what can be asked of a match, as plain values."""
    spans = [match.span(index) for index in range(match.re.groups + 1)]
    return match.string, match.re.pattern, spans, dict(match.re.groupindex)


class FoundMatch:
    """A match as plain data: never equal to anything but itself, like `re.Match`, and always true."""

    def __init__(self, string: Any, pattern: Any, spans: list[tuple[int, int]], names: dict[str, int]) -> None:
        self.string, self.pattern = string, pattern
        self._spans, self._names = spans, names

    def _index(self, group: int | str) -> int:
        if group in self._names:
            return self._names[group]
        if not isinstance(group, int) or not 0 <= group < len(self._spans):
            raise IndexError("no such group")
        return group

    def span(self, group: int | str = 0) -> tuple[int, int]:
        """Return where a group lies, (-1, -1) where it took no part."""
        return self._spans[self._index(group)]

    def start(self, group: int | str = 0) -> int:
        """Return where a group starts."""
        return self.span(group)[0]

    def end(self, group: int | str = 0) -> int:
        """Return where a group ends."""
        return self.span(group)[1]

    def __getitem__(self, group: int | str) -> Any:
        start, end = self.span(group)
        return None if start < 0 else self.string[start:end]

    def group(self, *groups: int | str) -> Any:
        """Return one group, or a tuple of several."""
        found = tuple(self[group] for group in groups or (0,))
        return found[0] if len(found) == 1 else found

    def groups(self, default: Any = None) -> tuple[Any, ...]:
        """Return all groups but the whole."""
        found = (self[index] for index in range(1, len(self._spans)))
        return tuple(default if group is None else group for group in found)

    def groupdict(self, default: Any = None) -> dict[str, Any]:
        """Return the named groups."""
        return {name: default if self[name] is None else self[name] for name in self._names}
