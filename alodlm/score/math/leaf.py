"""One answer without structure: a value with its unit, a number in a base, a time or ratio, or words.

Units, currency, percent signs and degrees are dropped and never converted. A word that changes the value (`at least
5`) makes the text unreadable rather than equal to 5.
"""

from __future__ import annotations

import re

from alodlm.score.math.errors import UnreadableError
from alodlm.score.math.nodes import Based, Clock, Node, Text, Value
from alodlm.score.math.parser import number_value, parse_expression
from alodlm.score.math.tokens import Token
from alodlm.score.math.words import (
    APPROXIMATELY,
    CHANGING_WORDS,
    CURRENCIES,
    LEADING_WORDS,
    MULTIPLIERS,
    NUMBER_WORDS,
)

_PUNCTUATION = re.compile(r"[^\w'+-]+")
_SPACE = re.compile(r"\s+")
_BASE_DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"
_UNIT_SIGNS = frozenset("/^{}-·*().'")
_STRIPPED_ENDS = frozenset({".", ",", ";", ":", "%", '"', "'", "?", "\\", "`", "~", "$", "€", "£", "¥", "₹"})
_STRIPPED_STARTS = frozenset({",", ";", ":", '"', "'", "$", "€", "£", "¥", "₹", "`", "="})


def trimmed(tokens: list[Token]) -> list[Token]:
    """Return tokens without the punctuation and currency signs around them."""
    start, end = 0, len(tokens)
    while end > start and tokens[end - 1].kind == "sign" and tokens[end - 1].text in _STRIPPED_ENDS:
        end -= 1
    while start < end and tokens[start].kind == "sign" and tokens[start].text in _STRIPPED_STARTS:
        start += 1
    inner = tokens[start:end]
    if len(inner) > 1 and inner[0].text in "+-" and inner[1].text in ("$", "€", "£", "¥", "₹"):
        return [inner[0], *inner[2:]]
    return inner


def words_of(tokens: list[Token]) -> str:
    """Return tokens as plain lower-case words."""
    joined = "".join((" " if token.gap else "") + token.text for token in tokens).replace(".", "")
    return _SPACE.sub(" ", _PUNCTUATION.sub(" ", joined)).strip().lower()


def read_leaf(tokens: list[Token], exact: bool = False) -> Node:
    """Return what the tokens of one component say, or raise a `GiveUpError`."""
    tokens = trimmed(tokens)
    if len(tokens) > 2 and tokens[-2].text == "°" and tokens[-1].text in ("C", "F", "K"):
        tokens = tokens[:-1]
    if not tokens:
        raise UnreadableError
    if (based := _based(tokens)) is not None:
        return based
    tokens = _without_leading_words(tokens)
    if any(token.text == ":" for token in tokens):
        return _clock(tokens)
    if all(token.kind == "word" or token.text in ("-", "'", ".", "(", ")", '"') for token in tokens):
        return _worded(tokens)
    if tokens[0].kind == "symbol" and len(tokens[0].text) == 1 and len(tokens) > 1 and tokens[1].kind == "word":
        return Text(words_of(tokens))
    head, factor, unit_power = _without_unit(tokens)
    tree = parse_expression(head)
    tree = tree[1] if tree[0] == "°" else tree
    if factor != 1:
        tree = ("*", ("q", number_value(str(factor))), tree)
    decimals, digits = _decimal_places(head) if factor == 1 else (None, 0)
    return Value(tree, decimals, digits, exact, unit_power)


def _decimal_places(head: list[Token]) -> tuple[int | None, int]:
    """Return the places and the significant digits of a plain decimal, (None, 0) for anything else."""
    literal = head[1:] if head[0].text in ("+", "-") else head
    if len(literal) != 1 or literal[0].kind != "number" or "." not in literal[0].text or "e" in literal[0].text.lower():
        return None, 0
    whole, _, places = literal[0].text.partition(".")
    return len(places), len((whole + places).lstrip("0"))


def _without_leading_words(tokens: list[Token]) -> list[Token]:
    """Drop `The answer is`, `USD`, `Total:` before a value; read `negative` as a sign."""
    count = next((at for at, token in enumerate(tokens) if token.kind != "word"), len(tokens))
    if count in (0, len(tokens)):
        return tokens
    last = tokens[count - 1].text.lower().rstrip(".:")
    rest = tokens[count:]
    if last in ("negative", "minus"):
        return [*_without_leading_words_before(tokens[: count - 1]), Token("sign", "-"), *rest]
    colon = rest[0].text == ":" or tokens[count - 1].text.endswith(":")
    if colon or last in LEADING_WORDS or last in CURRENCIES or last in APPROXIMATELY:
        changing = {token.text.lower() for token in tokens[:count]} & (CHANGING_WORDS - APPROXIMATELY)
        if not changing:
            return trimmed(rest)
    return tokens


