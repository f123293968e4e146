"""Text → the shape of an answer: lists, sets, tuples, intervals, matrices, equations, inequalities, leaves.

Promises bounded depth and width. Nothing is compared or evaluated here.
"""

from __future__ import annotations

import re

from alodlm.score.math.errors import GiveUpError, TooLargeError, UnreadableError
from alodlm.score.math.leaf import read_leaf, trimmed, words_of
from alodlm.score.math.nodes import Bracketed, Equation, Matrix, Node, Region, Several, Text, Value
from alodlm.score.math.parser import INFINITY, MINUS_INFINITY, without_double_brackets
from alodlm.score.math.regions import joined, read_inequality
from alodlm.score.math.tokens import Token, tokens_of

_MAX_ITEMS = 64
_MAX_DEPTH = 8
_OPENING = frozenset("([{⦃⟨⌊⌈")
_CLOSING = frozenset(")]}⦄⟩⌋⌉")
_PAIRS = {"(": ")]", "[": ")]", "{": "}", "⦃": "⦄", "⟨": "⟩"}
_INVERSE = re.compile(r"[A-Za-z]\^\{?-1\}?\([A-Za-z]\)")
_ALIGNED = frozenset({"begin:aligned", "begin:align", "begin:split", "begin:gathered", "begin:gather"})
_RELATIONS = frozenset("<>≤≥≠")
_MATRICES = frozenset({"begin:pmatrix", "begin:bmatrix", "begin:matrix", "begin:array", "begin:smallmatrix"})
_MONEY = re.compile(r"\\\$|^\$(?=[^$]*$)|[€£¥₹]")
_ALL_REALS = frozenset({"all real numbers", "all reals", "all real values"})
_LONE_GROUP = re.compile("\\{\x1f([^\x1f{}]+)\x1f\\}")
_Tokens = list[Token]


def answer_tokens(text: str) -> _Tokens:
    """Return the tokens of an answer's text, or raise a `GiveUpError`."""
    return without_double_brackets(tokens_of(text))


def read_answer(text: str, tokens: _Tokens | None = None) -> Node:
    """Return the shape of an answer's text (with its tokens, where known), or raise a `GiveUpError`."""
    return _Shape(bool(_MONEY.search(text))).read(answer_tokens(text) if tokens is None else tokens)


def identity(tokens: _Tokens) -> str:
    """Return a text that two answers share when they are written alike but for spacing and LaTeX wrappers."""
    texts = [token.text.lower() if token.kind == "word" else token.text for token in trimmed(tokens)]
    return _LONE_GROUP.sub(r"\1", "\x1f".join(texts))


def split(tokens: _Tokens, separators: frozenset[str]) -> tuple[list[_Tokens], list[str]]:
    """Return the parts of tokens between separators outside all brackets, and the separators."""
    parts: list[_Tokens] = [[]]
    found: list[str] = []
    level = 0
    for token in tokens:
        level += _level_change(token)
        if level == 0 and token.kind == "sign" and token.text in separators:
            parts.append([])
            found.append(token.text)
            if len(parts) > _MAX_ITEMS:
                raise TooLargeError
        else:
            parts[-1].append(token)
    return parts, found


def _level_change(token: Token) -> int:
    if token.kind == "sign":
        return (token.text in _OPENING) - (token.text in _CLOSING)
    if token.kind == "command":
        return token.text.startswith("begin:") - token.text.startswith("end:")
    return 0


