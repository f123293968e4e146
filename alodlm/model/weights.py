"""The tensors of a checkpoint folder: which file holds which, and whether they are what the model needs.

Only headers are read here; `read` then hands out one tensor at a time. Refuses, before any weight is loaded, missing,
unexpected or misshapen tensors, biases, quantised types, and shard names that are not plain file names in the folder.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from pathlib import Path

from msgspec import Struct
from safetensors import SafetensorError, safe_open
from torch import Tensor

from alodlm.errors import InputError, MissingError, problem_list
from alodlm.model.config import LoopedConfig, read_json_object

SINGLE = "model.safetensors"
INDEX = "model.safetensors.index.json"
_TYPES = {"F32", "BF16", "F16", "F64"}
_PLAIN_NAME = re.compile(r"[^/\\\x00-\x1f]+\.safetensors")
_ANOTHER = "download the checkpoint again, or use another one"


class StoredTensor(Struct, frozen=True):
    """Where one tensor lies, and its shape and safetensors type, as the file's header says."""

    file: Path
    shape: tuple[int, ...]
    dtype: str


def stored_tensors(folder: Path) -> dict[str, StoredTensor]:
    """List the tensors of `model.safetensors` or of the shards that the index names, in file order."""
    index = folder / INDEX
    single = folder / SINGLE
    if index.exists() and single.exists():
        raise InputError(str(folder), f"holds both {SINGLE} and {INDEX}", next_step="remove the one that is stale")
    if index.exists():
        return _sharded(index)
    if not single.exists():
        rule = f"has no {SINGLE} and no {INDEX}"
        raise MissingError(str(folder), rule, next_step="give a folder with safetensors weights")
    return _listed(single)


def read(name: str, stored: StoredTensor) -> Tensor:
    """Read one tensor, backed by the file's pages until it is freed."""
    try:
        # Opened anew for each tensor: a mapping kept open would keep every page read so far in memory.
        with safe_open(stored.file, framework="pt") as opened:
            return opened.get_tensor(name)
    except (SafetensorError, OSError) as error:
        raise _unreadable(stored.file, error) from None


def header_hash(file: Path) -> str:
    """Return the SHA-256 of a safetensors file's header, which names every tensor, type, shape and offset."""
    with file.open("rb") as opened:
        length = int.from_bytes(opened.read(8), "little")
        return hashlib.sha256(opened.read(length)).hexdigest()


def check(stored: Mapping[str, StoredTensor], expected: Mapping[str, tuple[int, ...]], folder: Path) -> None:
    """Compare names, types and shapes with what the model needs; one error lists every difference."""
    problems = [f"missing: {name} {list(shape)}" for name, shape in expected.items() if name not in stored]
    for name, tensor in stored.items():
        where = f"{name} in {tensor.file.name}"
        if tensor.dtype not in _TYPES:
            problems.append(f"quantised or not floating point ({tensor.dtype}): {where}")
        elif name.endswith("_proj.bias"):
            problems.append(f"an attention or MLP bias is not supported: {where}")
        elif name not in expected:
            problems.append(f"unexpected: {where}")
        elif tensor.shape != expected[name]:
            problems.append(f"misshapen: {where} is {list(tensor.shape)}, config.json asks for {list(expected[name])}")
    if problems:
        raise problem_list(f"{folder}: weights", problems, next_step="use weights that match config.json")


def check_layer_count(stored: Mapping[str, StoredTensor], config: LoopedConfig, folder: Path) -> None:
    """Refuse a layer count that the weights cannot possibly fill, before a model of that many layers is built."""
    if config.num_hidden_layers > len(stored):
        rule = f"must fit the {len(stored)} tensors of the checkpoint"
        value = config.num_hidden_layers
        raise InputError(f"{folder / 'config.json'}: num_hidden_layers", rule, value=value, next_step=_ANOTHER)


def _sharded(index: Path) -> dict[str, StoredTensor]:
    weight_map = read_json_object(index, _ANOTHER).get("weight_map")
    if not isinstance(weight_map, dict) or not weight_map:
        rule = "must be an object from tensor to shard"
        raise InputError(f"{index}: weight_map", rule, value=weight_map, next_step=_ANOTHER)
    shards = {name: _shard_file(shard, index) for name, shard in weight_map.items()}
    listed: dict[str, StoredTensor] = {}
    for file in dict.fromkeys(shards.values()):
        for name, tensor in _listed(file).items():
            if shards.get(name) != file:
                rule = f"holds {name}, which {INDEX} puts in {weight_map.get(name)}"
                raise InputError(str(file), rule, next_step=_ANOTHER)
            listed[name] = tensor
    absent = [f"{name}: not in {file.name}" for name, file in shards.items() if name not in listed]
    if absent:
        raise problem_list(str(index), absent, next_step=_ANOTHER)
    return listed


def _shard_file(shard: object, index: Path) -> Path:
    if not isinstance(shard, str) or not _PLAIN_NAME.fullmatch(shard):
        rule = "a shard must be a plain .safetensors file name in the folder"
        raise InputError(str(index), rule, value=shard, next_step=_ANOTHER)
    return index.parent / shard


def _listed(file: Path) -> dict[str, StoredTensor]:
    if not file.exists():
        raise MissingError(str(file), "no such file", next_step="download the missing shard")
    try:
        with safe_open(file, framework="pt") as opened:
            slices = {name: opened.get_slice(name) for name in opened.offset_keys()}
            return {name: StoredTensor(file, tuple(s.get_shape()), s.get_dtype()) for name, s in slices.items()}
    except (SafetensorError, OSError) as error:
        raise _unreadable(file, error) from None


def _unreadable(file: Path, error: Exception) -> InputError:
    reason = getattr(error, "strerror", None) or str(error)
    rule = "is a folder" if file.is_dir() else f"is not a readable safetensors file ({reason})"
    return InputError(str(file), rule, next_step=_ANOTHER)
