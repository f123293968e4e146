"""What a user is told when something is wrong, and the exit code that goes with it.

Every message names the thing, the rule, the value seen and the next step. The command line turns an
`AlodlmError` into one message on stderr and its `exit_code`; a Python caller catches it like any exception.
"""

from __future__ import annotations

_ABSENT = object()
_SHOWN_VALUE_CHARACTERS = 120


def shown(value: object) -> str:
    """Return `repr(value)` cut to a length that fits one line of a message."""
    text = repr(value)
    if len(text) <= _SHOWN_VALUE_CHARACTERS:
        return text
    return f"{text[:_SHOWN_VALUE_CHARACTERS]}… ({len(text)} characters)"


class AlodlmError(Exception):
    """A condition that the user can act on.

    `thing` is what is wrong (a file, a field, a flag), `rule` what it must be, `value` what it was, and
    `next_step` what to do. `rule`, `value` and `next_step` may be left out where they would say nothing.
    """

    exit_code = 1

    def __init__(self, thing: str, rule: str = "", *, value: object = _ABSENT, next_step: str = "") -> None:
        self.thing, self.rule, self.next_step = thing, rule, next_step
        self.value = None if value is _ABSENT else value
        parts = [thing if not rule else f"{thing}: {rule}"]
        if value is not _ABSENT:
            parts.append(f"got {shown(value)}")
        message = "; ".join(parts)
        super().__init__(f"{message}\nnext: {next_step}" if next_step else message)


class StageError(AlodlmError):
    """A stage could not finish (full disk, lost worker); finished work is kept. Exit code 1."""

    exit_code = 1


class InputError(AlodlmError):
    """A file, flag or argument breaks a rule. Exit code 2."""

    exit_code = 2


class MissingError(AlodlmError):
    """A package, file or device that the request needs is not there. Exit code 3."""

    exit_code = 3


def problem_list(thing: str, problems: list[str], *, next_step: str = "", shown_first: int = 20) -> InputError:
    """Return one `InputError` that lists the first problems and counts all of them."""
    lines = [f"{len(problems)} problem{'s' if len(problems) != 1 else ''}"]
    lines += [f"  {problem}" for problem in problems[:shown_first]]
    if len(problems) > shown_first:
        lines.append(f"  … and {len(problems) - shown_first} more")
    return InputError(thing, "\n".join(lines), next_step=next_step)
