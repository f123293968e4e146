"""Training settings: a YAML file with known keys, every one of them required to be known and well-typed."""

from __future__ import annotations

import difflib
from pathlib import Path

import msgspec
import yaml

from alodlm.errors import InputError


class ModelShape(msgspec.Struct, frozen=True, kw_only=True):
    """The checkpoint's sizes; the core is layers [loop_start, loop_end)."""

    hidden_size: int
    intermediate_size: int
    layers: int
    loop_start: int
    loop_end: int
    max_depth: int
    heads: int
    kv_heads: int
    head_dim: int
    context: int
    rope_theta: float
    rms_norm_eps: float


class Windows(msgspec.Struct, frozen=True, kw_only=True):
    """How decoding states are drawn from an item.

    `per_item` windows share one prefix. `first_share` of them are an answer's first window. `long_lead_share` of
    the others begin with up to a whole window of fresh tokens, the rest with a few. `scattered_share` hold
    observed tokens between the masks. `whole_share` keep every slot past the end token, the others two of them
    (later rows do not change earlier ones). `prefix_depths` are the weights of 1, 2, … passes for emitted tokens.
    """

    size: int
    per_item: int
    first_share: float
    long_lead_share: float
    scattered_share: float
    whole_share: float
    prefix_depths: list[float]


class Objective(msgspec.Struct, frozen=True, kw_only=True):
    """Weights of the loss: rows after the end token, rows of the deciding answer, and the gate's pull to its prior."""

    after_end_weight: float
    key_weight: float
    depth_prior_c: float
    prior_weight: float
    gate_weight: float


class Settings(msgspec.Struct, frozen=True, kw_only=True):
    """Everything that the training run depends on besides its seed."""

    steps: int
    batch: int
    chunks: int
    learning_rate: float
    matrix_learning_rate: float
    warmup_steps: int
    weight_decay: float
    clip_norm: float
    kind_weights: dict[str, float]
    model: ModelShape
    windows: Windows
    objective: Objective


def load(path: Path) -> Settings:
    """Read settings; an unknown, missing or ill-typed key is an `InputError`."""
    try:
        document = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (OSError, yaml.YAMLError, UnicodeDecodeError) as error:
        raise InputError(
            str(path), f"cannot be read as YAML ({error})", next_step="give --config a YAML file"
        ) from None
    _refuse_unknown(path, document, Settings)
    try:
        return msgspec.convert(document, Settings)
    except msgspec.ValidationError as error:
        raise InputError(str(path), str(error), next_step="correct the setting; configs/demo.yaml has all") from None


def _refuse_unknown(path: Path, document: object, shape: type[msgspec.Struct], above: str = "") -> None:
    if not isinstance(document, dict):
        return
    known = {field.name: field.type for field in msgspec.structs.fields(shape)}
    for key, value in document.items():
        if key not in known:
            near = difflib.get_close_matches(str(key), known, 1)
            step = f"did you mean {near[0]}?" if near else f"known keys: {', '.join(known)}"
            raise InputError(str(path), "holds an unknown key", value=f"{above}{key}", next_step=step)
        inner = known[key]
        if isinstance(inner, type) and issubclass(inner, msgspec.Struct):
            _refuse_unknown(path, value, inner, f"{key}.")
