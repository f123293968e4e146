"""Unicode mathematics written as LaTeX, and number formats made uniform.

Promises linear time. Only characters with one clear meaning are changed; `3,5` is never read as 3.5.
"""

from __future__ import annotations

import re

_SUPERSCRIPTS = dict(zip("⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁽⁾ⁿⁱ", "0123456789+-()ni", strict=True))
_SUBSCRIPTS = dict(zip("₀₁₂₃₄₅₆₇₈₉₊₋₍₎", "0123456789+-()", strict=True))
_FRACTIONS = {
    "½": "1/2", "⅓": "1/3", "⅔": "2/3", "¼": "1/4", "¾": "3/4", "⅕": "1/5", "⅖": "2/5", "⅗": "3/5", "⅘": "4/5",
    "⅙": "1/6", "⅚": "5/6", "⅐": "1/7", "⅛": "1/8", "⅜": "3/8", "⅝": "5/8", "⅞": "7/8", "⅑": "1/9", "⅒": "1/10",
}  # fmt: skip
_GREEK = {
    "α": "alpha", "β": "beta", "γ": "gamma", "δ": "delta", "ε": "epsilon", "ζ": "zeta", "η": "eta", "θ": "theta",
    "ι": "iota", "κ": "kappa", "λ": "lambda", "μ": "mu", "ν": "nu", "ξ": "xi", "π": "pi", "ρ": "rho", "σ": "sigma",
    "τ": "tau", "υ": "upsilon", "φ": "phi", "ϕ": "phi", "χ": "chi", "ψ": "psi", "ω": "omega", "Γ": "Gamma",
    "Δ": "Delta", "Θ": "Theta", "Λ": "Lambda", "Π": "Pi", "Σ": "Sigma", "Φ": "Phi", "Ψ": "Psi", "Ω": "Omega",
    "ℝ": "R", "𝜋": "pi", "𝝅": "pi", "ℓ": "ell",
}  # fmt: skip
_SIGNS = {
    "−": "-", "–": "-", "‐": "-", "‑": "-", "‒": "-", "﹣": "-", "∙": "·", "⋅": "·", "•": "·", "×": "·",
    "∗": "*", "⁎": "*", "÷": "/", "⁄": "/", "∕": "/", "∶": ":", "≦": "≤", "≧": "≥", "⩽": "≤", "⩾": "≥", "≃": "≈",
    "≅": "≈", "≒": "≈", "˚": "°", "º": "°", "℃": "°", "℉": "°", "，": ",", "、": ",", "。": ". ", "．": ".",
    "；": ";", "：": ":", "（": "(", "）": ")", "［": "[", "］": "]", "｛": "{", "｝": "}", "【": "[", "】": "]",
    "＝": "=", "＋": "+", "－": "-", "＊": "*", "／": "/", "％": "%", "＜": "<", "＞": ">", "｜": "|", "＾": "^",
    "＄": "\\$", "⟨": "\\langle ", "⟩": "\\rangle ", "〈": "\\langle ", "〉": "\\rangle ", "⌊": "\\lfloor ",
    "⌋": "\\rfloor ", "⌈": "\\lceil ", "⌉": "\\rceil ", "∅": "\\emptyset ", "“": '"', "”": '"', "‘": "'", "’": "'",
    "…": "...", "\u200b": "", "\u200c": "", "\u200d": "", "\u2060": "", "\ufeff": "", "\u00ad": "", "ⅈ": "i",
    "\u00a0": " ", "\u2009": " ", "\u202f": " ", "\u2007": " ", "\u2008": " ", "\u200a": " ", "\u3000": " ",
    "\u2002": " ", "\u2003": " ", "\u2061": " ", "\u2062": " ", "√": "\\sqrt ", "∛": "\\sqrt[3]", "∜": "\\sqrt[4]",
}  # fmt: skip
_TABLE = str.maketrans(
    _SIGNS
    | {char: f"\\{name} " for char, name in _GREEK.items() if name != "R"}
    | {"ℝ": "\\mathbb{R}"}
    | {chr(0xFF10 + digit): str(digit) for digit in range(10)}
    | {chr(0xFF21 + at): chr(65 + at) for at in range(26)}
    | {chr(0xFF41 + at): chr(97 + at) for at in range(26)}
)
_RAISED = re.compile(f"[{''.join(_SUPERSCRIPTS)}]+")
_LOWERED = re.compile(f"[{''.join(_SUBSCRIPTS)}]+")
_VULGAR = re.compile(f"[{''.join(_FRACTIONS)}]")
_ROOT = re.compile(r"([√∛∜])\s*(\d+(?:\.\d+)?|\\?[A-Za-z]|π)")
_FULLWIDTH_STOP = re.compile(r"．(?!\d|[０-９])")


def plain_unicode(text: str) -> str:
    """Return `text` with Unicode mathematics spelled in ASCII and LaTeX (`x²` → `x^{2}`, `½` → `\\frac{1}{2}`)."""
    if text.isascii():
        return text
    text = _VULGAR.sub(lambda found: "\\frac{{{}}}{{{}}}".format(*_FRACTIONS[found[0]].split("/")), text)
    text = _RAISED.sub(lambda found: "^{" + "".join(map(_SUPERSCRIPTS.__getitem__, found[0])) + "}", text)
    text = _LOWERED.sub(lambda found: "_{" + "".join(map(_SUBSCRIPTS.__getitem__, found[0])) + "}", text)
    text = _ROOT.sub(r"\1{\2}", text)
    return _FULLWIDTH_STOP.sub(". ", text).translate(_TABLE)


_LATEX_COMMA = re.compile(r"(?<=\d)(?:\{,\}|,\s*\\!|\\!\s*,|\\,\s*)\s*(?=\d{3}(?!\d))")
_GROUPED = re.compile(r"(?<![\d.,])(\d{1,3}(?:,\d{3})+)(?![\d])(?!,\d)")
_SPACED = re.compile(r"(?<![\d.,^_/])(?<!\d )\d{1,3}(?: \d{3})+(?![\d/])(?! \d)")
_EUROPEAN = re.compile(r"(?<![\d.,])(\d{1,3}(?:\.\d{3})+),(\d+)(?![\d.,]*\d)")
_DOTTED = re.compile(r"(?<![\d.,])\d{1,3}(?:\.\d{3}){2,}(?![\d.,]*\d)")
_BRACKETED_PAIR = re.compile(r"[(\[{][^()\[\]{}]*\d,\d[^()\[\]{}]*[)\]}]")


def join_thousands(text: str) -> str:
    """Return `text` with thousands separators removed: `1,024`, `14\\,916`, `14{,}916`, `1.234,56`.

    Between brackets a tight comma separates components (`(1,234)` is a pair) unless a wider comma does.
    """
    if "," not in text and "." not in text and " " not in text and "\\," not in text:
        return text
    text = _LATEX_COMMA.sub("", text)
    text = _EUROPEAN.sub(lambda found: found[1].replace(".", "") + "." + found[2], text)
    text = _DOTTED.sub(lambda found: found[0].replace(".", ""), text)
    text = _SPACED.sub(lambda found: found[0].replace(" ", ""), text)
    if ", " not in text and _BRACKETED_PAIR.search(text):
        return text
    return _GROUPED.sub(lambda found: found[1].replace(",", ""), text)
