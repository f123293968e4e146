"""Where the blocks of a model live: one device, or accelerate's map over GPUs, memory and disk.

A block is the embedding, one layer, the final norm or a head; blocks are never split. Blocks on the disk stay in the
checkpoint's own files and are read when they run. Refuses maps that leave a block out, name a part of a block, or name
a device that is not there.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping

import torch
from msgspec import Struct

from alodlm.errors import InputError, MissingError
from alodlm.model.looped import LoopedModel
from alodlm.model.weights import StoredTensor

DISK = "disk"
DeviceMap = None | str | Mapping[str, str | int | torch.device]
_EMBEDDING, _HEAD, _GATE = "model.embed_tokens", "lm_head", "exit_gate"
_ADVICE = 'give "auto", or a device (cpu, disk, cuda:N) for every block, such as {"": "cpu", "model.layers.5": "disk"}'


class Placement(Struct, frozen=True):
    """The device of every block (`disk` included), and the device on which blocks in memory or on disk run."""

    blocks: dict[str, str]
    main: str

    def device_of(self, tensor: str) -> str:
        """Return where a tensor's block lives."""
        return self.blocks[_owner(tensor, self.blocks)]

    def runs_on(self, block: str) -> torch.device:
        """Return where a block computes: where it lives, or the main device if that is only storage."""
        lives = self.blocks[block]
        return torch.device(self.main if lives in ("cpu", DISK) else lives)


def place_blocks(model: LoopedModel, device: torch.device, device_map: DeviceMap) -> Placement:
    """Work out a device for every block of an empty `model`; without a map all of them go to `device`."""
    main = str(device)
    names = [_EMBEDDING, *(f"model.layers.{i}" for i in range(len(model.model.layers))), "model.norm", _HEAD, _GATE]
    if device_map is None:
        return Placement(dict.fromkeys(names, main), main)
    given = _automatic(model, device) if device_map == "auto" else device_map
    if not isinstance(given, Mapping):
        raise InputError("device_map", "must be None, auto or a mapping", value=given, next_step=_ADVICE)
    known = {str(name): _device_name(str(name), value, device) for name, value in given.items()}
    _refuse_strangers(known, names)
    blocks = {name: known[_covering(name, known)] for name in names}
    # The gate has no safetensors file to be read back from, and tied heads are one tensor.
    blocks[_GATE] = main
    if model.config.tie_word_embeddings:
        blocks[_HEAD] = blocks[_EMBEDDING]
    return Placement(blocks, main)


def attach_hooks(
    model: LoopedModel, placed: Placement, tensors: Mapping[str, StoredTensor], dtype: torch.dtype
) -> None:
    """Let accelerate move inputs and stored weights where blocks run; does nothing for a model on one device."""
    model.layer_devices = [placed.runs_on(f"model.layers.{i}") for i in range(len(model.model.layers))]
    if set(placed.blocks.values()) == {placed.main}:
        return
    from accelerate import dispatch_model

    index = {name: _index_entry(name, stored, dtype) for name, stored in tensors.items()}
    if model.config.tie_word_embeddings:
        index[f"{_HEAD}.weight"] = index[f"{_EMBEDDING}.weight"]
    on_disk = {name: entry for name, entry in index.items() if placed.device_of(name) == DISK}
    logging.getLogger("accelerate.big_modeling").setLevel(logging.ERROR)
    # accelerate compares the main device with strings, so it gets one.
    dispatch_model(model, placed.blocks, placed.main, offload_index=on_disk or None, force_hooks=True)


def _automatic(model: LoopedModel, device: torch.device) -> dict[str, int | str]:
    from accelerate import infer_auto_device_map
    from accelerate.utils import get_max_memory

    memory = get_max_memory()
    if device.type == "cpu":
        memory = {"cpu": memory["cpu"]}
    return infer_auto_device_map(model, max_memory=memory, no_split_module_classes=["DecoderLayer"])


def _index_entry(name: str, stored: StoredTensor, dtype: torch.dtype) -> dict[str, str]:
    return {"safetensors_file": str(stored.file), "weight_name": name, "dtype": str(dtype).removeprefix("torch.")}


def _owner(name: str, among: Mapping[str, object]) -> str:
    while name and name not in among:
        name = name.rpartition(".")[0]
    return name


def _covering(name: str, known: Mapping[str, str]) -> str:
    owner = _owner(name, known)
    if owner not in known:
        raise InputError("device_map", f"must place every block, and {name} has no device", next_step=_ADVICE)
    return owner


def _refuse_strangers(known: Mapping[str, str], names: list[str]) -> None:
    for key in known:
        if key and not any(name == key or name.startswith(f"{key}.") for name in names):
            rule = "keys must be blocks of the model; a layer cannot be split"
            raise InputError("device_map", rule, value=key, next_step=_ADVICE)


def _device_name(block: str, value: object, main: torch.device) -> str:
    if value == DISK:
        return DISK
    try:
        device = torch.device("cuda", value) if isinstance(value, int) else torch.device(value)
    except (RuntimeError, TypeError):
        raise InputError(f"device_map: {block!r}", "must be a device", value=value, next_step=_ADVICE) from None
    if device.type not in ("cpu", "cuda"):
        raise InputError(f"device_map: {block!r}", "must be cpu, disk or cuda", value=value, next_step=_ADVICE)
    if device.type == "cuda" and (device.index or 0) >= torch.cuda.device_count():
        raise MissingError(f"device_map: {block!r}", f"no CUDA device {device} here", next_step="choose another device")
    if device.type == "cuda" and main.type == "cpu":
        raise InputError(f"device_map: {block!r}", "cannot be on CUDA while the device is cpu", next_step=_ADVICE)
    return str(torch.device("cuda", device.index or 0)) if device.type == "cuda" else "cpu"