class _Shape:
    """Reads one answer; `exact` says that it is an amount of money."""

    def __init__(self, exact: bool) -> None:
        self.exact, self.depth = exact, 0

    def read(self, tokens: _Tokens) -> Node:
        self.depth += 1
        if self.depth > _MAX_DEPTH:
            raise TooLargeError
        node = self._read(trimmed(tokens))
        self.depth -= 1
        return node

    def _read(self, tokens: _Tokens) -> Node:
        if not tokens:
            raise UnreadableError
        if tokens[0].text == "{" and _enclosed(tokens):
            return self.read(tokens[1:-1])
        signs = {token.text for token in tokens if token.kind == "sign"}
        if signs & {"∈", "≈", "⇒", "→"}:
            replaced = self._prefixed(tokens, signs)
            if replaced is not None:
                return replaced
        if "∪" in signs and len((parts := split(tokens, frozenset("∪")))[1]):
            return self._union(parts[0])
        if signs & {",", ";", "and", "or"}:
            parts, found = split(tokens, frozenset({",", ";", "and", "or"}))
            if found:
                return self._several(parts, found)
        if signs & {"=", *_RELATIONS}:
            related = self._related(tokens)
            if related is not None:
                return related
        if signs & {"±", "∓"} and not (tokens[0].text in "(⦃[⟨" and _enclosed(tokens) and signs & {",", "⦃"}):
            return self._plus_or_minus(tokens)
        return self._component(tokens)

    def _prefixed(self, tokens: _Tokens, signs: set[str]) -> Node | None:
        """Read `x ∈ S` as S, and `exact ≈ rounded` as the exact side unless that is a bare name."""
        if "⇒" in signs or "→" in signs:
            raise UnreadableError
        parts, found = split(tokens, frozenset("∈"))
        if len(found) == 1:
            return self._member(_name(parts[0]), self.read(parts[1]))
        parts, found = split(tokens, frozenset("≈"))
        if not found:
            return None
        return self.read(parts[-1] if _name(parts[0]) is not None or not parts[0] else parts[0])

    def _member(self, name: str | None, node: Node) -> Node:
        """Return a region or a set with the name of the variable that lies in it."""
        if name is None:
            raise UnreadableError
        if isinstance(node, Bracketed) and len(node.items) == 2:
            return Region((node,), name)
        if isinstance(node, Region):
            return Region(node.pieces, name)
        return Equation(Text(name), node, name, True)

    def _union(self, parts: list[_Tokens]) -> Region:
        pieces: list[Bracketed] = []
        for part in parts:
            piece = self.read(part)
            if not isinstance(piece, Bracketed) or len(piece.items) != 2 or piece.opening not in "([":
                raise UnreadableError
            pieces.append(piece)
        return Region(tuple(pieces))

    def _several(self, parts: list[_Tokens], found: list[str]) -> Node:
        items = [self.read(part) for part in parts if part]
        if not items:
            raise UnreadableError
        if len(items) == 1:
            return items[0]
        if all(isinstance(item, Region) for item in items):
            return joined(items, "or" in found)
        if isinstance(items[0], Equation) and items[0].name:
            names = {item.name for item in items if isinstance(item, Equation)}
            if len(names) == 1:
                rights = tuple(item.right if isinstance(item, Equation) else item for item in items)
                return Equation(items[0].left, Several(_flat(rights)), items[0].name, True)
        return Several(_flat(tuple(items)))

    def _related(self, tokens: _Tokens) -> Node | None:
        parts, found = split(tokens, frozenset({"=", *_RELATIONS}))
        if not found:
            return None
        if set(found) == {"="}:
            return self._equation(parts)
        return read_inequality(parts, found)

    def _equation(self, parts: list[_Tokens]) -> Node:
        right = self.read(parts[-1])
        name = _name(parts[0])
        left: Node
        try:
            left = self.read(parts[0])
        except GiveUpError:
            left = Text(words_of(parts[0]))
        return Equation(left, right, name, name is not None or len(parts) > 2 or _is_quantity(parts[0]))

    def _plus_or_minus(self, tokens: _Tokens) -> Node:
        """Read `a ± b` as the two values; several ± without ∓ may mean four values and are refused."""
        if sum(token.text == "±" for token in tokens if token.kind == "sign") != 1:
            raise UnreadableError
        choices = ({"±": "+", "∓": "-"}, {"±": "-", "∓": "+"})
        return Several(
            tuple(
                self.read([token._replace(text=signs.get(token.text, token.text)) for token in tokens])
                for signs in choices
            )
        )

    def _component(self, tokens: _Tokens) -> Node:
        first = tokens[0]
        if first.kind == "command" and first.text in _MATRICES and _enclosed(tokens):
            return self._matrix(tokens[1:-1])
        if first.kind == "command" and first.text in _ALIGNED and _enclosed(tokens):
            return self._aligned(tokens[1:-1])
        if first.kind == "command" and first.text == "emptyset" and len(tokens) == 1:
            return Text("emptyset")
        if first.kind == "symbol" and first.text == "mathbb:R" and len(tokens) == 1:
            return _all_reals()
        if first.kind == "sign" and first.text in _PAIRS and _enclosed(tokens):
            bracketed = self._bracketed(tokens)
            if bracketed is not None:
                return bracketed
        leaf = read_leaf(tokens, self.exact)
        return _all_reals() if isinstance(leaf, Text) and leaf.words in _ALL_REALS else leaf

    def _bracketed(self, tokens: _Tokens) -> Node | None:
        opening, closing = tokens[0].text, tokens[-1].text
        if closing not in _PAIRS[opening]:
            raise UnreadableError
        inner = tokens[1:-1]
        if opening == "⦃":
            return self._set(inner)
        parts, found = split(inner, frozenset({",", ";"}))
        if not found:
            if inner and inner[0].text in _MATRICES:
                return self.read(inner)
            if opening == "⟨":
                raise UnreadableError
            return None
        items = tuple(self.read(part) for part in parts)
        rows = [item.items for item in items if isinstance(item, Bracketed) and item.opening == "["]
        if opening == "[" and len(rows) == len(items) and len({len(row) for row in rows}) == 1:
            return Matrix(tuple(rows))
        return Bracketed("(" if opening == "⟨" else opening, ")" if closing == "⟩" else closing, items)

    def _set(self, inner: _Tokens) -> Node:
        if not inner:
            return Text("emptyset")
        bar = next((at for at, token in enumerate(inner) if token.text in ("|", ":")), None)
        if bar is not None and _name(_without_reals(inner[:bar])) is not None:
            region = self.read(inner[bar + 1 :])
            if not isinstance(region, Region):
                raise UnreadableError
            return Region(region.pieces)
        content = self.read(inner)
        items = content.items if isinstance(content, Several) and not content.is_set else (content,)
        return Several(_flat(items), is_set=True)

    def _aligned(self, inner: _Tokens) -> Node:
        """Read aligned lines: a chain where every later one begins with `=`, else one value a line."""
        lines, _ = split([token for token in inner if token.text != "&"], frozenset("⏎"))
        lines = [line for line in lines if line]
        if lines and all(line[0].text == "=" for line in lines[1:]):
            return self.read([token for line in lines for token in line])
        return self._several(lines, [])

    def _matrix(self, inner: _Tokens) -> Matrix:
        rows, _ = split(inner, frozenset("⏎"))
        if rows and not rows[-1]:
            rows.pop()
        cells = [[self.read(cell) for cell in split(row, frozenset("&"))[0]] for row in rows]
        if not cells or len({len(row) for row in cells}) != 1:
            raise UnreadableError
        return Matrix(tuple(tuple(row) for row in cells))


