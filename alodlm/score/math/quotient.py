"""Quotients of exact polynomials and their powers, with the relations between their atoms.

The relations are cos² = 1 − sin² and (ⁿ√P)ⁿ = P; powers are taken apart only where that keeps the value wherever
both sides are real, so √(x²) stays what it is.
"""

from __future__ import annotations

from fractions import Fraction
from math import gcd, lcm

from alodlm.score.math import polynomial as poly
from alodlm.score.math.errors import TooLargeError, UnreadableError
from alodlm.score.math.polynomial import Polynomial

TRIAL_LIMIT = 2000
_MAX_POWER = 64
_HALF = Fraction(1, 2)
Quotient = tuple[Polynomial, Polynomial]
ONE = poly.constant(1)


def factored(number: int) -> dict[int, int]:
    """Return the factors of a natural number with their exponents; a cofactor without small factors stays whole."""
    factors: dict[int, int] = {}
    for divisor in (2, 3, *range(5, TRIAL_LIMIT, 2)):
        if divisor * divisor > number:
            break
        while number % divisor == 0:
            number //= divisor
            factors[divisor] = factors.get(divisor, 0) + 1
    if number > 1:
        root = exact_root(number, 2)
        factors[root or number] = 2 if root else factors.get(number, 0) + 1
    return factors


