"""What the pipeline asks of anything that answers tasks.

The order of calls is: `describe`, `check` (both before any weights are read), `load`, `warm_up`, `generate`. A run
whose generations are all finished never calls `load`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Protocol

from alodlm.records import Generation, Task


class Candidate(Protocol):
    """A way to get answers."""

    def describe(self) -> dict[str, Any]:
        """Return `{"identity": …, "protocol": {…}}`, JSON-shaped, the same for the same model and settings.

        `identity` names the model by content, never by path. `protocol` has `engine`, `decode` (the settings in
        force), `precision`, `device` (cpu or cuda), `gpu` (its name or None), `timing` (what the clock covers).
        Both go into the manifest, and a resumed run must match them.
        """
        ...

    def check(self, tasks: Iterable[Task]) -> None:
        """Raise one `InputError` that lists every task this candidate cannot take."""
        ...

    def load(self) -> None:
        """Read the weights."""
        ...

    def warm_up(self) -> None:
        """Do once, unclocked, what the first generation would otherwise pay for."""
        ...

    def generate(self, tasks: Iterable[Task]) -> Iterator[tuple[Task, Generation]]:
        """Yield each task with its generation as soon as it is finished."""
        ...
