"""The training loop: seeded items, two optimizers, one cosine schedule. Same seed and machine, same weights."""

from __future__ import annotations

import math
import random
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice

import torch
from torch import nn
from transformers import PreTrainedTokenizerFast

from alodlm.model.layers import RotaryTable
from alodlm.model.looped import LoopedModel
from demo_training import kinds, objective
from demo_training.batches import Batch, Encoded, Sampler, encode
from demo_training.model import new_model
from demo_training.muon import Muon
from demo_training.passes import rotary_table
from demo_training.settings import Settings

REPORT_EVERY = 50


@dataclass(frozen=True)
class Trained:
    """The trained network, and what the run took."""

    model: LoopedModel
    seconds: float
    final_loss: float


class Schedule:
    """A linear warm-up and a cosine decay to zero, applied to several optimizers."""

    def __init__(self, optimizers: list[torch.optim.Optimizer], settings: Settings) -> None:
        self._optimizers, self._settings = optimizers, settings
        self._peaks = [[group["lr"] for group in optimizer.param_groups] for optimizer in optimizers]

    def set(self, step: int) -> None:
        """Set the learning rates of a step."""
        warm, steps = self._settings.warmup_steps, self._settings.steps
        if step < warm:
            factor = (step + 1) / warm
        else:
            factor = 0.5 * (1 + math.cos(math.pi * (step - warm) / max(1, steps - warm)))
        for optimizer, peaks in zip(self._optimizers, self._peaks, strict=True):
            for group, peak in zip(optimizer.param_groups, peaks, strict=True):
                group["lr"] = peak * factor


def optimizers(model: LoopedModel, settings: Settings) -> list[torch.optim.Optimizer]:
    """Return Muon for the layers' matrices and AdamW for the rest."""
    matrices, rest = [], []
    for name, parameter in model.named_parameters():
        (matrices if ".layers." in name and parameter.dim() == 2 else rest).append(parameter)
    muon = Muon(matrices, lr=settings.matrix_learning_rate, weight_decay=settings.weight_decay)
    adamw = torch.optim.AdamW(rest, lr=settings.learning_rate, betas=(0.9, 0.98), weight_decay=0.0)
    return [muon, adamw]


def chunked(settings: Settings, tokenizer: PreTrainedTokenizerFast, seed: int) -> Iterator[list[Batch]]:
    """Yield the parts of each step: a step's items sorted by length, so that little is padded."""
    stream = kinds.training_stream(seed, settings.kind_weights)
    sampler = Sampler(settings, tokenizer, random.Random(f"windows {seed}"))
    size = settings.batch // settings.chunks
    for _ in range(settings.steps):
        examples: list[Encoded] = [encode(item, tokenizer) for item in islice(stream, settings.batch)]
        examples.sort(key=lambda example: len(example.prompt) + len(example.response))
        yield [sampler.batch(examples[i : i + size]) for i in range(0, len(examples), size)]


def train(settings: Settings, tokenizer: PreTrainedTokenizerFast, seed: int, report: Callable[[str], None]) -> Trained:
    """Train from scratch; `report` gets a line of progress now and then."""
    torch.manual_seed(seed)
    model = new_model(settings.model, tokenizer)
    table = rotary_table(model)
    steppers = optimizers(model, settings)
    schedule = Schedule(steppers, settings)
    begun = time.monotonic()
    sums = torch.zeros(4)
    loss = math.nan
    for step, parts in enumerate(chunked(settings, tokenizer, seed)):
        schedule.set(step)
        sums += _step(model, table, parts, settings, steppers)
        if (step + 1) % REPORT_EVERY == 0 or step + 1 == settings.steps:
            loss, first, depth = (sums[:3] / sums[3]).tolist()
            seconds = time.monotonic() - begun
            report(
                f"step {step + 1}/{settings.steps}  loss {loss:.4f}  first pass {first:.4f}  "
                f"sampled exit {depth:.2f}  {seconds:.0f} s"
            )
            sums.zero_()
    return Trained(model.eval(), time.monotonic() - begun, loss)


def _step(
    model: LoopedModel,
    table: RotaryTable,
    parts: list[Batch],
    settings: Settings,
    steppers: list[torch.optim.Optimizer],
) -> torch.Tensor:
    """Take one optimizer step; return the sums of loss, first-pass loss, exit depth and weight."""
    total = sum(part.weights.sum() for part in parts)
    sums = torch.zeros(4)
    for part in parts:
        outcome = objective.run(model, table, part, settings.objective)
        ((outcome.token_loss + outcome.gate_loss) / total).backward()
        sums += torch.tensor([outcome.token_loss.item(), outcome.first_loss, outcome.exit_depth, outcome.weight])
    gate = list(model.exit_gate.parameters())
    nn.utils.clip_grad_norm_([*model.model.parameters(), *model.lm_head.parameters()], settings.clip_norm)
    nn.utils.clip_grad_norm_(gate, settings.clip_norm)
    for stepper in steppers:
        stepper.step()
        stepper.zero_grad(set_to_none=True)
    return sums
