"""The fast path: a plain decimal number with its usual trimmings, as canonical digits.

Works on text of any length without converting it to an integer; `None` means only that a later stage must look.
"""

from __future__ import annotations

import re

_PLAIN = re.compile(r"\s*\$?\s*([+-]?)\s*\$?(\d{1,3}(?:,\d{3})+|\d+)?(?:\.(\d*))?\s*\$?(?:\\?%)?\s*\.?\s*$", re.ASCII)


def plain_number(text: str) -> tuple[str, str, str] | None:
    """Return sign, whole digits and decimal digits of a plain number, without needless zeros."""
    found = _PLAIN.match(text)
    if found is None or not (found[2] or found[3]):
        return None
    whole = (found[2] or "").replace(",", "").lstrip("0")
    places = (found[3] or "").rstrip("0")
    negative = found[1] == "-" and (whole or places)
    return "-" if negative else "", whole, places


def same_number(answer: str, expected: str) -> bool | None:
    """Say whether two plain numbers are equal; None where a later stage must decide.

    An expected decimal may be a rounding, so only equality is decided there.
    """
    numbers = plain_number(answer), plain_number(expected)
    if None in numbers:
        return None
    if numbers[0] == numbers[1]:
        return True
    return None if "." in expected else False
