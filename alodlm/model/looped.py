"""The looped stack: prelude once, shared core up to `max_depth` times, coda and heads as a readout.

Each part is a method over `[batch, rows, hidden]`, so that a decoder drives the passes and a trainer backpropagates
through the same code. What happens between passes (commits, halting, injection) is not known here.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from alodlm.model.config import LoopedConfig
from alodlm.model.layers import DecoderLayer, Past, RMSNorm, Rows

_CAST_ROWS = 4096


class OutputProjection(nn.Linear):
    """The output head: operands in the weights' type, accumulation and logits in float32 (bf16 logits tie)."""

    def __init__(self, config: LoopedConfig) -> None:
        super().__init__(config.hidden_size, config.vocab_size, bias=False)

    def forward(self, features: Tensor) -> Tensor:
        if self.weight.dtype == torch.float32:
            return F.linear(features, self.weight)
        rows = features.flatten(0, -2)
        if rows.is_cuda:
            logits = torch.mm(rows, self.weight.t(), out_dtype=torch.float32)
        else:
            # The CPU has no bf16 product with a float32 result; widening a block at a time stays in its caches.
            wide = rows.float()
            logits = torch.cat([wide @ block.float().t() for block in self.weight.split(_CAST_ROWS)], dim=-1)
        return logits.unflatten(0, features.shape[:-1])


class ExitGate(nn.Module):
    """The halting head: `net·features + bias + depth_bias[depth]`, in float32 whatever the features' type."""

    def __init__(self, config: LoopedConfig) -> None:
        super().__init__()
        self.net = nn.Linear(config.hidden_size, 1)
        self.depth_bias = nn.Parameter(torch.zeros(config.max_depth))

    def forward(self, features: Tensor, depth: int) -> Tensor:
        """Return the logit of the hazard at 0-based `depth`: `[…]` for features `[…, hidden]`."""
        projected = features.float() @ self.net.weight[0].float()
        return projected + (self.net.bias.float() + self.depth_bias[depth].float())


class Stack(nn.Module):
    """The tensors that Hugging Face names `model.*`."""

    def __init__(self, config: LoopedConfig) -> None:
        super().__init__()
        self.embed_tokens = nn.Embedding(config.vocab_size, config.hidden_size)
        self.layers = nn.ModuleList(DecoderLayer(config) for _ in range(config.num_hidden_layers))
        self.norm = RMSNorm(config.hidden_size, config.rms_norm_eps)


class LoopedModel(nn.Module):
    """A looped Qwen3 model; weights are as constructed until a checkpoint is loaded.

    `past` is a sequence indexed by layer (one `Past` each) or None for a whole sequence without a cache.
    """

    def __init__(self, config: LoopedConfig) -> None:
        super().__init__()
        self.config = config
        self.model = Stack(config)
        self.lm_head = OutputProjection(config)
        self.exit_gate = ExitGate(config)
        self.layer_devices: list[torch.device] | None = None  # where each layer runs, if not where its weights are
        self.tie()

    def tie(self) -> None:
        """Share the embedding with the output head where the configuration says so; again after weights changed."""
        if self.config.tie_word_embeddings:
            self.lm_head.weight = self.model.embed_tokens.weight

    def embed(self, token_ids: Tensor) -> Tensor:
        """Return raw embeddings `[batch, rows, hidden]` of ids `[batch, rows]`."""
        return self.model.embed_tokens(token_ids)

    def prelude(self, hidden: Tensor, rows: Rows, past: Sequence[Past] | None = None) -> Tensor:
        """Run the layers before the loop, once per window."""
        return self._run(range(self.config.loop_start), hidden, rows, past)

    def core(self, hidden: Tensor, rows: Rows, past: Sequence[Past] | None = None) -> Tensor:
        """Run the looped layers once: one pass."""
        return self._run(self.config.core_layers, hidden, rows, past)

    def coda(self, hidden: Tensor, rows: Rows, past: Sequence[Past] | None = None) -> Tensor:
        """Run the layers after the loop; a branch that reads the carry and does not feed it."""
        return self._run(range(self.config.loop_end, self.config.num_hidden_layers), hidden, rows, past)

    def final_norm(self, hidden: Tensor) -> Tensor:
        """Normalise: the coda's output into features for both heads, and the carry between passes."""
        return self.model.norm(hidden)

    def logits(self, features: Tensor) -> Tensor:
        """Return float32 logits `[…, vocab]` of features `[…, hidden]`."""
        return self.lm_head(features)

    def forward(self, token_ids: Tensor, rows: Rows) -> Tensor:
        """Return the logits `[batch, rows, vocab]` of one pass over whole sequences: a plain Qwen3 model."""
        hidden = self.core(self.prelude(self.embed(token_ids), rows), rows)
        return self.logits(self.final_norm(self.coda(hidden, rows)))

    def _run(self, layers: Iterable[int], hidden: Tensor, rows: Rows, past: Sequence[Past] | None) -> Tensor:
        for index in layers:
            hidden = self.model.layers[index](hidden, rows, None if past is None else past[index])
        return hidden
