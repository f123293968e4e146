"""Keys and values of the prefix, allocated once and written in place.

Prelude and coda layers have one cache, each core layer one per depth. A window's rows are written behind the prefix,
observed rows first; those that stay are its first rows, so keeping them only moves `length`, and the rest is
overwritten by the next window. Layers that run on different devices have their caches there.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from alodlm.model.config import LoopedConfig


class LayerPast:
    """One layer's cache at one depth: `[batch, kv_head, capacity, head_dim]` keys and values."""

    __slots__ = ("_cache", "keys", "values")

    def __init__(self, cache: KeyValueCache, pair: Tensor) -> None:
        self._cache = cache
        self.keys, self.values = pair[0], pair[1]

    def update(self, keys: Tensor, values: Tensor) -> tuple[Tensor, Tensor]:
        """Write the rows `[batch, kv_head, rows, head_dim]` behind the prefix; return views of prefix and rows."""
        start = self._cache.length
        stop = start + keys.shape[2]
        self.keys[:, :, start:stop] = keys
        self.values[:, :, start:stop] = values
        return self.keys[:, :, :stop], self.values[:, :, :stop]


class KeyValueCache:
    """Caches of every layer and depth for `batch` sequences of up to `capacity` rows, `length` of them kept."""

    def __init__(
        self, config: LoopedConfig, capacity: int, dtype: torch.dtype, devices: Sequence[torch.device], batch: int = 1
    ) -> None:
        self.length, self.capacity = 0, capacity
        self._cores: list[Tensor] = []
        row = (batch, config.num_key_value_heads, capacity, config.head_dim)
        pasts: dict[int, list[LayerPast]] = {}
        for device in dict.fromkeys(devices):
            here = [index for index, its in enumerate(devices) if its == device]
            core = [index for index in here if index in config.core_layers]
            outer = [index for index in here if index not in config.core_layers]
            looped = torch.empty(2, len(core), config.max_depth, *row, dtype=dtype, device=device)
            single = torch.empty(2, len(outer), *row, dtype=dtype, device=device)
            self._cores.append(looped)
            for at, index in enumerate(core):
                pasts[index] = [LayerPast(self, looped[:, at, depth]) for depth in range(config.max_depth)]
            for at, index in enumerate(outer):
                pasts[index] = [LayerPast(self, single[:, at])] * config.max_depth
        self._by_depth = [[pasts[index][d] for index in range(len(devices))] for d in range(config.max_depth)]

    def at(self, depth: int) -> Sequence[LayerPast]:
        """Return the cache of every layer, by layer index, as the pass at 0-based `depth` sees it."""
        return self._by_depth[depth]

    def keep(self, rows: int, executed: int) -> None:
        """Make the first `rows` rows of the window that just ran `executed` passes part of the prefix.

        Depths that did not run take a copy of the last pass's keys and values.
        """
        stop = self.length + rows
        for looped in self._cores:
            ran = looped[:, :, executed - 1 : executed, ..., self.length : stop, :]
            looped[:, :, executed:, ..., self.length : stop, :] = ran
        self.length = stop

    def clear(self) -> None:
        """Forget the prefix; the memory stays."""
        self.length = 0
