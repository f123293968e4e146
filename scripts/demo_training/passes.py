"""Running the package's looped stack in training: the prefix once, then windows pass by pass, with autograd.

It computes what decoding computes: the prefix's keys and values of depth d come from pass d, or from a row's last
executed pass where it stopped earlier; its coda keys come from its last executed pass. Keys and values are
[items, kv_heads, rows, head_dim], hidden states [items, rows, hidden].
"""

from __future__ import annotations

import torch
from torch import Tensor

from alodlm.model.layers import RotaryTable, Rows
from alodlm.model.looped import LoopedModel
from demo_training.batches import Batch

KeyValues = tuple[Tensor, Tensor]


class Kept:
    """One layer's keys and values of the prefix; rows that no longer run keep those of the pass before."""

    def __init__(self, running: Tensor | None = None, before: Kept | None = None) -> None:
        """`running`: [items, rows]; where it is false, `before` has the keys and values."""
        self._running, self._before = running, before
        self.pair: KeyValues

    def update(self, keys: Tensor, values: Tensor) -> KeyValues:
        """Take a pass's keys and values; return those to attend to."""
        if self._running is not None and self._before is not None:
            here = self._running[:, None, :, None]
            old_keys, old_values = self._before.pair
            keys, values = torch.where(here, keys, old_keys), torch.where(here, values, old_values)
        self.pair = keys, values
        return self.pair


class Joined:
    """A prefix's keys and values in front of a window's own."""

    def __init__(self, prefix: Kept) -> None:
        self._keys, self._values = prefix.pair

    def update(self, keys: Tensor, values: Tensor) -> KeyValues:
        """Return [prefix + rows] keys and values."""
        return torch.cat((self._keys, keys), dim=2), torch.cat((self._values, values), dim=2)


def rotary_table(model: LoopedModel) -> RotaryTable:
    """Return the table of all positions in the weights' place and type."""
    weight = model.model.embed_tokens.weight
    return RotaryTable.build(
        model.config, model.config.max_position_embeddings, device=weight.device, dtype=weight.dtype
    )


def additive(mask: Tensor, queries_per_key: int) -> Tensor:
    """Return the layers' additive mask of a boolean one [items, rows, keys] that is true where a row may look."""
    lines = torch.zeros(mask.shape).masked_fill_(~mask, -torch.inf)
    return lines.repeat_interleave(queries_per_key, dim=1)[:, None]


class Prefix:
    """A batch's prefix after its passes: `kept` holds, for each depth, one `Kept` a layer of the whole stack."""

    def __init__(self, model: LoopedModel, table: RotaryTable, tokens: Tensor, depths: Tensor) -> None:
        """`tokens` and `depths` (passes that each row ran) are [items, prefix]."""
        config = model.config
        rows = table.rows(torch.arange(tokens.shape[1])[None])
        ends = [Kept() for _ in range(config.num_hidden_layers)]
        h = last = model.prelude(model.embed(tokens), rows, ends)
        self.kept: list[list[Kept]] = []
        for depth in range(config.max_depth):
            running = depths > depth
            here = list(ends)
            for i in config.core_layers:
                here[i] = Kept(running, self.kept[-1][i] if self.kept else None)
            h = model.core(h, rows, here)
            self.kept.append(here)
            last = torch.where(running[:, :, None], h, last)
            h = model.final_norm(h)
        model.coda(last, rows, ends)


class WindowRun:
    """The window rows of a batch, pass by pass over a prefix."""

    def __init__(self, model: LoopedModel, table: RotaryTable, prefix: Prefix, batch: Batch) -> None:
        self._model = model
        self._past = [[Joined(kept) for kept in layers] for layers in prefix.kept]
        mask = additive(batch.window_mask(), model.config.queries_per_key)
        self._rows: Rows = table.rows(batch.positions, mask)
        self._h = model.prelude(model.embed(batch.tokens), self._rows, self._past[0])

    def features(self, depth: int) -> Tensor:
        """Run the core once more and return the features [items, rows, hidden] of this depth."""
        past = self._past[depth]
        self._h = self._model.core(self._h, self._rows, past)
        return self._model.final_norm(self._model.coda(self._h, self._rows, past))

    def carry(self, committed: Tensor, tokens: Tensor) -> None:
        """Prepare the next pass: norm the carry and put the tokens' embeddings where rows have just committed."""
        self._h = torch.where(committed[:, :, None], self._model.embed(tokens), self._model.final_norm(self._h))
