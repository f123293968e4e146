"""A soft limit on the CPU time of one comparison, inside the process.

Promises to restore the timer and the handler it found. Where signals cannot be used (another thread, a platform
without interval timers) the block simply runs; the worker pool's kill is the backstop everywhere.
"""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Iterator

_AGAIN_SECONDS = 0.2


class OverTimeError(BaseException):
    """The comparison used up its CPU time. A BaseException, so that no library's `except Exception` hides it."""


@contextlib.contextmanager
def uncounted() -> Iterator[None]:
    """Suspend a running limit in the block: an import must neither be cut short nor charged to one answer."""
    if not hasattr(signal, "setitimer") or threading.current_thread() is not threading.main_thread():
        yield
        return
    left, again = signal.setitimer(signal.ITIMER_VIRTUAL, 0)
    try:
        yield
    finally:
        if left:
            signal.setitimer(signal.ITIMER_VIRTUAL, left, again)


@contextlib.contextmanager
def cpu_limit(seconds: float) -> Iterator[None]:
    """Raise `OverTimeError` in the block once this process has used `seconds` of CPU time in it."""
    if not hasattr(signal, "setitimer") or threading.current_thread() is not threading.main_thread():
        yield
        return
    running = True

    def over_time(signum: int, frame: object) -> None:
        if running:
            raise OverTimeError

    handler = signal.signal(signal.SIGVTALRM, over_time)
    timer = signal.setitimer(signal.ITIMER_VIRTUAL, seconds, _AGAIN_SECONDS)
    try:
        try:
            yield
        finally:
            running = False  # a signal from here on must not interrupt the clearing up
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, handler)
        if timer[0]:
            signal.setitimer(signal.ITIMER_VIRTUAL, *timer)
