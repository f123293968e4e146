"""Progress on stderr: a bar with rate and time left on a terminal, nothing elsewhere."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def terminal_progress(title: str, total: int) -> Iterator[Callable[[], None]]:
    """Show a phase of `total` steps; yields the function that counts one."""
    if sys.stderr is None or not sys.stderr.isatty():
        yield lambda: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    rate = TextColumn("{task.fields[rate]}")
    left = TimeRemainingColumn(elapsed_when_finished=True)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), rate, left)
    with Progress(*columns, console=Console(stderr=True)) as bar:
        phase = bar.add_task(title, total=total, rate="")

        def advance() -> None:
            bar.advance(phase)
            speed = bar.tasks[phase].speed
            bar.update(phase, rate=f"{speed:.1f}/s" if speed else "")

        yield advance
