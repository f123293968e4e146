"""Which device and number type a model runs with, from what the user asked for."""

from __future__ import annotations

import torch

from alodlm.errors import InputError, MissingError

PRECISIONS = {"fp32": torch.float32, "bf16": torch.bfloat16}
_CHOICES = "cpu, cuda, cuda:N or auto"


def resolve_device(name: str) -> torch.device:
    """Return the device of `cpu`, `cuda`, `cuda:N`, or `auto` (CUDA where there is one, else the CPU)."""
    if name == "auto":
        name = "cuda" if torch.cuda.is_available() else "cpu"
    try:
        device = torch.device(name)
    except (RuntimeError, TypeError):
        device = None
    if device is None or device.type not in ("cpu", "cuda"):
        raise InputError("--device", f"must be {_CHOICES}", value=name, next_step="leave it out for the default")
    if device.type == "cpu":
        return torch.device("cpu")
    if not torch.cuda.is_available():
        raise MissingError("--device", "PyTorch finds no CUDA device", value=name, next_step="use --device cpu")
    index = torch.cuda.current_device() if device.index is None else device.index
    if index >= torch.cuda.device_count():
        rule = f"there are {torch.cuda.device_count()} CUDA devices"
        raise MissingError("--device", rule, value=name, next_step="use a lower index")
    return torch.device("cuda", index)


def resolve_precision(name: str | None, device: torch.device) -> str:
    """Return `fp32` or `bf16`; by default `bf16` on CUDA and `fp32` on the CPU."""
    if name is None:
        return "bf16" if device.type == "cuda" else "fp32"
    if name not in PRECISIONS:
        rule = f"must be {' or '.join(PRECISIONS)}"
        raise InputError("--precision", rule, value=name, next_step="leave it out for the default")
    return name
