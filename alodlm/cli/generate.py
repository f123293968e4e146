"""`alodlm-generate`: one prompt in, the answer on stdout, what it took on stderr."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence

from alodlm.cli.shared import add_decode_arguments, decode_settings, run_command
from alodlm.errors import InputError
from alodlm.records import Generation


def build_parser() -> argparse.ArgumentParser:
    """Return the command's argument parser."""
    parser = argparse.ArgumentParser(
        prog="alodlm-generate",
        description="Decode one prompt with a local checkpoint.",
        epilog="Exit codes: 0 done, 1 a stage failed, 2 usage or input, 3 something is missing, 130 interrupted.",
    )
    model = parser.add_mutually_exclusive_group(required=True)
    model.add_argument("--model", metavar="FOLDER_OR_ID", help="checkpoint folder or Hugging Face ID")
    model.add_argument("--demo", action="store_true", help="use the demo checkpoint that comes with the package")
    parser.add_argument("--prompt", required=True, metavar="TEXT", help="the prompt; - reads it from stdin")
    parser.add_argument("--system", metavar="TEXT", help="a system message before the prompt")
    parser.add_argument("--thinking", action="store_true", help="let the chat template open a thinking section")
    parser.add_argument("--raw", action="store_true", help="use the prompt as it stands, without a chat template")
    parser.add_argument("--json", action="store_true", help="print the whole record as JSON instead of the text")
    add_decode_arguments(parser)
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command and return its exit code."""
    return run_command(_run, build_parser(), argv)


def _run(arguments: argparse.Namespace) -> int:
    settings = decode_settings(arguments)
    prompt = _prompt(arguments)
    from alodlm.candidates.local import LocalDecoder

    decoder = LocalDecoder(
        _model(arguments),
        device=arguments.device,
        precision=arguments.precision,
        model_config=arguments.model_config,
    )
    if not arguments.raw:
        prompt = decoder.chat(prompt, system=arguments.system, thinking=arguments.thinking)
    decoder.check(prompt, settings)
    decoder.warm_up(settings)
    generation = decoder.generate(prompt, settings)
    if arguments.json:
        import msgspec

        print(json.dumps(msgspec.to_builtins(generation), ensure_ascii=False))
    else:
        print(generation.text)
    print(_statistics(generation), file=sys.stderr)
    return 0


def _model(arguments: argparse.Namespace) -> str:
    if not arguments.demo:
        return arguments.model
    from alodlm.resources import demo_checkpoint

    return str(demo_checkpoint())


def _prompt(arguments: argparse.Namespace) -> str:
    if arguments.raw:
        for flag in ("system", "thinking"):
            if getattr(arguments, flag):
                rule = "needs the chat template that --raw leaves out"
                raise InputError(f"--{flag}", rule, next_step=f"leave out --raw or --{flag}")
    prompt = arguments.prompt if arguments.prompt != "-" else _standard_input()
    if not prompt.strip():
        raise InputError("--prompt", "must not be empty", value=prompt, next_step="give some text, or - for stdin")
    return prompt


def _standard_input() -> str:
    if sys.stdin is None:
        raise InputError("--prompt -", "reads stdin, which is closed", next_step="give the text itself, or a pipe")
    try:
        text = sys.stdin.read()
        text.encode()  # under some locales bad bytes come in as lone surrogates
    except UnicodeError as error:
        step = "convert it, for example with iconv"
        raise InputError("stdin", f"must be UTF-8 text ({error})", next_step=step) from None
    return text


def _statistics(generation: Generation) -> str:
    tokens, windows = generation.generated_tokens, generation.outer_steps or 0
    parts = [
        f"{tokens} tokens in {generation.wall_seconds:.2f} s",
        f"{tokens / generation.wall_seconds:.1f} tokens/s",
        f"prefill {generation.prefill_seconds:.2f} s ({generation.prompt_tokens} tokens)",
        f"{tokens / windows:.2f} tokens a window" if windows else "no window",
        f"mean exit depth {generation.mean_exit_depth:.2f}" if tokens else "no tokens",
        f"stopped by {generation.stop_reason}",
    ]
    return " · ".join(parts)


if __name__ == "__main__":
    sys.exit(main())
