"""Writing the checkpoint folder: the files that the loader documents, with the same bytes for the same weights."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import save_file
from transformers import PreTrainedTokenizerFast

from alodlm.model.looped import LoopedModel
from demo_training import tokenizer as demo_tokenizer
from demo_training.settings import Settings


def write(folder: Path, model: LoopedModel, tokenizer: PreTrainedTokenizerFast, settings: Settings) -> None:
    """Write weights, gate, configs and tokenizer into a folder that exists."""
    gate, weights = {}, {}
    for name, tensor in model.state_dict().items():
        inside_gate = name.removeprefix("exit_gate.")
        (weights if inside_gate == name else gate)[inside_gate] = tensor.to(torch.float32).contiguous()
    for name, tensors in (("model", weights), ("exit_gate", gate)):
        path = folder / f"{name}.safetensors"
        save_file(tensors, path, {"format": "pt"})
        path.chmod(0o644)  # safetensors makes files that only their owner can read
    ids = {"eos_token_id": tokenizer.eos_token_id, "pad_token_id": tokenizer.pad_token_id}
    _write_json(folder / "config.json", _config(model) | ids)
    _write_json(folder / "alodlm_config.json", _loop_config(model, settings))
    _write_json(folder / "generation_config.json", ids)
    demo_tokenizer.write(folder, settings.model.context)


def _config(model: LoopedModel) -> dict[str, Any]:
    """Return the Qwen3 config of the stack."""
    config = model.config
    return {
        "architectures": ["Qwen3ForCausalLM"],
        "model_type": "qwen3",
        "vocab_size": config.vocab_size,
        "hidden_size": config.hidden_size,
        "intermediate_size": config.intermediate_size,
        "num_hidden_layers": config.num_hidden_layers,
        "num_attention_heads": config.num_attention_heads,
        "num_key_value_heads": config.num_key_value_heads,
        "head_dim": config.head_dim,
        "hidden_act": "silu",
        "attention_bias": False,
        "attention_dropout": 0.0,
        "max_position_embeddings": config.max_position_embeddings,
        "rms_norm_eps": config.rms_norm_eps,
        "rope_parameters": {"rope_type": "default", "rope_theta": config.rope_theta},
        "tie_word_embeddings": False,
        "use_sliding_window": False,
        "sliding_window": None,
        "dtype": "float32",
    }


def _loop_config(model: LoopedModel, settings: Settings) -> dict[str, Any]:
    """Return the looped part: the four keys that decoding needs, and what training used."""
    config = model.config
    return {
        "loop_start": config.loop_start,
        "loop_end": config.loop_end,
        "max_depth": config.max_depth,
        "mask_token_id": config.mask_token_id,
        "block_size": settings.windows.size,
        "depth_prior_c": settings.objective.depth_prior_c,
    }


def _write_json(path: Path, value: dict[str, Any]) -> None:
    path.write_text(json.dumps(value, indent=2) + "\n", encoding="utf-8")
