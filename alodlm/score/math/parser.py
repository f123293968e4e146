"""Tokens of one expression → an expression tree of plain tuples.

Promises bounded depth and never to evaluate anything. What it does not read (sums, integrals, two numbers side by
side, words) it refuses with `UnreadableError`; it never guesses a reading that would make unequal answers equal.

Trees: ("q", Fraction) ("v", name) ("+", a, b) ("*", a, b) ("/", a, b) ("^", a, b) ("root", degree, a)
("f", name, argument) ("log", base, argument) ("!", a) ("°", a) ("|", a) ("binom", n, k) ("i",) ("e",) ("pi",).
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from alodlm.score.math.errors import TooLargeError, UnreadableError
from alodlm.score.math.tokens import Token

Tree = tuple
MAX_DEPTH = 48
MAX_NUMBER_CHARACTERS = 1200
_MAX_EXPONENT = 1200
_CLOSING = {"(": ")", "[": "]", "{": "}", "⌊": "⌋", "⌈": "⌉", "⦃": "⦄", "⟨": "⟩"}
_OPENING = {closing: opening for opening, closing in _CLOSING.items()}
_CONSTANTS: dict[str, Tree] = {"i": ("i",), "e": ("e",), "pi": ("pi",)}
_ONE_ARGUMENT = frozenset(
    """sin cos tan sec csc cot sinh cosh tanh coth arcsin arccos arctan arccot arcsec arccsc ln exp""".split()
)
_INVERSES = {"sin": "arcsin", "cos": "arccos", "tan": "arctan", "cot": "arccot", "sec": "arcsec", "csc": "arccsc"}
_APPLIED = frozenset({"f", "g"})
INFINITY: Tree = ("v", "∞")
MINUS_INFINITY: Tree = ("*", ("q", Fraction(-1)), INFINITY)
_END = Token("end", "")


def parse_expression(tokens: list[Token]) -> Tree:
    """Return the tree of an expression that all the tokens make up, or raise a `GiveUpError`."""
    reader = _Reader(without_double_brackets(tokens))
    tree = reader.whole()
    if reader.at != len(reader.tokens) or (reader.has_infinity and tree not in (INFINITY, MINUS_INFINITY)):
        raise UnreadableError
    return tree


def without_double_brackets(tokens: list[Token]) -> list[Token]:
    """Drop a pair of round brackets or braces that holds nothing but another pair, so that depth means depth."""
    opened: list[int] = []
    partner: dict[int, int] = {}
    for at, token in enumerate(tokens):
        if token.kind != "sign":
            continue
        if token.text in "({":
            opened.append(at)
        elif token.text in ")}" and opened and _CLOSING[tokens[opened[-1]].text] == token.text:
            partner[opened.pop()] = at
    dropped: set[int] = set()
    for start, end in partner.items():
        if partner.get(start + 1) == end - 1 and tokens[start].text == tokens[start + 1].text:
            dropped |= {start, end}
    return [token for at, token in enumerate(tokens) if at not in dropped] if dropped else tokens


def number_value(text: str) -> Fraction:
    """Return the exact value of a number as written (`12`, `.5`, `1.5e-3`)."""
    if len(text) > MAX_NUMBER_CHARACTERS:
        raise TooLargeError
    mantissa, _, exponent = text.lower().partition("e")
    if exponent and (len(exponent) > 6 or abs(int(exponent)) > _MAX_EXPONENT):
        raise TooLargeError
    return Fraction(mantissa) * (Fraction(10) ** int(exponent) if exponent else 1)


class _Reader:
    """Recursive descent over the tokens; every level of brackets costs one unit of depth."""

    def __init__(self, tokens: list[Token]) -> None:
        self.tokens, self.at, self.depth, self.bars = tokens, 0, 0, 0
        self.has_infinity = False

    def _next(self) -> Token:
        return self.tokens[self.at] if self.at < len(self.tokens) else _END

    def _take(self, text: str) -> bool:
        token = self._next()
        if token.kind in ("sign", "command") and token.text == text:
            self.at += 1
            return True
        return False

    def _expect(self, text: str) -> None:
        if not self._take(text):
            raise UnreadableError

    def _nested(self, read: Callable[[], Tree]) -> Tree:
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise TooLargeError
        tree = read()
        self.depth -= 1
        return tree

    def sum(self) -> Tree:
        tree = self._term()
        while self._next().kind == "sign" and self._next().text in "+-":
            sign = self._next().text
            self.at += 1
            term = self._term()
            tree = ("+", tree, term if sign == "+" else _negative(term))
        return tree

    def whole(self) -> Tree:
        """Read a sum, or two around `\\over` or `\\choose`."""
        tree = self.sum()
        for command, build in (("over", "/"), ("choose", "binom")):
            if self._take(command):
                tree = (build, tree, self.sum())
        return tree

    def _signs(self) -> bool:
        """Step over signs before a term; True when they make it negative."""
        negative = False
        while self._next().kind == "sign" and self._next().text in "+-":
            negative ^= self._next().text == "-"
            self.at += 1
        return negative

    def _term(self) -> Tree:
        negative = self._signs()
        tree = self._power()
        while True:
            if self._take("·") or self._take("*"):
                tree = ("*", tree, self._signed_power())
            elif self._take("/"):
                tree = ("/", tree, self._signed_power())
            elif self._starts_factor():
                tree = ("*", tree, self._power())
            else:
                return _negative(tree) if negative else tree

    def _signed_power(self) -> Tree:
        negative = self._signs()
        tree = self._power()
        return _negative(tree) if negative else tree

    def _starts_factor(self) -> bool:
        token = self._next()
        if token.kind in ("symbol", "function"):
            return True
        if token.kind == "command":
            return token.text in ("frac", "sqrt", "binom")
        if token.kind == "sign":
            return token.text in ("(", "{", "[", "⌊", "⌈", "∞") or (token.text == "|" and not self.bars)
        return False

    def _power(self) -> Tree:
        tree = self._postfix()
        if self._take("^"):
            tree = ("^", tree, self._nested(self._exponent))
        return self._factorials(tree)

    def _exponent(self) -> Tree:
        negative = self._signs()
        number = self._next().kind == "number"
        tree = self._factorials(self._base_number()) if number else self._postfix()
        if self._take("^"):
            tree = ("^", tree, self._nested(self._exponent))
        return _negative(tree) if negative else tree

    def _postfix(self) -> Tree:
        return self._factorials(self._primary())

    def _factorials(self, tree: Tree) -> Tree:
        while True:
            if self._take("!"):
                if self._next().text == "!":
                    raise UnreadableError
                tree = ("!", tree)
            elif self._take("°"):
                tree = ("°", tree)
            else:
                return tree

    def _primary(self) -> Tree:
        token = self._next()
        self.at += 1
        if token.kind == "number":
            return self._number(token)
        if token.kind == "symbol":
            return self._symbol(token.text)
        if token.kind == "function":
            return self._function(token.text)
        if token.kind == "command":
            return self._command(token.text)
        if token.kind == "sign":
            return self._bracketed(token.text)
        raise UnreadableError

    def _number(self, token: Token) -> Tree:
        value = number_value(token.text)
        if "." in token.text and self._next().text == "overline":
            return self._repeating(token.text)
        whole = token.text.isdigit()
        following = self._next()
        if whole and following.kind == "number":
            return ("q", value + self._plain_fraction())
        if whole and following == ("command", "frac", following.gap):
            return self._mixed(value)
        return ("q", value)

    def _plain_fraction(self) -> Fraction:
        """Read the `2/3` of `2 2/3`; anything else after a number is no mathematics."""
        parts = [token.text for token in self.tokens[self.at : self.at + 3]]
        kinds = [token.kind for token in self.tokens[self.at : self.at + 4]]
        if kinds[:3] != ["number", "sign", "number"] or parts[1] != "/" or not self._next().gap:
            raise UnreadableError
        if not (parts[0].isdigit() and parts[2].isdigit()) or kinds[3:] == ["symbol"]:
            raise UnreadableError
        self.at += 3
        return _proper(number_value(parts[0]), number_value(parts[2]))

    def _mixed(self, whole: Fraction) -> Tree:
        self.at += 1
        _, top, bottom = self._fraction()
        if top[0] == "q" == bottom[0]:
            return ("q", whole + _proper(top[1], bottom[1]))
        return ("*", ("q", whole), ("/", top, bottom))

    def _repeating(self, start: str) -> Tree:
        """Read `0.1\\overline{6}`: the digits under the line repeat for ever."""
        self.at += 1
        digits = self._argument_digits()
        places = len(start.partition(".")[2])
        tail = Fraction(int(digits), (10 ** len(digits) - 1) * 10**places)
        return ("q", number_value(start) + tail)

    def _argument_digits(self) -> str:
        braced = self._take("{")
        token = self._next()
        self.at += 1
        if token.kind != "number" or not token.text.isdigit() or len(token.text) > 60:
            raise UnreadableError
        if braced:
            self._expect("}")
        return token.text

    def _symbol(self, name: str) -> Tree:
        if self._take("_"):
            name = f"{name}_{self._subscript()}"
        primes = 0
        while self._take("'"):
            primes += 1
        name += "'" * primes
        if name.partition("_")[0].rstrip("'") in _APPLIED and self._next().text == "(":
            self.at += 1
            return ("f", f"apply {name}", self._closed(")"))
        return _CONSTANTS.get(name, ("v", name))

    def _subscript(self) -> str:
        if not self._take("{"):
            token = self._next()
            self.at += 1
            if token.kind not in ("number", "symbol", "word"):
                raise UnreadableError
            return token.text
        parts = []
        while not self._take("}"):
            token = self._next()
            self.at += 1
            if token.kind == "end" or token.text in "{^_":
                raise UnreadableError
            parts.append(token.text)
        return " ".join(parts)

    def _function(self, name: str) -> Tree:
        base: Tree | None = None
        power: Tree | None = None
        while True:
            if base is None and name == "log" and self._take("_"):
                base = self._nested(self._primary_digit)
            elif power is None and self._take("^"):
                power = self._nested(self._exponent)
            else:
                break
        if power == ("q", Fraction(-1)) and name in _INVERSES:
            name, power = _INVERSES[name], None
        argument = self._nested(self._argument)
        tree = self._applied(name, base, argument)
        return tree if power is None else ("^", tree, power)

    def _applied(self, name: str, base: Tree | None, argument: Tree) -> Tree:
        if name == "log":
            return ("log", base or ("q", Fraction(10)), argument)
        if name not in _ONE_ARGUMENT:
            raise UnreadableError
        return ("^", ("e",), argument) if name == "exp" else ("f", name, argument)

    def _primary_digit(self) -> Tree:
        """Read a base: braces, or one symbol or number as it stands (`\\log_2 3`)."""
        if self._next().text not in "({" and self._next().kind not in ("number", "symbol"):
            raise UnreadableError
        return self._base_number() if self._next().kind == "number" else self._primary()

    def _base_number(self) -> Tree:
        token = self._next()
        self.at += 1
        return ("q", number_value(token.text))

    def _argument(self) -> Tree:
        """Read a function's argument: brackets, or the factors up to the next sign or function."""
        if self._next().text in ("(", "{", "["):
            return self._postfix()
        negative = self._signs()
        tree = self._power()
        while self._starts_factor() and self._next().kind != "function" and self._next().text not in "([":
            tree = ("*", tree, self._power())
        return _negative(tree) if negative else tree

    def _command(self, name: str) -> Tree:
        if name == "frac":
            return self._fraction()
        if name == "sqrt":
            return self._root()
        if name == "binom":
            return ("binom", self._nested(self._group), self._nested(self._group))
        raise UnreadableError

    def _fraction(self) -> Tree:
        return ("/", self._nested(self._group), self._nested(self._group))

    def _group(self) -> Tree:
        """Read a command's argument: a group in braces, or a single token."""
        if self._take("{"):
            return self._closed("}")
        token = self._next()
        if token.kind == "symbol" or (token.kind == "command" and token.text in ("sqrt", "frac")):
            self.at += 1
            plain = _CONSTANTS.get(token.text, ("v", token.text))
            return plain if token.kind == "symbol" else self._command(token.text)
        if token.kind == "number" and len(token.text) == 1:
            return self._base_number()
        raise UnreadableError

    def _root(self) -> Tree:
        degree: Tree = ("q", Fraction(2))
        if self._take("["):
            degree = self._nested(lambda: self._closed("]"))
        if self._next().text == "(":
            self.at += 1
            return ("root", degree, self._nested(lambda: self._closed(")")))
        if self._next().kind == "number":
            return ("root", degree, self._base_number())
        return ("root", degree, self._nested(self._group))

    def _bracketed(self, opening: str) -> Tree:
        if opening == "|":
            self.bars += 1
            tree = ("|", self._nested(lambda: self._closed("|")))
            self.bars -= 1
            return tree
        if opening in ("⌊", "⌈"):
            name = "floor" if opening == "⌊" else "ceiling"
            return ("f", name, self._nested(lambda: self._closed(_CLOSING[opening])))
        if opening in ("(", "{", "["):
            return self._nested(lambda: self._closed(_CLOSING[opening]))
        if opening == "∞":
            self.has_infinity = True
            return INFINITY
        raise UnreadableError

    def _closed(self, closing: str) -> Tree:
        tree = self.whole() if closing == "}" else self.sum()
        self._expect(closing)
        return tree


def _negative(tree: Tree) -> Tree:
    return ("q", -tree[1]) if tree[0] == "q" else ("*", ("q", Fraction(-1)), tree)


def _proper(top: Fraction, bottom: Fraction) -> Fraction:
    """Return a mixed number's fraction; `2 5/3` is nothing that one may read as a mixed number."""
    if bottom == 0 or not 0 <= top < bottom or top.denominator != 1 or bottom.denominator != 1:
        raise UnreadableError
    return top / bottom
