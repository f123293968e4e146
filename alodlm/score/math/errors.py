"""Why a stage gives up. None of these leaves the scorer: giving up means "not equal"."""

from __future__ import annotations


class GiveUpError(Exception):
    """The stage cannot decide about this text."""


class UnreadableError(GiveUpError):
    """The text is no mathematics that the reader knows."""


class TooLargeError(GiveUpError):
    """Deciding would take more memory or time than an answer is worth."""
