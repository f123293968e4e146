"""Commit and halt: what the window loop decides after each pass, as pure tensor functions.

Every tensor is `[batch, rows]` over the rows that may commit; rows of padding carry `masked` False and never count.
Nothing here reads a tensor on the host, keeps state or looks at a clock, so a graph can capture it. Ties go to the
lowest index: `max` and `argmin` over a dimension return the first of equals on every device.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor

from alodlm.decode.settings import DecodeSettings

UNKNOWN = -1


class WindowState(NamedTuple):
    """One window of each sequence, between passes.

    `masked`: rows that entered the window as masks. `distance`: positions behind the first masked row, float32.
    `tokens`: what a row committed, or `UNKNOWN`. `depths`: the 1-based pass at which it did, 0 while open.
    `first_hazards`: hazards of the first pass, `UNKNOWN` before it. `survival`: product of (1 - hazard) so far.
    `running`: `[batch]`, windows that have not stopped; a stopped window never changes again.
    """

    masked: Tensor
    distance: Tensor
    tokens: Tensor
    depths: Tensor
    first_hazards: Tensor
    survival: Tensor
    running: Tensor

    @property
    def open(self) -> Tensor:
        """Rows that may still commit."""
        return self.masked & (self.depths == 0) & self.running.unsqueeze(-1)


def start_window(masked: Tensor, positions: Tensor) -> WindowState:
    """Begin windows whose `masked` rows stand at logical `positions`."""
    first = positions.masked_fill(~masked, torch.iinfo(positions.dtype).max).amin(-1, keepdim=True)
    distance = (positions - first).float()
    return WindowState(
        masked=masked,
        distance=distance,
        tokens=torch.full_like(positions, UNKNOWN),
        depths=torch.zeros_like(positions),
        first_hazards=torch.full_like(distance, UNKNOWN),
        survival=torch.ones_like(distance),
        running=torch.ones_like(masked[:, 0]),
    )


def commit_statistics(logits: Tensor) -> tuple[Tensor, Tensor]:
    """Return the argmax token and the entropy (nats) of the softmax, each `[…]`, of float32 logits `[…, vocab]`."""
    peak, tokens = logits.max(dim=-1)
    shifted = logits - peak.unsqueeze(-1)
    weights = shifted.exp()
    total = weights.sum(dim=-1)
    return tokens, total.log() - weights.mul_(shifted).sum(dim=-1) / total


def leftmost(rows: Tensor) -> Tensor:
    """Keep the first set row of each sequence."""
    return rows & (rows.cumsum(-1) == 1)


def least(values: Tensor, rows: Tensor) -> Tensor:
    """Mark the set row with the least value in each sequence, the first of equals; nothing where no row is set."""
    index = values.masked_fill(~rows, torch.inf).argmin(-1, keepdim=True)
    return torch.zeros_like(rows).scatter(-1, index, True) & rows


def should_halt(survival: Tensor, still_open: Tensor, q: float) -> Tensor:
    """Say which windows `[batch]` halt: nothing open, or the open rows' mean exit probability reaches `q`."""
    count = still_open.sum(-1)
    mean = torch.where(still_open, 1 - survival, 0.0).sum(-1) / count
    return (count == 0) | (mean >= q)


def step(
    state: WindowState,
    statistics: tuple[Tensor, Tensor],
    hazards: Tensor,
    depth: int,
    settings: DecodeSettings,
    *,
    last: bool,
) -> tuple[WindowState, Tensor]:
    """Apply the rules after the pass at 0-based `depth`; return the new state and the rows that committed just now.

    `statistics` are `commit_statistics` of the rows' logits, `hazards` their halting hazards. A window that stops with
    nothing committed commits its row of least adjusted entropy. `last` says that no pass may follow.
    """
    argmax, entropy = statistics
    open_rows = state.open
    adjusted = entropy + state.distance * settings.penalty
    now = leftmost(open_rows) if settings.mode == "left1" else open_rows & (adjusted < settings.tau)
    survival = state.survival * (1 - hazards)
    stop = should_halt(survival, open_rows & ~now, settings.q) | last
    empty_handed = stop & ~((state.depths > 0) | now).any(-1)
    now = now | (least(adjusted, open_rows) & empty_handed.unsqueeze(-1))
    return state._replace(
        tokens=torch.where(now, argmax, state.tokens),
        depths=torch.where(now, depth + 1, state.depths),
        first_hazards=torch.where(state.first_hazards == UNKNOWN, hazards, state.first_hazards),
        survival=survival,
        running=state.running & ~stop,
    ), now
