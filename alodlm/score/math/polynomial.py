"""Exact polynomials over the rationals in named atoms, with rational exponents.

A monomial is a sorted tuple of (atom, exponent); a polynomial maps monomials to non-zero coefficients. Atoms are
strings: `v x` a variable, `p 2` the positive root of a prime, `i`, `pi`, `e`, anything else opaque. Promises to stop
with `TooLargeError` before a product outgrows `MAX_TERMS` or a number `MAX_BITS`.
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction

from alodlm.score.math.errors import TooLargeError

Monomial = tuple[tuple[str, Fraction], ...]
Polynomial = dict[Monomial, Fraction]
MAX_TERMS = 400
MAX_PRODUCTS = 20_000
MAX_BITS = 40_000
ONE: Monomial = ()
ZERO = Fraction(0)


def constant(value: Fraction | int) -> Polynomial:
    """Return a constant polynomial."""
    return {ONE: Fraction(value)} if value else {}


def atom(name: str, exponent: Fraction | int = 1) -> Polynomial:
    """Return one atom to a power."""
    return {((name, Fraction(exponent)),): Fraction(1)}


def add(left: Polynomial, right: Polynomial) -> Polynomial:
    """Return the sum."""
    total = dict(left)
    for monomial, coefficient in right.items():
        value = total.get(monomial, ZERO) + coefficient
        if value:
            total[monomial] = checked(value)
        else:
            del total[monomial]
    if len(total) > MAX_TERMS:
        raise TooLargeError
    return total


def scale(polynomial: Polynomial, factor: Fraction) -> Polynomial:
    """Return the polynomial times a rational number."""
    return {monomial: checked(value * factor) for monomial, value in polynomial.items()} if factor else {}


def multiply(left: Polynomial, right: Polynomial) -> Polynomial:
    """Return the product."""
    if len(left) * len(right) > MAX_PRODUCTS:
        raise TooLargeError
    total: Polynomial = {}
    for left_monomial, left_value in left.items():
        for right_monomial, right_value in right.items():
            monomial, factor = merge(left_monomial, right_monomial)
            value = total.get(monomial, ZERO) + left_value * right_value * factor
            if value:
                total[monomial] = checked(value)
            else:
                total.pop(monomial, None)
    if len(total) > MAX_TERMS:
        raise TooLargeError
    return total


def merge(left: Monomial, right: Monomial) -> tuple[Monomial, Fraction]:
    """Return the product of two monomials and the rational factor that falls out of it (√2·√2 = 2, i·i = −1)."""
    if not left or not right:
        return left or right, Fraction(1)
    exponents = dict(left)
    for name, exponent in right:
        exponents[name] = exponents.get(name, ZERO) + exponent
    return settled(exponents)


def settled(exponents: dict[str, Fraction]) -> tuple[Monomial, Fraction]:
    """Return the monomial of these exponents, primes to exponents in [0, 1) and i to 0 or 1, and the factor left."""
    factor = Fraction(1)
    kept = []
    for name, exponent in sorted(exponents.items()):
        if name == "i" and exponent.denominator == 1:
            quarter = int(exponent) % 4
            factor *= -1 if quarter >= 2 else 1
            exponent = Fraction(quarter % 2)
        elif name[:2] == "p " and not 0 <= exponent < 1:
            whole = exponent.numerator // exponent.denominator
            factor *= power_of(Fraction(name[2:]), whole)
            exponent -= whole
        if exponent:
            kept.append((name, exponent))
    return tuple(kept), factor


def power_of(value: Fraction, exponent: int) -> Fraction:
    """Return value^exponent, refusing results over the bit limit before computing them."""
    bits = max(abs(value.numerator).bit_length(), value.denominator.bit_length())
    if value not in (0, 1, -1) and bits * abs(exponent) > MAX_BITS:
        raise TooLargeError
    if not value and exponent < 0:
        raise ZeroDivisionError
    return value ** (exponent if value not in (1, -1) else exponent % 2)


def checked(value: Fraction) -> Fraction:
    """Return `value` unless it is over the bit limit."""
    if value.numerator.bit_length() + value.denominator.bit_length() > 2 * MAX_BITS:
        raise TooLargeError
    return value


def key(polynomial: Polynomial) -> str:
    """Return a text that equal polynomials share and different ones do not."""
    terms = sorted((str(monomial_key(monomial)), str(value)) for monomial, value in polynomial.items())
    return "+".join(f"{value}*{monomial}" for monomial, value in terms)


def monomial_key(monomial: Monomial) -> str:
    """Return the text of a monomial."""
    return "*".join(f"[{name}]^{exponent}" for name, exponent in monomial)


def atoms(polynomials: Iterable[Polynomial]) -> set[str]:
    """Return the names of all atoms."""
    return {name for polynomial in polynomials for monomial in polynomial for name, _ in monomial}


def rational(polynomial: Polynomial) -> Fraction | None:
    """Return the value of a constant rational polynomial, else None."""
    if not polynomial:
        return ZERO
    return polynomial.get(ONE) if len(polynomial) == 1 else None
