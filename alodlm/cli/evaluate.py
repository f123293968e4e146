"""`alodlm-evaluate`: generate and score, or score stored predictions again."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from alodlm.cli.shared import add_decode_arguments, decode_settings, run_command
from alodlm.errors import InputError

_SANDBOX_MODES = ("auto", "required", "off")
_MODEL_FLAGS = (
    "device", "precision", "model_config", "q", "tau", "mode", "window_size", "position_penalty", "max_new_tokens",
)  # fmt: skip


def build_parser() -> argparse.ArgumentParser:
    """Return the command's argument parser."""
    parser = argparse.ArgumentParser(
        prog="alodlm-evaluate",
        description="Evaluate a local checkpoint on a task file, or score stored predictions again.",
        epilog="Writes predictions.jsonl and summary.json into the output folder. Exit codes: 0 done, 1 a stage "
        "failed, 2 usage or input, 3 something is missing, 130 interrupted (continue with --resume).",
    )
    source = parser.add_argument_group("what to run").add_argument
    source("--model", metavar="FOLDER_OR_ID", help="checkpoint folder, or a Hugging Face model ID")
    source("--predictions", metavar="JSONL", type=_path, help="score these answers; no model is loaded")
    source("--demo", action="store_true", help="use the demo checkpoint and tasks that come with the package")
    source("--input", metavar="JSONL", type=_path, help="task file")
    source("--output", metavar="FOLDER", type=_path, help="run folder to write (with --demo: outputs/demo)")
    source("--resume", action="store_true", help="continue the run in the output folder")
    source("--limit", metavar="N", type=int, help="only the first N tasks of each benchmark")
    add_decode_arguments(parser)
    scoring = parser.add_argument_group("scoring").add_argument
    scoring("--workers", metavar="N", type=int, help="scoring processes (default: one a processor)")
    scoring("--sandbox", choices=_SANDBOX_MODES, default="auto", help="isolation of generated programs (default: auto)")
    return parser


def _path(text: str) -> Path:
    if not text:
        raise argparse.ArgumentTypeError("must not be empty")
    return Path(text)


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command and return its exit code."""
    return run_command(_run, build_parser(), argv)


def _run(arguments: argparse.Namespace) -> int:
    _check_flags(arguments)
    from alodlm.cli.progress import terminal_progress
    from alodlm.pipeline import RunOptions, evaluate_candidate, rescore

    options = RunOptions(
        resume=arguments.resume, limit=arguments.limit, workers=arguments.workers, sandbox=arguments.sandbox
    )
    how = {"options": options, "progress": terminal_progress}
    if arguments.predictions is not None:
        summary = rescore(arguments.predictions, arguments.input, arguments.output, **how)
    else:
        summary = evaluate_candidate(_candidate(arguments), arguments.input, arguments.output, **how)
    print_summary(summary, arguments.output)
    return 0


def _check_flags(arguments: argparse.Namespace) -> None:
    if arguments.demo:
        from alodlm.resources import demo_checkpoint, demo_tasks

        if arguments.input is not None:
            raise InputError(
                "--demo", "brings its own tasks; --input does not go with it", next_step="give one of them"
            )
        arguments.input = demo_tasks()
        arguments.output = arguments.output or Path("outputs/demo")
        if arguments.model is None and arguments.predictions is None:
            arguments.model = str(demo_checkpoint())
    if (arguments.model is None) == (arguments.predictions is None):
        rule = "exactly one of --model and --predictions is needed"
        raise InputError("arguments", rule, next_step="give a checkpoint folder with --model, or try --demo")
    for name in ("input", "output"):
        if getattr(arguments, name) is None:
            raise InputError(f"--{name}", "is required", next_step=f"give --{name}, or try --demo")
    if arguments.predictions is not None:
        _refuse_model_flags(arguments)


def _refuse_model_flags(arguments: argparse.Namespace) -> None:
    defaults = build_parser().parse_args([])
    for name in _MODEL_FLAGS:
        if getattr(arguments, name) != getattr(defaults, name):
            flag = "--" + name.replace("_", "-")
            raise InputError(
                flag, "has no effect on stored predictions", next_step=f"leave out {flag} or --predictions"
            )


def _candidate(arguments: argparse.Namespace) -> Any:
    settings = decode_settings(arguments)
    from alodlm.candidates.local import LocalCandidate

    return LocalCandidate(
        arguments.model,
        settings,
        device=arguments.device,
        precision=arguments.precision,
        model_config=arguments.model_config,
    )


def print_summary(summary: dict[str, Any], output: Path) -> None:
    """Print the table of a run and where its files are."""
    from rich.console import Console
    from rich.table import Table

    table = Table(box=None, header_style="bold", pad_edge=False)
    for title in ("benchmark", "n", "score %", "95 % interval", "unparsed", "truncated", "tokens/s"):
        table.add_column(title, justify="left" if title == "benchmark" else "right", no_wrap=True)
    for name, part in summary["benchmarks"].items():
        low, high = part["ci95_percent"]
        table.add_row(
            name,
            str(part["examples"]),
            f"{part['score_percent']:.1f}",
            f"{low:.1f}-{high:.1f}",
            str(part["unparsed"]),
            str(part["truncated"]),
            _rate(part["tokens_per_second"]),
        )
    # Names come from files: nothing in them is markup.
    console = Console(file=sys.stdout, highlight=False, soft_wrap=True, markup=False, emoji=False)
    console.print(table)
    console.print(f"\n{summary['average_label']}: {summary['macro_score_percent']:.1f} %")
    console.print(
        f"{summary['suite_generated_tokens']} tokens in {summary['suite_wall_seconds']:.1f} s of generation: "
        f"{_rate(summary['suite_tokens_per_second'])} tokens/s ({summary['protocol']['engine']})",
    )
    console.print(f"written: {output / 'predictions.jsonl'}, {output / 'summary.json'}")


def _rate(value: float | None) -> str:
    return "-" if value is None else f"{value:.1f}"


if __name__ == "__main__":
    sys.exit(main())
