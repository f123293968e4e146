"""A fresh looped model for training: the package's own layers with initial weights."""

from __future__ import annotations

import torch
from torch import nn
from transformers import PreTrainedTokenizerFast

from alodlm.model.config import LoopedConfig
from alodlm.model.looped import LoopedModel
from demo_training.settings import ModelShape

_STD, _RESIDUAL_STD = 0.06, 0.02


def config(shape: ModelShape, tokenizer: PreTrainedTokenizerFast) -> LoopedConfig:
    """Return the configuration of the model that is trained."""
    return LoopedConfig(
        vocab_size=len(tokenizer),
        hidden_size=shape.hidden_size,
        intermediate_size=shape.intermediate_size,
        num_hidden_layers=shape.layers,
        num_attention_heads=shape.heads,
        num_key_value_heads=shape.kv_heads,
        head_dim=shape.head_dim,
        max_position_embeddings=shape.context,
        rms_norm_eps=shape.rms_norm_eps,
        rope_theta=shape.rope_theta,
        tie_word_embeddings=False,
        loop_start=shape.loop_start,
        loop_end=shape.loop_end,
        max_depth=shape.max_depth,
        mask_token_id=tokenizer.mask_token_id,
    )


def new_model(shape: ModelShape, tokenizer: PreTrainedTokenizerFast) -> LoopedModel:
    """Return a model with initial weights drawn from torch's generator, its gate at equal exit mass a depth."""
    model = LoopedModel(config(shape, tokenizer))
    for name, weight in model.named_parameters():
        if weight.dim() == 2:
            residual = name.endswith(("o_proj.weight", "down_proj.weight"))
            nn.init.normal_(weight, std=_RESIDUAL_STD if residual else _STD)
    gate = model.exit_gate
    nn.init.zeros_(gate.net.weight)
    nn.init.zeros_(gate.net.bias)
    # Hazards 1/D, 1/(D-1), …; the last depth is forced in training and in decoding, so its bias says nothing.
    hazards = torch.tensor([1 / (shape.max_depth - depth) for depth in range(shape.max_depth)])
    gate.depth_bias.data = hazards.clamp(max=0.9).logit()
    return model
