"""Evaluation from Python: what `alodlm-evaluate --model` does, as one call."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from alodlm.decode.settings import DecodeSettings
from alodlm.pipeline import Progress, RunOptions, evaluate_candidate, silent


def evaluate(
    model: Path | str,
    input: Path | str,
    output: Path | str,
    *,
    settings: DecodeSettings = DecodeSettings(),  # noqa: B008 - frozen
    options: RunOptions = RunOptions(),  # noqa: B008 - frozen
    progress: Progress = silent,
    **placement: Any,
) -> dict[str, Any]:
    """Answer every task of the file `input` with the checkpoint `model`, score, and write the run folder `output`.

    `placement` takes `device`, `precision`, `model_config` and `device_map` as `load_decoder` does. Returns the
    summary as written to `summary.json`: scores in percent, times in seconds. Raises `alodlm.errors.InputError`,
    `MissingError` or `StageError`; finished generations stay in the folder for `options.resume`.
    """
    from alodlm.candidates.local import LocalCandidate

    candidate = LocalCandidate(str(model), settings, **placement)
    return evaluate_candidate(candidate, input, output, options=options, progress=progress)
