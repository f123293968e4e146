"""A checkpoint folder: checked as a whole when opened, loaded once, identified without its path.

Opening reads configurations and headers and refuses whatever would fail later. Loading builds the model without
memory, then brings each tensor straight to its device and type, so that no second copy of the weights ever exists.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path

import torch
from msgspec import Struct
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode

from alodlm.errors import InputError, StageError
from alodlm.model import weights
from alodlm.model.config import CONFIG, LOOP_CONFIG, LOOP_KEYS, LoopedConfig, read_config
from alodlm.model.gate import gate_file, read_gate
from alodlm.model.looped import LoopedModel
from alodlm.model.placement import DISK, DeviceMap, attach_hooks, place_blocks
from alodlm.model.weights import StoredTensor

_GATE = "exit_gate."
_IDENTIFYING = (
    CONFIG, LOOP_CONFIG, weights.INDEX, "generation_config.json", "tokenizer.json", "tokenizer_config.json",
    "special_tokens_map.json", "added_tokens.json", "vocab.json", "merges.txt",
)  # fmt: skip


class Checkpoint(Struct, frozen=True):
    """An opened checkpoint folder; nothing but headers and the gate has been read."""

    folder: Path
    config: LoopedConfig
    tensors: dict[str, StoredTensor]
    gate: Path

    def identity(self) -> str:
        """Return a SHA-256 over configurations, tokenizer, gate, safetensors headers and file sizes; no path in it."""
        parts: list[object] = [{key: getattr(self.config, key) for key in LOOP_KEYS}]
        for name in (*_IDENTIFYING, self.gate.name):
            file = self.folder / name
            parts.append([name, hashlib.sha256(file.read_bytes()).hexdigest() if file.is_file() else None])
        for file in sorted({tensor.file for tensor in self.tensors.values()}):
            parts.append([file.name, file.stat().st_size, weights.header_hash(file)])
        return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()

    def load(self, device: torch.device, dtype: torch.dtype, device_map: DeviceMap = None) -> LoopedModel:
        """Load the weights as `dtype` onto `device`, or where `device_map` puts each block (see `placement`)."""
        model = build_empty(self.config, dtype)
        placed = place_blocks(model, device, device_map)
        for name, stored in self.tensors.items():
            target = placed.device_of(name)
            if target != DISK:
                _assign(model, name, _checked(weights.read(name, stored), name, stored.file), torch.device(target))
        for name, tensor in read_gate(self.gate, self.config).items():
            _assign(model, _GATE + name, tensor, torch.device(placed.device_of(_GATE + name)))
        model.tie()
        attach_hooks(model, placed, self.tensors, dtype)
        return model.eval()


def open_checkpoint(folder: Path, model_config: Path | None = None) -> Checkpoint:
    """Open a checkpoint folder, refusing everything that is wrong with it before any weight is read."""
    if not folder.is_dir():
        raise InputError(str(folder), "must be a checkpoint folder", next_step="give the folder, not a file in it")
    config = read_config(folder, model_config)
    tensors = weights.stored_tensors(folder)
    weights.check_layer_count(tensors, config, folder)
    weights.check(tensors, expected_shapes(config), folder)
    gate = gate_file(folder)
    read_gate(gate, config)
    return Checkpoint(folder, config, tensors, gate)


def build_empty(config: LoopedConfig, dtype: torch.dtype) -> LoopedModel:
    """Build the model without memory for its weights; the gate's two biases stay float32 in every precision."""
    with torch.device("meta"), _NoInitialisation():
        model = LoopedModel(config).to(dtype).requires_grad_(False)
        model.exit_gate.net.bias.data = model.exit_gate.net.bias.data.float()
        model.exit_gate.depth_bias.data = model.exit_gate.depth_bias.data.float()
    return model


class _NoInitialisation(TorchFunctionMode):
    """Skips `torch.nn.init`: on the meta device it fills nothing, and imports a compiler for seconds to do so."""

    def __torch_function__(self, func, types, args=(), kwargs=None):
        if getattr(func, "__module__", "") == "torch.nn.init":
            return kwargs["tensor"] if kwargs and "tensor" in kwargs else args[0]
        return func(*args, **(kwargs or {}))


def expected_shapes(config: LoopedConfig) -> Mapping[str, tuple[int, ...]]:
    """Return name and shape of every tensor the weight files must hold: no gate, and no output head when tied."""
    state = build_empty(config, torch.float32).state_dict()
    skip = {"lm_head.weight"} if config.tie_word_embeddings else set()
    return {name: tuple(t.shape) for name, t in state.items() if not name.startswith(_GATE) and name not in skip}


def _assign(model: LoopedModel, name: str, tensor: Tensor, device: torch.device) -> None:
    owner_name, _, leaf = name.rpartition(".")
    owner = model.get_submodule(owner_name)
    try:
        own = torch.empty(tensor.shape, dtype=getattr(owner, leaf).dtype, device=device)
    except RuntimeError as error:  # what PyTorch raises when an allocation fails, on every device
        step = "use --precision bf16, or spread the model with device_map"
        raise StageError(f"weights: {name}", f"does not fit the memory of {device}", next_step=step) from error
    setattr(owner, leaf, nn.Parameter(own.copy_(tensor), requires_grad=False))


def _checked(tensor: Tensor, name: str, file: Path) -> Tensor:
    least, most = torch.aminmax(tensor)
    if not (torch.isfinite(least) and torch.isfinite(most)):
        raise InputError(f"{file}: {name}", "must be finite", next_step="download the checkpoint again")
    return tensor
