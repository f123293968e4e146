"""One answer's text as tokens: numbers, symbols, functions, commands, words and signs.

Spelling differences end here (`\\dfrac` and `\\frac`, `\\le` and `≤`, `\\mbox{cm}` and `cm`). Promises linear time
on text up to `MAX_CHARACTERS`; longer text is refused.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from alodlm.score.math.errors import TooLargeError, UnreadableError
from alodlm.score.math.unicode import join_thousands, plain_unicode
from alodlm.score.math.words import CONNECTORS, UNITS, is_product

MAX_CHARACTERS = 4000


class Token(NamedTuple):
    """`kind` is number, symbol, function, command, word or sign; `gap` says that white space came before."""

    kind: str
    text: str
    gap: bool = False


FUNCTIONS = frozenset(
    """sin cos tan sec csc cot sinh cosh tanh arcsin arccos arctan ln log exp asin acos atan lg max min gcd lcm det
    arccot arcsec arccsc coth""".split()
)
_FUNCTION_NAMES = {name: name for name in FUNCTIONS} | {
    "asin": "arcsin", "acos": "arccos", "atan": "arctan", "cosec": "csc", "lg": "log",
}  # fmt: skip
_GREEK = frozenset(
    """alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi pi rho sigma tau upsilon phi chi psi
    omega Gamma Delta Theta Lambda Xi Pi Sigma Upsilon Phi Psi Omega ell""".split()
)
_SYMBOL_COMMANDS = {"varepsilon": "epsilon", "vartheta": "theta", "varphi": "phi", "hbar": "hbar", "imath": "i"}
_SIGN_COMMANDS = {
    "cdot": "·", "times": "·", "ast": "*", "div": "/", "le": "≤", "leq": "≤", "leqslant": "≤", "ge": "≥", "geq": "≥",
    "geqslant": "≥", "lt": "<", "gt": ">", "ne": "≠", "neq": "≠", "approx": "≈", "simeq": "≈", "cong": "≈", "in": "∈",
    "cup": "∪", "cap": "∩", "infty": "∞", "pm": "±", "mp": "∓", "degree": "°", "lvert": "|", "rvert": "|", "vert": "|",
    "mid": "|", "lbrace": "⦃", "rbrace": "⦄", "langle": "⟨", "rangle": "⟩", "lfloor": "⌊", "rfloor": "⌋",
    "lceil": "⌈", "rceil": "⌉", "lbrack": "[", "rbrack": "]", "colon": ":", "prime": "'", "setminus": "∖",
    "land": "and", "wedge": "and", "lor": "or", "vee": "or", "implies": "⇒", "Rightarrow": "⇒", "to": "→",
    "rightarrow": "→", "ldots": "...", "dots": "...", "cdots": "...", "equiv": "≡", "propto": "∝", "circ": "∘",
}  # fmt: skip
_FRACTION_COMMANDS = {"frac": "frac", "dfrac": "frac", "tfrac": "frac", "cfrac": "frac"}
_BINOMIAL_COMMANDS = {"binom": "binom", "dbinom": "binom", "tbinom": "binom"}
_OTHER_COMMANDS = {
    "sqrt": "sqrt", "over": "over", "choose": "choose", "overline": "overline", "bar": "overline",
    "begin": "begin", "end": "end", "emptyset": "emptyset", "varnothing": "emptyset", "dot": "overline",
}  # fmt: skip
_COMMANDS = _FRACTION_COMMANDS | _BINOMIAL_COMMANDS | _OTHER_COMMANDS
_DROPPED = frozenset(
    """left right big Big bigg Bigg bigl bigr Bigl Bigr biggl biggr displaystyle textstyle limits nolimits quad qquad
    thinspace hspace enspace hfill smallskip nobreak mathstrut rm bf it boldsymbol operatorname mathbin hline middle
    vspace phantom""".split()
)
_TEXT_COMMANDS = frozenset(
    "text textbf textit textrm texttt textsf textnormal mbox hbox emph mathrm mathbf mathit mathsf mathtt".split()
)
_GROUPING_COMMANDS = frozenset({"boxed", "fbox", "operatorname", "boldsymbol", "bm", "mathbb", "mathcal", "vec", "hat"})
_SCAN = re.compile(
    r"""(?P<space>(?:\s|\\[ ,;:!>]|~|\\\s)+)
    |(?P<number>(?:\d+\.\d+|\d*\.(?=\\(?:overline|bar|dot)\b)|\d+|\.\d+)(?:[eE][+-]?\d+(?![\d.a-zA-Z]))?)
    |(?P<command>\\[A-Za-z]+)\*?
    |(?P<letters>[A-Za-z]+)
    |(?P<escaped>\\[^A-Za-z])
    |(?P<sign>\+/-|\.\.\.|<=|>=|!=|/=|==|\*\*|\^\s*\{?\s*\\circ\s*\}?|\^\s*\{?°\}?|.)""",
    re.VERBOSE | re.DOTALL,
)
_SIGNS = {"+/-": "±", "<=": "≤", ">=": "≥", "!=": "≠", "/=": "≠", "==": "=", "**": "^", "×": "·"}
_ESCAPED = {"\\{": "⦃", "\\}": "⦄", "\\|": "|", "\\%": "%", "\\\\": "⏎", "\\&": "and", "\\_": "_", "\\#": "#"}
_MATH_INSIDE = re.compile(r"[\d\\^_=+*/<>]")
_COMPOUND_UNIT = re.compile(r"[A-Za-z]+(?:\s*/\s*[A-Za-z]+)+")
_AMBIGUOUS_POWER = re.compile(r"(?!1e)\d+e-\d$")


def tokens_of(text: str) -> list[Token]:
    """Return the tokens of an answer, with Unicode and thousands separators made plain first."""
    if len(text) > MAX_CHARACTERS:
        raise TooLargeError
    return _Scanner(join_thousands(plain_unicode(text))).scan()


class _Scanner:
    """Scans one text; `depth` bounds text commands within text commands."""

    def __init__(self, text: str, depth: int = 0) -> None:
        self.text, self.depth, self.at, self.gap = text, depth, 0, False
        self.tokens: list[Token] = []

    def scan(self) -> list[Token]:
        while self.at < len(self.text):
            found = _SCAN.match(self.text, self.at)
            self.at = found.end()
            kind, piece = found.lastgroup, found[0]
            if kind == "space":
                self.gap = True
                continue
            getattr(self, f"_{kind}")(piece)
            self.gap = False
        return self.tokens

    def _add(self, kind: str, text: str, gap: bool | None = None) -> None:
        self.tokens.append(Token(kind, text, self.gap if gap is None else gap))

    def _number(self, piece: str) -> None:
        if _AMBIGUOUS_POWER.match(piece):
            digits, _, power = piece.partition("e-")
            for kind, part in (("number", digits), ("symbol", "e"), ("sign", "-"), ("number", power)):
                self._add(kind, part)
                self.gap = False
        else:
            self._add("number", piece)

    def _sign(self, piece: str) -> None:
        if piece[0] == "^" and ("circ" in piece or "°" in piece):
            self._add("sign", "°")
        elif piece != "$":
            self._add("sign", _SIGNS.get(piece, piece))

    def _escaped(self, piece: str) -> None:
        if piece == "\\$":
            return
        if piece in _ESCAPED:
            self._add("sign", _ESCAPED[piece])
        elif piece not in ("\\(", "\\)", "\\[", "\\]"):
            raise UnreadableError

    def _command(self, piece: str) -> None:
        name = piece.rstrip("*")[1:]
        if name in _SIGN_COMMANDS:
            self._add("sign", _SIGN_COMMANDS[name])
        elif name in _TEXT_COMMANDS and self._peek() == "{":
            self._text_command(name, self._group())
        elif name in _FUNCTION_NAMES:
            self._add("function", _FUNCTION_NAMES[name])
        elif name in _GREEK or name in _SYMBOL_COMMANDS:
            self._add("symbol", _SYMBOL_COMMANDS.get(name, name))
        elif name in _COMMANDS:
            self._known_command(_COMMANDS[name])
        elif name in ("mathbb", "mathcal", "vec", "hat", "widehat", "overrightarrow"):
            self._add("symbol", f"{name}:{self._group() if self._peek() == '{' else self._character()}")
        elif name not in _DROPPED and name not in _TEXT_COMMANDS and name not in _GROUPING_COMMANDS:
            self._add("command", name)

    def _known_command(self, name: str) -> None:
        if name in ("begin", "end"):
            self._add("command", f"{name}:{self._group().strip('*') if self._peek() == '{' else ''}")
            if name == "begin" and self.tokens[-1].text == "begin:array" and self._peek() == "{":
                self._group()
        else:
            self._add("command", name)
            if name == "frac":
                self._bare_digits(2)
            elif name == "sqrt":
                self._bare_digits(1)

    def _bare_digits(self, count: int) -> None:
        """Take digits without braces one by one, as TeX does: `\\frac12` is 1/2, `\\sqrt2` is √2."""
        for _ in range(count):
            digit = re.compile(r"\s*(\d)").match(self.text, self.at)
            if digit is None:
                if self._peek() != "{":
                    return
                self._braced_tokens()
                continue
            self.at = digit.end()
            self._add("number", digit[1])

    def _braced_tokens(self) -> None:
        self._add("sign", "{", False)
        self.tokens += _Scanner(self._group(), self._deeper()).scan()
        self._add("sign", "}", False)

    def _deeper(self) -> int:
        if self.depth > 40:
            raise TooLargeError
        return self.depth + 1

    def _peek(self) -> str:
        while self.at < len(self.text) and self.text[self.at].isspace():
            self.at += 1
        return self.text[self.at : self.at + 1]

    def _character(self) -> str:
        self.at += 1
        return self.text[self.at - 1 : self.at]

    def _group(self) -> str:
        """Return what the braces at the reading position enclose, and step over them."""
        start, level = self.at, 0
        while self.at < len(self.text):
            char = self.text[self.at]
            self.at += 2 if char == "\\" else 1
            level += (char == "{") - (char == "}")
            if level == 0:
                return self.text[start + 1 : self.at - 1]
        raise UnreadableError

    def _text_command(self, name: str, content: str) -> None:
        bare = content.strip().strip("$").strip()
        if not bare:
            return
        if len(bare) == 1 and bare.isalpha():
            is_unit = name != "mathbf" and bare in UNITS and self._after_value() and (self.gap or content[0] == " ")
            self._add("word" if is_unit else "symbol", bare)
        elif _COMPOUND_UNIT.fullmatch(bare):
            self._add("word", bare)
        elif _MATH_INSIDE.search(bare) or bare.startswith(("(", "[")) or bare in _FUNCTION_NAMES:
            self.tokens += _Scanner(content, self._deeper()).scan()
        else:
            self._words(bare)

    def _after_value(self) -> bool:
        return bool(self.tokens) and (self.tokens[-1].kind in ("number", "symbol") or self.tokens[-1].text in "})°!%")

    def _words(self, text: str) -> None:
        pieces = re.findall(r"[^\s,;]+|[,;]", text)
        labels = all(len(piece) == 1 or piece.lower() in CONNECTORS for piece in pieces)
        for word in pieces:
            if word in (",", ";") or word.lower() in CONNECTORS:
                self._add("sign", word.lower(), True)
            else:
                self._add("symbol" if labels else "word", word, True)

    def _letters(self, run: str) -> None:
        """Read a run of letters as a name, a word or a product of symbols."""
        if self._is_compound_unit(run):
            self._add("word", run)
        elif len(run) == 1:
            self._single_letter(run)
        elif run in _FUNCTION_NAMES:
            self._add("function", _FUNCTION_NAMES[run])
        elif run == "sqrt":
            self._add("command", "sqrt")
        elif run.lower() in CONNECTORS:
            self._add("sign", run.lower())
        elif run in _GREEK or run.lower() == "pi":
            self._add("symbol", run if run in _GREEK else "pi")
        elif run.lower() in ("infinity", "inf", "oo"):
            self._add("sign", "∞")
        elif is_product(run):
            self._product(run)
        elif not self._glued(run):
            self._add("word", run)

    def _is_compound_unit(self, run: str) -> bool:
        """Say whether a run begins a unit such as `km/h` after a number."""
        if run not in UNITS or not self.tokens or self.tokens[-1].kind != "number":
            return False
        rest = re.compile(r"/([A-Za-z]+)").match(self.text, self.at)
        return rest is not None and rest[1] in UNITS

    def _single_letter(self, letter: str) -> None:
        after_number = bool(self.tokens) and self.tokens[-1].kind == "number" and self.gap
        lone = all(token.kind == "number" or token.text in ("-", "/", "·", ",", "and") for token in self.tokens)
        if letter == "x" and after_number and re.compile(r"\s+\d").match(self.text, self.at):
            self._add("sign", "·")
        elif (
            letter in UNITS and after_number and lone and not re.compile(r"\s*[\^_+*(=<>/-]").match(self.text, self.at)
        ):
            self._add("word", letter)
        else:
            self._add("symbol", letter)

    def _product(self, run: str) -> None:
        for letter in run:
            self._add("symbol", letter)
            self.gap = False

    def _glued(self, run: str) -> bool:
        """Read `sinx` as `sin x`, `xsin` as `x sin`; False when the run is no such thing."""
        for name in ("sqrt", "arcsin", "arccos", "arctan", "sin", "cos", "tan", "sec", "csc", "cot", "log", "ln", "pi"):
            rest = run[len(name) :]
            if run.startswith(name) and len(rest) == 1:
                self._letters(name)
                self.gap = False
                self._add("symbol", rest)
                return True
            if run.endswith(name) and len(run) == len(name) + 1 and name != "pi":
                self._add("symbol", run[0])
                self.gap = False
                self._letters(name)
                return True
        return False
