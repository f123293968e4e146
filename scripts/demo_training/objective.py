"""The training objective: masked rows learn their token at each depth up to a sampled exit, the gate from the outcome.

Each masked row samples its exit from the gate's hazards (the last depth is forced). It is supervised up to its
exit, and enters the next pass as its true token's embedding, as a committed row does in decoding. The gate sees
detached features; its reward is what the row's loss lost between the first pass and the exit, less the batch's
mean, with a pull towards exit mass proportional to exp(-c d).
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional as F

from alodlm.model.layers import RotaryTable
from alodlm.model.looped import LoopedModel
from demo_training.batches import Batch
from demo_training.passes import Prefix, WindowRun
from demo_training.settings import Objective

_REWARD_LIMIT = 2.0


@dataclass(frozen=True)
class Outcome:
    """Sums over a batch: token loss, gate loss, the rows' weights, first-pass and exit losses, exit depths."""

    token_loss: Tensor
    gate_loss: Tensor
    weight: float
    first_loss: float
    exit_depth: float


def run(model: LoopedModel, table: RotaryTable, batch: Batch, objective: Objective) -> Outcome:
    """Run all passes over a batch and return its losses, summed over weighted rows."""
    depths = model.config.max_depth
    chosen = batch.weights > 0
    weights, targets = batch.weights[chosen], batch.targets[chosen]
    prefix = Prefix(model, table, batch.prefix_tokens, batch.prefix_depths)
    window = WindowRun(model, table, prefix, batch)
    alive = torch.ones_like(weights, dtype=torch.bool)
    exits = torch.full_like(targets, depths)
    losses, logits = [], []
    token_loss = torch.zeros(())
    for depth in range(depths):
        features = window.features(depth)[chosen]
        losses.append(F.cross_entropy(model.logits(features), targets, reduction="none"))
        token_loss = token_loss + (losses[-1] * weights * alive).sum()
        logits.append(model.exit_gate(features.detach(), depth))
        if depth + 1 < depths:
            leaving = alive & (torch.rand(alive.shape) < logits[-1].detach().sigmoid())
            exits = torch.where(leaving, depth + 1, exits)
            alive = alive & ~leaving
            window.carry(torch.zeros_like(chosen).masked_scatter(chosen, leaving), batch.targets)
    gate_loss = _gate_loss(torch.stack(losses).detach(), torch.stack(logits), exits, objective)
    total = weights.sum()
    return Outcome(
        token_loss,
        (gate_loss * weights).sum(),
        total.item(),
        (losses[0].detach() * weights).sum().item(),
        (exits * weights).sum().item(),
    )


def _gate_loss(losses: Tensor, logits: Tensor, exits: Tensor, objective: Objective) -> Tensor:
    """Return each row's gate loss [rows] from losses and hazard logits [depths, rows] and exit depths from 1."""
    mass = exit_log_mass(logits)
    at = (exits - 1)[None]
    reward = (losses[0] - losses.gather(0, at)[0]).clamp(-_REWARD_LIMIT, _REWARD_LIMIT)
    outcome = -(reward - reward.mean()) * mass.gather(0, at)[0]
    prior = (-objective.depth_prior_c * torch.arange(len(mass), dtype=mass.dtype)).log_softmax(0)
    pull = (mass.exp() * (mass - prior[:, None])).sum(0)
    return objective.gate_weight * (outcome + objective.prior_weight * pull)


def exit_log_mass(logits: Tensor) -> Tensor:
    """Return log P(exit at d) [depths, rows]: hazards along the way, the last depth forced."""
    stay = F.logsigmoid(-logits).cumsum(0)
    leave = F.logsigmoid(logits[:-1])
    before = torch.cat((torch.zeros_like(stay[:1]), stay[:-1]))
    return before + torch.cat((leave, torch.zeros_like(stay[:1])))
