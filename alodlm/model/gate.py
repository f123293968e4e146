"""The halting head's file: three small tensors, read without running any code from it."""

from __future__ import annotations

import pickle
from collections.abc import Mapping
from pathlib import Path

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file
from torch import Tensor

from alodlm.errors import InputError, MissingError, problem_list
from alodlm.model.config import LoopedConfig

GATE_FILES = ("exit_gate.pt", "exit_gate.safetensors")
_BROKEN_PICKLE = (
    pickle.UnpicklingError, EOFError, OSError, RuntimeError, ValueError, KeyError, IndexError, AttributeError,
    TypeError, ImportError, OverflowError,
)  # fmt: skip


def gate_file(folder: Path) -> Path:
    """Return the folder's gate file; exactly one of the two names must be there."""
    found = [folder / name for name in GATE_FILES if (folder / name).exists()]
    if not found:
        rule = f"has no {' and no '.join(GATE_FILES)}"
        raise MissingError(str(folder), rule, next_step="add the halting head that belongs to the weights")
    if len(found) > 1:
        raise InputError(str(folder), f"holds both {' and '.join(GATE_FILES)}", next_step="remove one of them")
    return found[0]


def read_gate(file: Path, config: LoopedConfig) -> dict[str, Tensor]:
    """Read the gate's state dict: `net.weight [1, hidden]`, `net.bias [1]`, `depth_bias [max_depth]`, all finite."""
    advice = "use the halting head that belongs to the weights"
    try:
        loaded = load_file(file) if file.suffix == ".safetensors" else _load_pickle(file)
    except (SafetensorError, *_BROKEN_PICKLE) as error:
        reason = (
            f"cannot be read as a state dict ({str(error).splitlines()[0] if str(error) else type(error).__name__})"
        )
        raise InputError(str(file), reason, next_step=advice) from None
    if not isinstance(loaded, Mapping) or not all(isinstance(value, Tensor) for value in loaded.values()):
        raise InputError(str(file), "must be a state dict of tensors", value=type(loaded).__name__, next_step=advice)
    problems = _problems(loaded, config)
    if problems:
        raise problem_list(str(file), problems, next_step=advice)
    return dict(loaded)


def _load_pickle(file: Path) -> object:
    return torch.load(file, map_location="cpu", weights_only=True)


def _problems(loaded: Mapping[object, Tensor], config: LoopedConfig) -> list[str]:
    expected = {"net.weight": (1, config.hidden_size), "net.bias": (1,), "depth_bias": (config.max_depth,)}
    problems = [f"missing: {name}" for name in expected if name not in loaded]
    problems += [f"unexpected: {name}" for name in loaded if name not in expected]
    for name, shape in expected.items():
        tensor = loaded.get(name)
        if tensor is None:
            continue
        if tuple(tensor.shape) != shape:
            problems.append(f"misshapen: {name} is {list(tensor.shape)}, the configuration asks for {list(shape)}")
        elif not tensor.is_floating_point():
            problems.append(f"not floating point: {name} is {tensor.dtype}")
        elif not tensor.isfinite().all():
            problems.append(f"not finite: {name}")
    return problems
