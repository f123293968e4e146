"""Offline evaluation of local language-model checkpoints, above all looped diffusion ones.

    from alodlm import DecodeSettings, RunOptions, evaluate, load_decoder, rescore

`load_decoder` reads a checkpoint to generate with, `evaluate` runs a task file against one, `rescore` scores
stored answers again without a model. Each name is imported when it is first used: rescoring needs no torch.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from alodlm.api import evaluate
    from alodlm.candidates.local import load_decoder
    from alodlm.decode.settings import DecodeSettings
    from alodlm.pipeline import RunOptions, rescore

__all__ = ["DecodeSettings", "RunOptions", "evaluate", "load_decoder", "rescore"]

_HOMES = {
    "DecodeSettings": "alodlm.decode.settings",
    "RunOptions": "alodlm.pipeline",
    "evaluate": "alodlm.api",
    "load_decoder": "alodlm.candidates.local",
    "rescore": "alodlm.pipeline",
}


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module 'alodlm' has no attribute {name!r}")
    return getattr(importlib.import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)
