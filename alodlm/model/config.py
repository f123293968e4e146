"""What a checkpoint's configuration files say, checked. No torch here.

Promises one `LoopedConfig` or an error that names the file, the key, the rule and the value. Refuses whatever the
layers do not compute: another model type, scaled RoPE, sliding windows, quantised weights, attention biases.
"""

from __future__ import annotations

import difflib
import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NoReturn

import yaml
from msgspec import Struct

from alodlm.errors import InputError, MissingError

CONFIG = "config.json"
LOOP_CONFIG = "alodlm_config.json"
LOOP_KEYS = ("loop_start", "loop_end", "max_depth", "mask_token_id")
DEFAULT_ROPE_THETA = 10000.0
_COUNTS = (
    "vocab_size", "hidden_size", "intermediate_size", "num_hidden_layers", "num_attention_heads",
    "num_key_value_heads", "head_dim", "max_position_embeddings",
)  # fmt: skip
# Beyond any model, and small enough that no product of them overflows a tensor's size.
_LARGE = {"vocab_size": 10**8, "max_position_embeddings": 10**9}
_ROPE_KEYS = {"rope_type", "type", "rope_theta", "partial_rotary_factor"}


class LoopedConfig(Struct, frozen=True, kw_only=True):
    """The shape of a looped Qwen3 stack.

    Layers `[0, loop_start)` are the prelude, `[loop_start, loop_end)` the shared core that runs up to `max_depth`
    times, `[loop_end, num_hidden_layers)` the coda.
    """

    vocab_size: int
    hidden_size: int
    intermediate_size: int
    num_hidden_layers: int
    num_attention_heads: int
    num_key_value_heads: int
    head_dim: int
    max_position_embeddings: int
    rms_norm_eps: float
    rope_theta: float
    tie_word_embeddings: bool
    loop_start: int
    loop_end: int
    max_depth: int
    mask_token_id: int

    @property
    def queries_per_key(self) -> int:
        """Query heads that share one key/value head."""
        return self.num_attention_heads // self.num_key_value_heads

    @property
    def core_layers(self) -> range:
        """The indices of the looped layers."""
        return range(self.loop_start, self.loop_end)


class _Checked:
    """A mapping read from `file`, with typed access that names file, key, rule and value when it fails."""

    def __init__(self, file: Path, values: Mapping[str, Any], fix: str) -> None:
        self.file, self.values, self.fix = file, values, fix

    def refuse(self, key: str, rule: str, value: object) -> NoReturn:
        raise InputError(f"{self.file}: {key}", rule, value=value, next_step=self.fix)

    def count(self, key: str, least: int = 1, most: int = 10**6) -> int:
        if key not in self.values:
            near = difflib.get_close_matches(key, [str(name) for name in self.values], 1)
            hint = f" (nearest key there: {near[0]})" if near else ""
            raise InputError(f"{self.file}: {key}", f"is required{hint}", next_step=self.fix)
        value = self.values[key]
        if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
            self.refuse(key, f"must be an integer from {least} to {most}", value)
        return value

    def flag(self, key: str) -> bool:
        value = self.values.get(key, False)
        if value is not None and not isinstance(value, bool):
            self.refuse(key, "must be true or false", value)
        return bool(value)

    def positive(self, key: str, value: object) -> float:
        number = isinstance(value, (int, float)) and not isinstance(value, bool)
        if not number or not math.isfinite(value) or value <= 0:
            self.refuse(key, "must be a finite number > 0", value)
        return float(value)


def read_json_object(file: Path, fix: str) -> dict[str, Any]:
    """Read a JSON file that must hold one object; every way it can fail is an `InputError` or `MissingError`."""
    text = read_text(file, fix)
    try:
        values = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InputError(str(file), f"must be JSON ({error})", next_step=fix) from None
    if not isinstance(values, dict):
        raise InputError(str(file), "must hold one JSON object", value=values, next_step=fix)
    return values


def read_text(file: Path, fix: str) -> str:
    """Read a UTF-8 file, turning every failure into an error a user can act on."""
    try:
        return file.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise MissingError(str(file), "no such file", next_step=fix) from None
    except UnicodeDecodeError as error:
        raise InputError(str(file), f"must be UTF-8 text ({error})", next_step=fix) from None
    except OSError as error:
        raise InputError(str(file), f"cannot be read ({error.strerror or error})", next_step=fix) from None


