"""What every command shares: decode flags, and the one place where errors become messages and exit codes.

Exit codes: 0 done, 1 a stage failed, 2 usage or input, 3 something is missing, 130 interrupted and resumable.
"""

from __future__ import annotations

import argparse
import errno
import io
import os
import signal
import sys
from collections.abc import Callable, Sequence
from types import FrameType

from alodlm.decode.settings import MODES, DecodeSettings
from alodlm.errors import AlodlmError

INTERRUPTED = 130
_NO_ROOM = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}


def run_command(
    body: Callable[[argparse.Namespace], int], parser: argparse.ArgumentParser, argv: Sequence[str] | None = None
) -> int:
    """Parse `argv`, run `body` and return the exit code; SIGTERM ends a command as Ctrl-C does."""
    arguments = parser.parse_args(argv)
    signal.signal(signal.SIGTERM, _interrupt)
    _open_standard_streams()
    try:
        return body(arguments)
    except AlodlmError as error:
        return _report(parser.prog, str(error), error.exit_code)
    except KeyboardInterrupt:
        return _report(parser.prog, _interrupted_message(arguments), INTERRUPTED)
    except BrokenPipeError:
        # The reader of stdout went away (`| head`); keep Python's own flush at exit from complaining.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except OSError as error:
        return _report(parser.prog, _operating_system_message(error, arguments), 1)


def _open_standard_streams() -> None:
    """Let no file of the run take the place of a closed stream, and no name break a stream that is not UTF-8."""
    for descriptor in (0, 1, 2):
        try:
            os.fstat(descriptor)
        except OSError:
            os.open(os.devnull, os.O_RDWR)
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "w"))  # noqa: SIM115 - for the life of the process
        elif isinstance(stream := getattr(sys, name), io.TextIOWrapper):
            stream.reconfigure(errors="replace")


def _interrupt(signum: int, frame: FrameType | None) -> None:
    raise KeyboardInterrupt


def _report(program: str, message: str, code: int) -> int:
    print(f"{program}: error: {message}" if code != INTERRUPTED else f"{program}: {message}", file=sys.stderr)
    return code


def _interrupted_message(arguments: argparse.Namespace) -> str:
    output = getattr(arguments, "output", None)
    if output is None or not os.path.exists(output):
        return "interrupted; nothing had been written"
    return f"interrupted; finished work is kept in {arguments.output}\nnext: run the same command with --resume"


def _operating_system_message(error: OSError, arguments: argparse.Namespace) -> str:
    where = f"{error.filename}: " if error.filename else ""
    kept = "finished work is kept; run the same command with --resume" if getattr(arguments, "output", None) else ""
    room = "free some space" if error.errno in _NO_ROOM else "check the path and its permissions"
    return f"{where}{error.strerror or error}\nnext: {room}" + (f"; {kept}" if kept else "")


def add_decode_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the flags of `DecodeSettings` and of where and how precisely a model runs."""
    defaults = DecodeSettings()
    device = parser.add_argument_group("device")
    device.add_argument("--device", default="auto", metavar="NAME", help="cpu, cuda, cuda:N or auto (default)")
    device.add_argument("--precision", choices=("fp32", "bf16"), help="default: fp32 on the CPU, bf16 on CUDA")
    device.add_argument("--model-config", metavar="YAML", help="loop settings of a checkpoint without its own")
    decode = parser.add_argument_group("decoding").add_argument
    decode("--q", type=float, default=defaults.q, help="halt at this exit probability (default: %(default)s)")
    decode("--tau", type=float, default=defaults.tau, help="commit below this entropy in nats (default: %(default)s)")
    decode("--mode", choices=MODES, default=defaults.mode, help="how tokens commit (default: %(default)s)")
    decode("--window-size", type=int, default=defaults.window_size, metavar="N", help="(default: %(default)s)")
    decode("--position-penalty", type=float, metavar="NATS", help="(default: 0.05 * tau)")
    decode("--max-new-tokens", type=int, metavar="N", help="(default: min(4096, what the context leaves))")


def decode_settings(arguments: argparse.Namespace) -> DecodeSettings:
    """Return the decode settings of parsed flags; an `InputError` names a flag that breaks its bound."""
    return DecodeSettings(
        q=arguments.q,
        tau=arguments.tau,
        mode=arguments.mode,
        window_size=arguments.window_size,
        position_penalty=arguments.position_penalty,
        max_new_tokens=arguments.max_new_tokens,
    )
