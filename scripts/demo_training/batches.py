"""Decoding states as training rows: what a window of the decoder sees, cut out of an item.

An item's prefix is its prompt and its response; each of its windows sees the prefix up to where it begins, and
holds its slots in the decoder's physical order: observed tokens first, then masks, each group by position.
"""

from __future__ import annotations

import random
from dataclasses import dataclass

import torch
from torch import Tensor
from transformers import PreTrainedTokenizerFast

from demo_training.items import Item
from demo_training.settings import Settings, Windows

_SLOTS_PAST_END = 2


@dataclass(frozen=True)
class Encoded:
    """Token ids of an item. `key_start` is the response index from which the answer's text decides the score."""

    prompt: list[int]
    response: list[int]
    key_start: int


@dataclass(frozen=True)
class Batch:
    """Rows of several items. Prefix tensors are [items, prefix], window tensors [items, rows].

    `prefix_depths` are the passes that a prefix row ran. `begin` is the number of prefix rows that a window row
    sees, `window` the number of its window (-1 for padding), `targets` its true token and `weights` its share in
    the loss (0 for observed rows and padding).
    """

    prefix_tokens: Tensor
    prefix_depths: Tensor
    tokens: Tensor
    positions: Tensor
    begin: Tensor
    window: Tensor
    targets: Tensor
    weights: Tensor

    def window_mask(self) -> Tensor:
        """Return [items, rows, prefix + rows]: which keys each window row attends to."""
        prefix, rows = self.prefix_tokens.shape[1], self.tokens.shape[1]
        sees_prefix = torch.arange(prefix) < self.begin[:, :, None]
        same_window = self.window[:, :, None] == self.window[:, None, :]
        return torch.cat((sees_prefix, same_window & causal(rows)), dim=2)


def causal(rows: int) -> Tensor:
    """Return [rows, rows]: true where the key is at or before the query."""
    return torch.ones(rows, rows, dtype=torch.bool).tril()


def encode(item: Item, tokenizer: PreTrainedTokenizerFast) -> Encoded:
    """Tokenise an item; the end token is not part of the response here."""
    response = tokenizer(item.response, add_special_tokens=False).input_ids
    prompt = tokenizer(item.prompt, add_special_tokens=False).input_ids
    return Encoded(prompt, response, item.response.rindex(item.key))


class Sampler:
    """Draws windows from encoded items."""

    def __init__(self, settings: Settings, tokenizer: PreTrainedTokenizerFast, rng: random.Random) -> None:
        self._windows: Windows = settings.windows
        self._objective = settings.objective
        self._max_depth = settings.model.max_depth
        self._end, self._mask, self._pad = tokenizer.eos_token_id, tokenizer.mask_token_id, tokenizer.pad_token_id
        self._rng = rng

    def batch(self, examples: list[Encoded]) -> Batch:
        """Return the rows of `per_item` windows of each example, padded to the longest."""
        prefixes, depths, rows = [], [], []
        for example in examples:
            prefixes.append(example.prompt + example.response)
            passes = self._rng.choices(
                range(1, self._max_depth + 1), self._windows.prefix_depths, k=len(example.response)
            )
            depths.append([self._max_depth] * len(example.prompt) + passes)
            rows.append([row for j in range(self._windows.per_item) for row in self._window(example, j)])
        columns = [_padded([[row[c] for row in item] for item in rows], pad) for c, pad in enumerate(self._row_pads())]
        return Batch(_padded(prefixes, self._pad), _padded(depths, self._max_depth), *columns)

    def _row_pads(self) -> tuple[float, ...]:
        return self._pad, 0, 0, -1, self._pad, 0.0

    def _window(self, example: Encoded, number: int) -> list[tuple[float, ...]]:
        """Return one window's rows: token, position, prefix length, window number, target, weight."""
        start, lead, scattered = self._state(len(example.response))
        begin = len(example.prompt) + start
        slots = lead + self._windows.size
        if self._rng.random() >= self._windows.whole_share:
            slots = min(slots, len(example.response) - start + 1 + _SLOTS_PAST_END)
        observed, masked = [], []
        for slot in range(slots):
            index = start + slot
            target = example.response[index] if index < len(example.response) else self._end
            if slot < lead or self._rng.random() < scattered:
                observed.append((target, begin + slot, begin, number, target, 0.0))
            else:
                masked.append((self._mask, begin + slot, begin, number, target, self._weight(example, index)))
        return observed + masked

    def _state(self, response: int) -> tuple[int, int, float]:
        """Draw where a window begins, how many slots lead it, and the share of later slots that are filled."""
        rng, shares = self._rng, self._windows
        scattered = rng.random() * 0.7 if rng.random() < shares.scattered_share else 0.0
        if rng.random() < shares.first_share:
            return 0, 0, scattered
        longest = shares.size if rng.random() < shares.long_lead_share else 3
        start = rng.randint(0, response)
        return start, min(rng.randint(1, longest), response - start), scattered

    def _weight(self, example: Encoded, index: int) -> float:
        if index > len(example.response):
            return self._objective.after_end_weight
        return self._objective.key_weight if example.key_start <= index < len(example.response) else 1.0


def _padded(rows: list[list[float]], pad: float) -> Tensor:
    longest = max(map(len, rows))
    return torch.tensor([row + [pad] * (longest - len(row)) for row in rows])