def _without_leading_words_before(words: list[Token]) -> list[Token]:
    return [] if not words or words[-1].text.lower() in LEADING_WORDS else words


def _worded(tokens: list[Token]) -> Node:
    """Return a number word as its value, other words as text."""
    words = words_of(tokens).split()
    negative = len(words) > 1 and words[0] in ("negative", "minus")
    rest = words[1:] if negative else words
    if rest and rest[0] in NUMBER_WORDS:
        following = set(rest[1:])
        if following & (CHANGING_WORDS | NUMBER_WORDS.keys() | MULTIPLIERS.keys()):
            raise UnreadableError
        value = NUMBER_WORDS[rest[0]]
        return Value(("q", number_value(str(value)) * (-1 if negative else 1)))
    return Text(" ".join(words))


def _without_unit(tokens: list[Token]) -> tuple[list[Token], int, str]:
    """Return the tokens before a unit, the factor of a word such as `million`, and the unit's exponent."""
    start = next((at for at, token in enumerate(tokens) if token.kind == "word"), len(tokens))
    if start == len(tokens):
        return tokens, 1, ""
    if start == 0 and tokens[0].text.lower() in NUMBER_WORDS:
        raise UnreadableError
    tail, factor = tokens[start:], 1
    if tail[0].text.lower() in MULTIPLIERS:
        factor = MULTIPLIERS[tail[0].text.lower()]
        tail = tail[1:]
    _check_unit(tail)
    head = tokens[:start]
    while head and head[-1].text in ("/", "-", "(", "°", "%", "·", "{"):
        head = head[:-1]
    if not head:
        raise UnreadableError
    return head, factor, "".join(token.text for token in tail if token.kind == "number")


def _check_unit(tail: list[Token]) -> None:
    """Refuse a tail that is more than a unit."""
    for at, token in enumerate(tail):
        before = tail[at - 1].text if at else ""
        if token.kind == "word":
            if token.text.lower().strip(".") in CHANGING_WORDS | MULTIPLIERS.keys():
                raise UnreadableError
        elif token.kind == "number":
            if before not in ("^", "{", "-"):
                raise UnreadableError
        elif token.kind == "symbol":
            if len(token.text) != 1:
                raise UnreadableError
        elif token.text not in _UNIT_SIGNS:
            raise UnreadableError


def _clock(tokens: list[Token]) -> Clock:
    """Return a time or a ratio: values joined by colons, with am or pm."""
    last = max(at for at, token in enumerate(tokens) if token.text == ":")
    half = "".join(token.text for token in tokens[last + 2 :]).replace(".", "").lower()
    if half in ("am", "pm"):
        tokens = tokens[: last + 2]
    else:
        half = ""
    parts: list[list[Token]] = [[]]
    for token in tokens:
        if token.text == ":":
            parts.append([])
        else:
            parts[-1].append(token)
    if len(parts) > 6 or not all(parts):
        raise UnreadableError
    return Clock(tuple(Value(parse_expression(part)) for part in parts), half)


def _based(tokens: list[Token]) -> Based | None:
    """Return `2516_8`, `4210_{5}`, `1A_{16}` or `101 base 2`, else None."""
    for at, token in enumerate(tokens):
        subscript = token == Token("sign", "_", token.gap)
        if at and (subscript or (token.kind == "word" and token.text.lower() == "base")):
            base = _base(tokens[at + 1 :])
            head = tokens[:at] if tokens[at - 1].text != "(" else tokens[: at - 1]
            digits = "".join(part.text for part in head)
            return Based(digits.lstrip("0") or "0", base) if base and _are_digits(head, digits, base) else None
    return None


def _base(tokens: list[Token]) -> int | None:
    text = "".join(token.text for token in tokens).strip("{}().").lower().replace("base", "")
    if text in NUMBER_WORDS:
        return NUMBER_WORDS[text]
    return int(text) if text.isdigit() and len(text) <= 2 and 2 <= int(text) <= 36 else None


def _are_digits(head: list[Token], digits: str, base: int) -> bool:
    if not head or any(token.kind not in ("number", "symbol") for token in head) or len(digits) > 200:
        return False
    allowed = _BASE_DIGITS[:base]
    return all(digit in allowed for digit in digits) and (base > 10 or head[0].kind == "number")
