"""Train the demo checkpoint: `python scripts/train_demo_checkpoint.py --output FOLDER --seed 0`.

Writes a checkpoint folder that the package loads. Progress goes to stderr; the last line on stdout is JSON: steps,
seconds, the folder's size, and scores on the held-out tasks (with --measure validation: on validation items, for
tuning). The same seed on the same machine, with the same threads, gives the same bytes; another CPU or another
PyTorch may round differently and end in other weights. `--write-tasks FILE` writes the held-out task file and stops.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

import torch
from demo_training import checkpoint, kinds, measure, settings, tokenizer, trainer
from demo_training.items import Item

from alodlm.errors import AlodlmError, InputError

_CONFIG = Path(__file__).resolve().parent.parent / "configs" / "demo.yaml"
_VALIDATION_SEED, _VALIDATION_PER_KIND = 1, 40
THREADS = 2


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Train the small looped checkpoint that ships as the demo.")
    parser.add_argument("--output", type=Path, help="folder for the checkpoint; new or empty")
    parser.add_argument("--seed", type=int, default=0, help="seed of weights, items and windows (default 0)")
    parser.add_argument("--config", type=Path, default=_CONFIG, help="training settings (default configs/demo.yaml)")
    parser.add_argument(
        "--measure", choices=("held-out", "validation"), default="held-out", help="which items to score at the end"
    )
    parser.add_argument("--write-tasks", type=Path, metavar="FILE", help="write the held-out task file and stop")
    return parser.parse_args()


def _new_folder(path: Path | None) -> Path:
    if path is None:
        raise InputError("--output", "is required", next_step="name a new or empty folder")
    if path.exists() and (not path.is_dir() or any(path.iterdir())):
        raise InputError("--output", "must be a new or empty folder", value=str(path), next_step="name another one")
    path.mkdir(parents=True, exist_ok=True)
    return path


def _items(split: str) -> list[Item]:
    if split == "held-out":
        return kinds.held_out()
    return kinds.items("validation", _VALIDATION_SEED, _VALIDATION_PER_KIND)


def _train(arguments: argparse.Namespace) -> None:
    chosen = settings.load(arguments.config)
    folder = _new_folder(arguments.output)
    torch.set_num_threads(THREADS)
    torch.use_deterministic_algorithms(True)
    tokens = tokenizer.build(chosen.model.context)
    trained = trainer.train(chosen, tokens, arguments.seed, lambda line: print(line, file=sys.stderr, flush=True))
    checkpoint.write(folder, trained.model, tokens, chosen)
    result = {
        "steps": chosen.steps,
        "seconds": round(trained.seconds, 1),
        "loss": round(trained.final_loss, 4),
        "bytes": sum(file.stat().st_size for file in folder.iterdir()),
        "measured_on": arguments.measure,
        "measured": measure.measure(trained.model, tokens, _items(arguments.measure)),
    }
    print(json.dumps(result))


def main() -> int:
    """Run the program; return its exit code."""
    arguments = _arguments()
    try:
        if arguments.write_tasks is not None:
            arguments.write_tasks.write_text(kinds.task_lines(kinds.held_out()), encoding="utf-8")
        else:
            _train(arguments)
    except AlodlmError as error:
        print(error, file=sys.stderr)
        return error.exit_code
    return 0


if __name__ == "__main__":
    sys.exit(main())