def exact_root(number: int, degree: int) -> int | None:
    """Return the natural number whose power `degree` is `number`, if there is one."""
    low, high = 1, 1 << (number.bit_length() // degree + 1)
    while low < high:
        middle = (low + high) // 2
        if middle**degree < number:
            low = middle + 1
        else:
            high = middle
    return low if low**degree == number else None


class Quotients:
    """Computes with quotients; the radicands it meets define the relations that later products use."""

    def __init__(self) -> None:
        self.radicands: dict[str, tuple[int, Polynomial]] = {}

    # -- arithmetic of quotients

    def minus(self, left: Quotient, right: Quotient) -> Quotient:
        return self.plus(left, (poly.scale(right[0], Fraction(-1)), right[1]))

    def plus(self, left: Quotient, right: Quotient) -> Quotient:
        if left[1] == right[1]:
            return self.made(poly.add(left[0], right[0]), left[1])
        top = poly.add(self.product(left[0], right[1]), self.product(right[0], left[1]))
        return self.made(top, self.product(left[1], right[1]))

    def times(self, left: Quotient, right: Quotient) -> Quotient:
        return self.made(self.product(left[0], right[0]), self.product(left[1], right[1]))

    def inverse(self, quotient: Quotient) -> Quotient:
        if not quotient[0]:
            raise ZeroDivisionError
        return self.made(quotient[1], quotient[0])

    def made(self, top: Polynomial, bottom: Polynomial) -> Quotient:
        """Return the quotient with a one-term denominator moved into the numerator."""
        if not bottom:
            raise ZeroDivisionError
        if top == bottom:
            return ONE, ONE
        if len(bottom) != 1 or bottom == ONE:
            return top, bottom
        ((monomial, value),) = bottom.items()
        flipped, factor = poly.settled({name: -exponent for name, exponent in monomial})
        return self.product(top, {flipped: factor / value}), ONE

    def product(self, left: Polynomial, right: Polynomial) -> Polynomial:
        return self._reduced(poly.multiply(left, right))

    def cleared(self, numerator: Polynomial) -> Polynomial:
        """Return a numerator times the atoms in its denominators, so that relations can apply."""
        lowest: dict[str, Fraction] = {}
        for monomial in numerator:
            for name, exponent in monomial:
                if exponent < 0:
                    lowest[name] = min(lowest.get(name, exponent), exponent)
        if not lowest:
            return numerator
        lift = tuple(sorted((name, -exponent) for name, exponent in lowest.items()))
        return self.product(numerator, {lift: Fraction(1)})

    def _reduced(self, polynomial: Polynomial) -> Polynomial:
        """Apply the relations cos² = 1 − sin² and (ⁿ√P)ⁿ = P until none applies."""
        for _ in range(40):
            found = next(
                ((m, name, power) for m in polynomial for name, power in m if self._is_reducible(name, power)), None
            )
            if found is None:
                return polynomial
            monomial, name, power = found
            value = polynomial[monomial]
            rest = {m: v for m, v in polynomial.items() if m != monomial}
            degree, replacement = self._relation(name)
            lower = dict(monomial) | {name: power - degree}
            reduced, factor = poly.settled(lower)
            polynomial = poly.add(rest, poly.multiply({reduced: value * factor}, replacement))
        raise TooLargeError

    def _is_reducible(self, name: str, power: Fraction) -> bool:
        if name.startswith("cos "):
            return power >= 2
        return name in self.radicands and power >= self.radicands[name][0]

    def _relation(self, name: str) -> tuple[int, Polynomial]:
        if name.startswith("cos "):
            return 2, poly.add(ONE, poly.scale(poly.atom(f"sin {name[4:]}", 2), Fraction(-1)))
        return self.radicands[name]

    # -- powers

    def whole_power(self, base: Quotient, exponent: int) -> Quotient:
        if not base[0] and exponent <= 0:
            raise ZeroDivisionError
        if exponent < 0:
            base, exponent = self.inverse(base), -exponent
        return self._whole(base[0], exponent), self._whole(base[1], exponent)

    def _whole(self, base: Polynomial, exponent: int) -> Polynomial:
        if len(base) == 1:
            ((monomial, value),) = base.items()
            raised, factor = poly.settled({name: power * exponent for name, power in monomial})
            return self._reduced({raised: poly.power_of(value, exponent) * factor})
        if exponent > _MAX_POWER:
            raise TooLargeError
        result = ONE if exponent else poly.constant(1)
        for _ in range(exponent):
            result = self.product(result, base)
        return result

    def rational_power(self, base: Quotient, exponent: Fraction, *, real: bool) -> Quotient:
        """Return base^exponent; `real` takes the real root of a negative number."""
        if exponent < 0:
            base, exponent = self.inverse(base), -exponent
        if not base[0]:
            return {}, ONE
        if base[1] != ONE:
            top, bottom = (self.rational_power((part, ONE), exponent, real=real) for part in base)
            return self.times(top, self.inverse(bottom))
        whole = exponent.numerator // exponent.denominator
        part = self._fractional(base[0], exponent - whole, real)
        return self.times(part, self.whole_power(base, whole)) if whole else part

    def _fractional(self, base: Polynomial, exponent: Fraction, real: bool) -> Quotient:
        content = poly_content(base)
        if content < 0 and not real and set(base) != {poly.ONE}:
            content = -content
        rest = poly.scale(base, 1 / content)
        result = self._number_power(content, exponent, real)
        if rest == ONE:
            return result
        if list(rest.values()) == [1]:
            (monomial,) = rest
            if all(_keeps_root(name, power) for name, power in monomial):
                raised, factor = poly.settled({name: power * exponent for name, power in monomial})
                return self.made(self.product(result[0], {raised: factor}), result[1])
        root = 1 / Fraction(exponent.denominator)
        name = f"root {exponent.denominator} {poly.key(rest)}"
        self.radicands[name] = (exponent.denominator, rest)
        return self.times(result, (poly.atom(name, exponent / root), ONE))

    def _number_power(self, value: Fraction, exponent: Fraction, real: bool) -> Quotient:
        factor = ONE
        if value < 0:
            if real:
                factor = poly.constant(-1)
            elif exponent == _HALF:
                factor = poly.atom("i")
            else:
                raise UnreadableError
        powers: dict[str, Fraction] = {}
        for number, sign in ((abs(value.numerator), 1), (value.denominator, -1)):
            if number.bit_length() > 512:
                raise TooLargeError
            for prime, count in factored(number).items():
                powers[f"p {prime}"] = powers.get(f"p {prime}", Fraction(0)) + sign * count * exponent
        monomial, left = poly.settled(powers)
        return poly.multiply(factor, {monomial: left}), ONE

    def symbolic_power(self, base: Quotient, exponent: Polynomial) -> Quotient:
        """Return base^exponent for an exponent with symbols: a^(m + 2n) = a^m · (a^n)²."""
        if len(base[0]) != 1 or base[1] != ONE:
            raise UnreadableError
        ((monomial, value),) = base[0].items()
        if (value != 1 and monomial) or len(monomial) > 1:
            raise UnreadableError
        powers = {f"{name}^{power}": Fraction(1) for name, power in monomial} or _number_parts(value)
        result: Quotient = (ONE, ONE)
        for term, coefficient in exponent.items():
            if term == poly.ONE:
                result = self.times(result, self._constant_power(base, coefficient))
                continue
            for name, count in powers.items():
                part = poly.atom(f"power {name} {poly.monomial_key(term)}", coefficient * count)
                result = self.times(result, (part, ONE))
        return result

    def _constant_power(self, base: Quotient, exponent: Fraction) -> Quotient:
        if exponent.denominator == 1:
            return self.whole_power(base, int(exponent))
        return self.rational_power(base, exponent, real=False)


def poly_content(polynomial: Polynomial) -> Fraction:
    """Return the rational content, with the sign of the leading coefficient."""
    values = list(polynomial.values())
    content = Fraction(gcd(*(value.numerator for value in values)), lcm(*(value.denominator for value in values)))
    return content if polynomial[max(polynomial)] > 0 else -content


def _number_parts(value: Fraction) -> dict[str, Fraction]:
    """Return a number as prime powers and a sign: 12 is 2² · 3."""
    if value.numerator.bit_length() + value.denominator.bit_length() > 512:
        raise TooLargeError
    parts = {f"prime {prime}": Fraction(count) for prime, count in factored(abs(value.numerator)).items()}
    for prime, count in factored(value.denominator).items():
        parts[f"prime {prime}"] = Fraction(-count)
    return parts | ({"minus": Fraction(1)} if value < 0 else {})


def _keeps_root(name: str, power: Fraction) -> bool:
    """Say whether (atom^power)^r is atom^(power·r) wherever both are real: not so for √(x²)."""
    return name in ("pi", "e") or name[:2] == "p " or (name[:2] == "v " and power.numerator % 2 == 1)