def read_config(folder: Path, model_config: Path | None = None) -> LoopedConfig:
    """Read and check a checkpoint folder's configuration.

    The four loop keys come from `alodlm_config.json`, or from `model:` in the YAML file `model_config` where the
    folder has none; where both give them, they must agree.
    """
    source = _Checked(
        folder / CONFIG,
        read_json_object(folder / CONFIG, "give a folder with a Qwen3 checkpoint, as published"),
        "fix the checkpoint's config.json, or use another checkpoint",
    )
    _refuse_what_the_layers_lack(source)
    shape = {key: source.count(key, most=_LARGE.get(key, 10**6)) for key in _COUNTS}
    _check_heads(source, shape)
    if shape["head_dim"] % 2:
        source.refuse("head_dim", "must be even", shape["head_dim"])
    return LoopedConfig(
        **shape,
        rms_norm_eps=source.positive("rms_norm_eps", source.values.get("rms_norm_eps")),
        rope_theta=_rope_theta(source),
        tie_word_embeddings=source.flag("tie_word_embeddings"),
        **_loop(folder, model_config, shape["num_hidden_layers"], shape["vocab_size"]),
    )


def _check_heads(source: _Checked, shape: dict[str, int]) -> None:
    heads, shared = shape["num_attention_heads"], shape["num_key_value_heads"]
    if heads % shared:
        source.refuse("num_key_value_heads", f"must divide num_attention_heads ({heads})", shared)


def _refuse_what_the_layers_lack(source: _Checked) -> None:
    values = source.values
    if values.get("model_type") != "qwen3":
        source.refuse("model_type", 'must be "qwen3"', values.get("model_type"))
    if values.get("quantization_config") is not None:
        source.refuse("quantization_config", "quantised weights are not supported", values["quantization_config"])
    if values.get("hidden_act", "silu") != "silu":
        source.refuse("hidden_act", 'must be "silu"', values["hidden_act"])
    for key, what in (("attention_bias", "an attention bias"), ("use_sliding_window", "sliding-window attention")):
        if source.flag(key):
            source.refuse(key, f"{what} is not supported", True)
    kinds = values.get("layer_types")
    if kinds is not None and (not isinstance(kinds, list) or any(kind != "full_attention" for kind in kinds)):
        source.refuse("layer_types", "must all be full_attention: sliding-window attention is not supported", kinds)


def _rope_theta(source: _Checked) -> float:
    found = {"rope_theta": source.values.get("rope_theta")}
    for key in ("rope_parameters", "rope_scaling"):
        rope = source.values.get(key)
        if rope is None:
            continue
        if not isinstance(rope, dict):
            source.refuse(key, "must be an object", rope)
        kind = rope.get("rope_type", rope.get("type", "default"))
        if kind != "default" or set(rope) - _ROPE_KEYS or rope.get("partial_rotary_factor", 1) != 1:
            source.refuse(key, "scaled or partial RoPE is not supported", rope)
        found[f"{key}.rope_theta"] = rope.get("rope_theta")
    given = {key: source.positive(key, value) for key, value in found.items() if value is not None}
    if len(set(given.values())) > 1:
        source.refuse(" and ".join(given), "must agree", list(given.values()))
    return next(iter(given.values()), DEFAULT_ROPE_THETA)


def _loop(folder: Path, model_config: Path | None, layers: int, vocabulary: int) -> dict[str, int]:
    own = folder / LOOP_CONFIG
    sources = []
    if own.exists() or model_config is None:
        advice = f"add {LOOP_CONFIG} with {', '.join(LOOP_KEYS)}, or give them with --model-config FILE.yaml"
        sources.append(_Checked(own, read_json_object(own, advice), f"fix {LOOP_CONFIG}"))
    if model_config is not None:
        sources.append(_Checked(model_config, _yaml_model(model_config), "fix the file given with --model-config"))
    read = [_checked_loop(source, layers, vocabulary) for source in sources]
    if len(read) == 2 and read[0] != read[1]:
        keys = [key for key in LOOP_KEYS if read[0][key] != read[1][key]]
        sources[1].refuse(", ".join(keys), f"must agree with {own}", [read[1][key] for key in keys])
    return read[0]


def _checked_loop(source: _Checked, layers: int, vocabulary: int) -> dict[str, int]:
    loop = {
        "loop_start": source.count("loop_start", 0),
        "loop_end": source.count("loop_end"),
        "max_depth": source.count("max_depth"),
        "mask_token_id": source.count("mask_token_id", 0, _LARGE["vocab_size"]),
    }
    if not loop["loop_start"] < loop["loop_end"] <= layers:
        bounds = [loop["loop_start"], loop["loop_end"]]
        source.refuse("loop_start, loop_end", f"must be 0 <= loop_start < loop_end <= {layers} layers", bounds)
    if loop["mask_token_id"] >= vocabulary:
        source.refuse("mask_token_id", f"must lie in the vocabulary of {vocabulary}", loop["mask_token_id"])
    return loop


def _yaml_model(file: Path) -> Mapping[str, Any]:
    fix = "give a YAML file with loop_start, loop_end, max_depth and mask_token_id under `model:`"
    try:
        values = yaml.safe_load(read_text(file, fix))
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise InputError(str(file), f"must be YAML ({error})", next_step=fix) from None
    if not isinstance(values, dict) or not isinstance(values.get("model"), dict):
        raise InputError(f"{file}: model", "must be a mapping", value=values, next_step=fix)
    return values["model"]
