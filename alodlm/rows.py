"""One line of JSON to a record and back, with every violation worded as a `FieldError`."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

import msgspec

from alodlm.records import FieldError, Task

_PATH = re.compile(r" - at `\$\.?([^`]*)`$")


def parse_object(raw: bytes) -> dict[str, Any]:
    """Parse one line as a JSON object without repeated keys; a `FieldError` says what is wrong.

    NaN and Infinity, which Python writes although they are no JSON, are read: test inputs may hold them.
    """
    return _parsed(raw, None)


def parse_strict_object(raw: bytes) -> dict[str, Any]:
    """Parse one line as `parse_object` does, but refuse NaN and Infinity: what is read here is written again."""
    return _parsed(raw, _refuse_constant)


def _refuse_constant(name: str) -> float:
    raise FieldError("line", "must be JSON, which has no such number", name)


def _parsed(raw: bytes, constant: Callable[[str], float] | None) -> dict[str, Any]:
    try:
        row = json.loads(raw.decode("utf-8"), object_pairs_hook=_without_repeats, parse_constant=constant)
    except UnicodeDecodeError as error:
        raise FieldError("line", f"must be UTF-8 (byte {error.start + 1} is not)", raw[:80]) from None
    except RecursionError:
        raise FieldError("line", "is nested too deeply", raw[:40].decode("utf-8", "replace")) from None
    except FieldError:
        raise
    except ValueError as error:
        raise FieldError("line", f"must be one JSON object ({error})", raw[:80].decode("utf-8", "replace")) from None
    if not isinstance(row, dict):
        raise FieldError("line", "must be one JSON object", row)
    return row


def _without_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    row = dict(pairs)
    if len(row) != len(pairs):
        names = [name for name, _ in pairs]
        repeated = next(name for name in names if names.count(name) > 1)
        raise FieldError(repeated, "appears twice in one object", repeated)
    return row


def dump_line(row: dict[str, Any]) -> bytes:
    """Return a row as one line of JSON: UTF-8, except where a lone surrogate forces escapes."""
    text = json.dumps(row, ensure_ascii=False)
    try:
        return text.encode("utf-8") + b"\n"
    except UnicodeEncodeError:
        return json.dumps(row).encode("ascii") + b"\n"


def task_from_row(row: dict[str, Any]) -> Task:
    """Return the task that a JSON object describes; a `FieldError` names the field that breaks a rule."""
    return convert(row, Task)


def convert(row: dict[str, Any], record: type) -> Any:
    """Convert a JSON object to a record, wording every violation as a `FieldError`."""
    try:
        return msgspec.convert(row, record)
    except msgspec.ValidationError as error:
        if isinstance(cause := error.__cause__, FieldError):
            within = f"{match[1]}." if (match := _PATH.search(str(error))) and match[1] else ""
            raise FieldError(within + cause.field, cause.rule, cause.value) from None
        raise _field_error(row, str(error)) from None


def _field_error(row: dict[str, Any], message: str) -> FieldError:
    missing = re.match(r"Object missing required field `(\w+)`", message)
    path = match[1] if (match := _PATH.search(message)) else ""
    rule = _PATH.sub("", message)
    if missing:
        field = f"{path}.{missing[1]}" if path else missing[1]
        return FieldError(field, "is required", sorted(row)[:12])
    value: Any = row
    for step in re.findall(r"\w+", path):
        value = value[int(step)] if isinstance(value, list) else value.get(step)
    return FieldError(path or "line", rule[:1].lower() + rule[1:], value)