def _without_reals(tokens: _Tokens) -> _Tokens:
    """Return `x ∈ ℝ` as x; another domain stays."""
    is_real = [token.text for token in tokens[1:]] == ["∈", "mathbb:R"]
    return tokens[:1] if is_real else tokens


def _flat(items: tuple[Node, ...]) -> tuple[Node, ...]:
    """Return the values with those of a `±` among them taken apart."""
    flat: list[Node] = []
    for item in items:
        flat += item.items if isinstance(item, Several) and not item.is_set else (item,)
    if len(flat) > _MAX_ITEMS:
        raise TooLargeError
    return tuple(flat)


def _all_reals() -> Region:
    return Region((Bracketed("(", ")", (Value(MINUS_INFINITY), Value(INFINITY))),))


def _enclosed(tokens: _Tokens) -> bool:
    """Say whether the first bracket closes at the last token."""
    level = 0
    for at, token in enumerate(tokens):
        level += _level_change(token)
        if level == 0:
            return at == len(tokens) - 1 and at > 0
    return False


def _name(tokens: _Tokens) -> str | None:
    """Return the name that a left side consists of: `x`, `x_1`, `f(x)`, `Area`, `(x, y)`; else None."""
    text = "".join(token.text for token in trimmed(tokens))
    if not tokens or len(text) > 60:
        return None
    if all(token.kind == "word" for token in tokens):
        return text.lower()
    if _INVERSE.fullmatch(text):
        return text
    first = tokens[0]
    if first.kind == "symbol" and first.text not in ("i", "e", "pi"):
        rest = tokens[1:]
        if not rest or rest[0].text in ("_", "'") or (rest[0].text == "(" and _enclosed(rest)):
            simple = all(token.kind != "sign" or token.text in "_'(){}," for token in rest)
            return text if simple else None
    if first.text == "(" and _enclosed(tokens):
        inner = tokens[1:-1]
        simple = all(token.kind == "symbol" or token.text in (",", "_") for token in inner)
        return text if simple and any(token.text == "," for token in inner) else None
    return None


def _is_quantity(tokens: _Tokens) -> bool:
    """Say whether a left side names what was asked (`m+n`, `AB`, `cos θ`, `a/b`, `3·4`), no equation to be solved."""
    if all(token.kind != "symbol" or token.text in ("pi", "e", "i") for token in tokens):
        return True
    level = 0
    for at, token in enumerate(tokens):
        level += (token.text in ("(", "[")) - (token.text in (")", "]"))
        is_subscript = at > 0 and (
            tokens[at - 1].text == "_" or [t.text for t in tokens[max(0, at - 2) : at]] == ["_", "{"]
        )
        if level == 0 and not is_subscript and (token.kind == "number" or token.text in ("^", "sqrt")):
            return False
    return True
