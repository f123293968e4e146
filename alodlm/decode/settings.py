"""How to decode: the settings that a run records and a resume must match. No torch here."""

from __future__ import annotations

import math

from msgspec import Struct

from alodlm.errors import InputError

MODES = ("entropy", "left1")
DEFAULT_BUDGET = 4096
PENALTY_PER_TAU = 0.05


class DecodeSettings(Struct, frozen=True):
    """Settings of the window loop.

    `q`: halt when the mean probability of having exited reaches it. `tau`: commit below this entropy (nats).
    `mode`: `entropy` or `left1`. `window_size`: open slots a window. `position_penalty`: nats added per position
    behind the first masked one; None means 0.05 * tau. `max_new_tokens`: None means min(4096, what the context
    leaves).
    """

    q: float = 0.5
    tau: float = 0.4
    mode: str = "entropy"
    window_size: int = 16
    position_penalty: float | None = None
    max_new_tokens: int | None = None

    def __post_init__(self) -> None:
        budget = self.max_new_tokens
        rules = (
            ("q", 0 <= self.q <= 1, "must be between 0 and 1"),
            ("tau", math.isfinite(self.tau) and self.tau >= 0, "must be finite and >= 0"),
            ("mode", self.mode in MODES, f"must be one of {', '.join(MODES)}"),
            ("window_size", self.window_size >= 1, "must be at least 1"),
            ("position_penalty", math.isfinite(self.penalty) and self.penalty >= 0, "must be finite and >= 0"),
            ("max_new_tokens", budget is None or budget >= 1, "must be at least 1"),
        )
        for name, holds, rule in rules:
            if not holds:
                flag = "--" + name.replace("_", "-")
                raise InputError(flag, rule, value=getattr(self, name), next_step=f"give {flag} another value")

    @property
    def penalty(self) -> float:
        """The position penalty in force, in nats per position."""
        return PENALTY_PER_TAU * self.tau if self.position_penalty is None else self.position_penalty
