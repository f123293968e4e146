"""Measuring a demo model with the package's own decoder and scorers."""

from __future__ import annotations

from collections import Counter
from typing import Any

import msgspec
import torch
from transformers import PreTrainedTokenizerFast

from alodlm.decode.portable import PortableDecoder
from alodlm.decode.settings import MODES, DecodeSettings
from alodlm.model.looped import LoopedModel
from alodlm.records import Task
from alodlm.score import score_answer
from demo_training import kinds
from demo_training.items import Item


def measure(model: LoopedModel, tokenizer: PreTrainedTokenizerFast, items: list[Item]) -> dict[str, Any]:
    """Decode and score items in every mode; return scores by kind and form, and how decoding went."""
    decoder = PortableDecoder(model, torch.device("cpu"), [tokenizer.eos_token_id])
    return {mode: _mode(decoder, tokenizer, items, DecodeSettings(mode=mode)) for mode in MODES}


def _mode(
    decoder: PortableDecoder, tokenizer: PreTrainedTokenizerFast, items: list[Item], settings: DecodeSettings
) -> dict[str, Any]:
    right, asked = Counter(), Counter()
    depths, tokens, windows = Counter(), 0, 0
    for item, record in zip(items, kinds.numbered(items), strict=True):
        generation = decoder.generate(tokenizer(item.prompt, add_special_tokens=False).input_ids, settings)
        text = tokenizer.decode(generation.token_ids, skip_special_tokens=True)
        correct = score_answer(msgspec.convert(record, Task), text).correct
        for name in (item.kind, f"{item.kind}/{item.form}"):
            asked[name] += 1
            right[name] += correct
        depths.update(generation.exit_depths or [])
        tokens, windows = tokens + generation.generated_tokens, windows + (generation.outer_steps or 0)
    return {
        "score_percent": {name: round(100 * right[name] / asked[name], 1) for name in asked},
        "tokens_per_window": round(tokens / windows, 3),
        "exit_depths": {str(depth): depths[depth] for depth in sorted(depths)},
        "mean_exit_depth": round(sum(d * n for d, n in depths.items()) / max(1, depths.total()), 3),
    }
