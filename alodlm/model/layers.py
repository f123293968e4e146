"""Qwen3 layers as plain modules: RMS norm, rotary positions, grouped-query attention, gated MLP.

One code path serves training and decoding. Without `past` a layer attends over its own rows and is differentiable;
with `past` it hands its keys and values over and attends over what it gets back. The layers know nothing of caches,
windows or depths. Parameter names are those of the Hugging Face checkpoints.
"""

from __future__ import annotations

from typing import NamedTuple, Protocol

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from alodlm.model.config import LoopedConfig


class Rows(NamedTuple):
    """What every layer needs to know about the rows of one call.

    `cos`, `sin`: `[batch or 1, rows, 1, head_dim]`, of the rows' logical positions.
    `mask`: added to the attention scores, `[batch or 1, 1, rows * queries_per_key, keys]` with each row's line
    repeated for the query heads that share a key (`window_mask` builds it); None is causal over the rows themselves.
    """

    cos: Tensor
    sin: Tensor
    mask: Tensor | None = None


class Past(Protocol):
    """Where a layer's keys and values go, and the ones it attends over come from."""

    def update(self, keys: Tensor, values: Tensor) -> tuple[Tensor, Tensor]:
        """Take the rows' `[batch, kv_head, rows, head_dim]`; return prefix and rows, `[batch, kv_head, keys, …]`."""


class RotaryTable(NamedTuple):
    """Cosines and sines of every position, `[positions, head_dim]`; computed in float32, cast once."""

    cos: Tensor
    sin: Tensor

    @classmethod
    def build(cls, config: LoopedConfig, length: int, *, device: torch.device, dtype: torch.dtype) -> RotaryTable:
        """Tabulate positions `0 … length - 1` of default (unscaled) RoPE."""
        exponents = torch.arange(0, config.head_dim, 2, dtype=torch.float32, device=device) / config.head_dim
        angles = torch.outer(
            torch.arange(length, dtype=torch.float32, device=device), 1.0 / config.rope_theta**exponents
        )
        angles = torch.cat((angles, angles), dim=-1)
        return cls(angles.cos().to(dtype), angles.sin().to(dtype))

    def rows(self, positions: Tensor, mask: Tensor | None = None) -> Rows:
        """Look up logical `positions`, `[batch or 1, rows]`."""
        return Rows(self.cos[positions].unsqueeze(-2), self.sin[positions].unsqueeze(-2), mask)


def window_mask(rows: int, prefix: int, config: LoopedConfig, *, device: torch.device, dtype: torch.dtype) -> Tensor:
    """Return the additive mask of `rows` that each see the whole prefix, themselves and the rows before them.

    The last dimension is cut from a width rounded up to 16, which is how fused CUDA kernels want masks aligned.
    """
    keys = prefix + rows
    mask = torch.zeros(rows, config.queries_per_key, -(-keys // 16) * 16, device=device, dtype=dtype)[..., :keys]
    later = torch.ones(rows, rows, dtype=torch.bool, device=device).triu_(1)
    mask[..., prefix:].masked_fill_(later.unsqueeze(1), -torch.inf)
    return mask.flatten(0, 1)[None, None]


class RMSNorm(nn.Module):
    """`x / rms(x) * weight`, computed in float32 and cast once."""

    def __init__(self, width: int, eps: float) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width))
        self.eps = eps

    def forward(self, hidden: Tensor) -> Tensor:
        return F.rms_norm(hidden, self.weight.shape, self.weight, self.eps)


def _rotate(heads: Tensor, rows: Rows) -> Tensor:
    first, second = heads.chunk(2, dim=-1)
    return torch.addcmul(heads * rows.cos, torch.cat((-second, first), dim=-1), rows.sin)


class Attention(nn.Module):
    """Grouped-query attention with per-head norms on queries and keys; keys are never repeated."""

    def __init__(self, config: LoopedConfig) -> None:
        super().__init__()
        self.head_dim, self.groups = config.head_dim, config.queries_per_key
        width = config.num_attention_heads * config.head_dim
        shared = config.num_key_value_heads * config.head_dim
        self.q_proj = nn.Linear(config.hidden_size, width, bias=False)
        self.k_proj = nn.Linear(config.hidden_size, shared, bias=False)
        self.v_proj = nn.Linear(config.hidden_size, shared, bias=False)
        self.o_proj = nn.Linear(width, config.hidden_size, bias=False)
        self.q_norm = RMSNorm(config.head_dim, config.rms_norm_eps)
        self.k_norm = RMSNorm(config.head_dim, config.rms_norm_eps)

    def forward(self, hidden: Tensor, rows: Rows, past: Past | None = None) -> Tensor:
        heads = (*hidden.shape[:-1], -1, self.head_dim)
        queries = _rotate(self.q_norm(self.q_proj(hidden).view(heads)), rows)
        keys = _rotate(self.k_norm(self.k_proj(hidden).view(heads)), rows).transpose(1, 2)
        values = self.v_proj(hidden).view(heads).transpose(1, 2)
        if past is not None:
            keys, values = past.update(keys, values)
        attend = self._causal if rows.mask is None else self._masked
        return self.o_proj(attend(queries, keys, values, rows.mask))

    def _causal(self, queries: Tensor, keys: Tensor, values: Tensor, _: None) -> Tensor:
        attended = F.scaled_dot_product_attention(
            queries.transpose(1, 2), keys, values, is_causal=True, enable_gqa=self.groups > 1
        )
        return attended.transpose(1, 2).flatten(-2)

    def _masked(self, queries: Tensor, keys: Tensor, values: Tensor, mask: Tensor) -> Tensor:
        # Query heads that share a key become further rows of it: no backend then has to repeat the keys.
        batch, rows, _, width = queries.shape
        folded = queries.view(batch, rows, -1, self.groups, width).transpose(1, 2).flatten(2, 3)
        attended = F.scaled_dot_product_attention(folded, keys, values, attn_mask=mask)
        return attended.unflatten(2, (rows, self.groups)).transpose(1, 2).flatten(2)


class MLP(nn.Module):
    """`down(silu(gate(x)) * up(x))`."""

    def __init__(self, config: LoopedConfig) -> None:
        super().__init__()
        self.gate_proj = nn.Linear(config.hidden_size, config.intermediate_size, bias=False)
        self.up_proj = nn.Linear(config.hidden_size, config.intermediate_size, bias=False)
        self.down_proj = nn.Linear(config.intermediate_size, config.hidden_size, bias=False)

    def forward(self, hidden: Tensor) -> Tensor:
        return self.down_proj(F.silu(self.gate_proj(hidden)) * self.up_proj(hidden))


class DecoderLayer(nn.Module):
    """Pre-norm attention and MLP with residuals; `hidden` is `[batch, rows, hidden]` in and out."""

    def __init__(self, config: LoopedConfig) -> None:
        super().__init__()
        self.self_attn = Attention(config)
        self.mlp = MLP(config)
        self.input_layernorm = RMSNorm(config.hidden_size, config.rms_norm_eps)
        self.post_attention_layernorm = RMSNorm(config.hidden_size, config.rms_norm_eps)

    def forward(self, hidden: Tensor, rows: Rows, past: Past | None = None) -> Tensor:
        hidden = hidden + self.self_attn(self.input_layernorm(hidden), rows, past)
        return hidden + self.mlp(self.post_attention_layernorm(hidden))
