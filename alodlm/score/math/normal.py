"""Expression trees → quotients of exact polynomials: the cheap proof that two expressions are equal.

Two trees whose difference has an empty numerator are equal wherever both are defined and real. Where every atom is a
variable, a root of a prime, i or π, a non-empty numerator also proves that they differ (`is_complete`).
"""

from __future__ import annotations

from fractions import Fraction
from math import comb, factorial

from alodlm.score.math import polynomial as poly
from alodlm.score.math.errors import TooLargeError, UnreadableError
from alodlm.score.math.parser import Tree
from alodlm.score.math.polynomial import Polynomial
from alodlm.score.math.quotient import ONE, TRIAL_LIMIT, Quotient, Quotients, factored
from alodlm.score.math.trees import has_imaginary, in_radians, variables

_MAX_DEGREE = 64
_MAX_FACTORIAL = 2500
_MAX_MULTIPLE = 10
PI = (("pi", Fraction(1)),)
_HALF = Fraction(1, 2)
_TRIG = {
    "tan": ("sin", "cos"), "cot": ("cos", "sin"), "sec": (None, "cos"), "csc": (None, "sin"),
}  # fmt: skip


def difference(left: Tree, right: Tree) -> Polynomial:
    """Return the numerator of `left − right`; empty means that they are equal."""
    normaliser = Normaliser()
    first, second = normaliser.quotient(left), normaliser.quotient(right)
    return normaliser.cleared(normaliser.minus(first, second)[0])


def is_complete(numerator: Polynomial) -> bool:
    """Say whether a numerator that is not empty proves that the two sides differ."""
    return all(
        name[:2] == "v " or name in ("i", "pi") or (name[:2] == "p " and int(name[2:]) < TRIAL_LIMIT**2)
        for name in poly.atoms([numerator])
    )


class Normaliser(Quotients):
    """Turns trees into quotients."""

    def quotient(self, tree: Tree) -> Quotient:
        """Return a tree as a quotient of polynomials."""
        kind = tree[0]
        if kind == "q":
            return poly.constant(tree[1]), ONE
        if kind == "v":
            return poly.atom(f"v {tree[1]}"), ONE
        if kind in ("i", "e", "pi"):
            return poly.atom(kind), ONE
        if kind == "+":
            return self.plus(self.quotient(tree[1]), self.quotient(tree[2]))
        if kind == "*":
            return self.times(self.quotient(tree[1]), self.quotient(tree[2]))
        if kind == "/":
            return self.times(self.quotient(tree[1]), self.inverse(self.quotient(tree[2])))
        return getattr(self, f"_{_METHODS[kind]}")(*tree[1:])

    def _power(self, base: Tree, exponent: Tree) -> Quotient:
        power = self.quotient(exponent)
        if power[1] != ONE:
            raise UnreadableError
        value = poly.rational(power[0])
        if value is None:
            return self.symbolic_power(self.quotient(base), power[0])
        if value.denominator == 1:
            return self.whole_power(self.quotient(base), int(value))
        return self.rational_power(self.quotient(base), value, real=False)

    def _root(self, degree: Tree, argument: Tree) -> Quotient:
        count = poly.rational(self.quotient(degree)[0])
        if count is None or count.denominator != 1 or not 2 <= count <= _MAX_DEGREE:
            raise UnreadableError
        return self.rational_power(self.quotient(argument), 1 / count, real=count % 2 == 1)

    # -- functions

    def _function(self, name: str, argument: Tree) -> Quotient:
        if name in ("sin", "cos"):
            return self._sine(name, self._angle(argument)), ONE
        if name in _TRIG:
            top, bottom = _TRIG[name]
            angle = self._angle(argument)
            upper = self._sine(top, angle) if top else ONE
            return self.times((upper, ONE), self.inverse((self._sine(bottom, angle), ONE)))
        inner = self.quotient(argument)
        if name == "ln":
            return self._logarithm(inner), ONE
        value = poly.rational(inner[0]) if inner[1] == ONE else None
        if name in ("floor", "ceiling") and value is not None:
            return poly.constant(value // 1 if name == "floor" else -(-value // 1)), ONE
        return self._opaque(name, inner)

    def _opaque(self, name: str, inner: Quotient) -> Quotient:
        return poly.atom(f"{name} ({poly.key(inner[0])})/({poly.key(inner[1])})"), ONE

    def _angle(self, argument: Tree) -> Polynomial:
        """Return an angle in radians; degrees count inside a trigonometric function."""
        inner = self.quotient(in_radians(argument))
        if inner[1] != ONE:
            raise UnreadableError
        return inner[0]

    def _sine(self, name: str, angle: Polynomial) -> Polynomial:
        """Return the sine or cosine of a sum by the addition theorems, down to one multiple of each term."""
        if sum(abs(value.numerator) for term, value in angle.items() if term != PI) > _MAX_MULTIPLE:
            raise TooLargeError
        sine, cosine = poly.constant(0), ONE
        for term, value in sorted(angle.items()):
            if term == PI:
                steps, part = 1, (self._special(value), self._special(value + _HALF))
            else:
                steps, unit = abs(value.numerator), poly.key({term: Fraction(1, value.denominator)})
                part = poly.scale(poly.atom(f"sin {unit}"), Fraction(1 if value > 0 else -1)), poly.atom(f"cos {unit}")
            for _ in range(steps):
                sine, cosine = self._turned((sine, cosine), part)
        return sine if name == "sin" else cosine

    def _turned(self, first: Quotient, second: Quotient) -> Quotient:
        """Return sine and cosine of the sum of two angles given by theirs."""
        sine = poly.add(self.product(first[0], second[1]), self.product(first[1], second[0]))
        crossed = poly.scale(self.product(first[0], second[0]), Fraction(-1))
        return sine, poly.add(self.product(first[1], second[1]), crossed)

    def _special(self, turn: Fraction) -> Polynomial:
        """Return sin(turn·π): exact for multiples of π/12, else an atom of the angle in (0, π/2)."""
        turn %= 2
        sign = 1
        if turn >= 1:
            turn, sign = turn - 1, -1
        turn = min(turn, 1 - turn)
        if turn * 12 in _SINES:
            return poly.scale(_SINES[turn * 12], Fraction(sign))
        return poly.scale(poly.atom(f"sine {turn}"), Fraction(sign))

    def _log(self, base: Tree, argument: Tree) -> Quotient:
        top, bottom = self._logarithm(self.quotient(argument)), self._logarithm(self.quotient(base))
        return self.times((top, ONE), self.inverse((bottom, ONE)))

    def _logarithm(self, inner: Quotient) -> Polynomial:
        """Return ln of a quotient: of numbers and powers of e as a sum of logarithms of primes, else an atom."""
        if inner[1] == ONE and len(inner[0]) == 1:
            ((monomial, value),) = inner[0].items()
            if value > 0 and all(name[:2] == "p " or name == "e" for name, _ in monomial):
                return self._logarithm_of_number(monomial, value)
        return self._opaque("ln", inner)[0]

    def _logarithm_of_number(self, monomial: poly.Monomial, value: Fraction) -> Polynomial:
        if value.numerator.bit_length() + value.denominator.bit_length() > 1024:
            raise TooLargeError
        total = poly.constant(0)
        for number, sign in ((value.numerator, 1), (value.denominator, -1)):
            for prime, count in factored(number).items():
                total = poly.add(total, poly.scale(poly.atom(f"ln {prime}"), Fraction(sign * count)))
        for name, power in monomial:
            part = poly.constant(power) if name == "e" else poly.scale(poly.atom(f"ln {name[2:]}"), power)
            total = poly.add(total, part)
        return total

    def _factorial(self, argument: Tree) -> Quotient:
        inner = self.quotient(argument)
        value = poly.rational(inner[0]) if inner[1] == ONE else None
        if value is not None:
            if value.denominator != 1 or value < 0:
                raise UnreadableError
            if value > _MAX_FACTORIAL:
                raise TooLargeError
            return poly.constant(factorial(int(value))), ONE
        return self._symbolic_factorial(inner)

    def _symbolic_factorial(self, inner: Quotient) -> Quotient:
        """Return (n + k)! as n!·(n+1)…(n+k)."""
        shift = inner[0].get(poly.ONE, Fraction(0))
        if inner[1] != ONE or shift.denominator != 1 or abs(shift) > 20:
            return self._opaque("factorial", inner)
        base = {monomial: value for monomial, value in inner[0].items() if monomial != poly.ONE}
        result = self._opaque("factorial", (base, ONE))
        for step in range(min(int(shift), 0), max(int(shift), 0)):
            factor: Quotient = (poly.add(base, poly.constant(step + 1)), ONE)
            result = self.times(result, factor if shift > 0 else self.inverse(factor))
        return result

    def _binomial(self, upper: Tree, lower: Tree) -> Quotient:
        counts = [poly.rational(self.quotient(part)[0]) for part in (upper, lower)]
        if counts[1] is None or counts[1].denominator != 1 or not 0 <= counts[1] <= _MAX_FACTORIAL:
            raise UnreadableError
        chosen = int(counts[1])
        if counts[0] is not None and counts[0].denominator == 1 and 0 <= counts[0] <= _MAX_FACTORIAL:
            return poly.constant(comb(int(counts[0]), chosen)), ONE
        if chosen > 20:
            raise TooLargeError
        base, result = self.quotient(upper), (poly.constant(Fraction(1, factorial(chosen))), ONE)
        for step in range(chosen):
            result = self.times(result, self.plus(base, (poly.constant(-step), ONE)))
        return result

    def _absolute(self, argument: Tree) -> Quotient:
        inner = self.quotient(argument)
        value = poly.rational(inner[0]) if inner[1] == ONE else None
        if value is not None:
            return poly.constant(abs(value)), ONE
        sign = _sign(argument)
        if sign:
            return poly.scale(inner[0], Fraction(sign)), inner[1]
        flipped = (poly.scale(inner[0], Fraction(-1)), inner[1])
        return min(self._opaque("absolute", inner), self._opaque("absolute", flipped), key=str)

    def _degree(self, argument: Tree) -> Quotient:
        return self.quotient(argument)


_METHODS = {
    "^": "power", "root": "root", "f": "function", "log": "log", "!": "factorial", "binom": "binomial",
    "|": "absolute", "°": "degree",
}  # fmt: skip


def _sign(tree: Tree) -> int:
    """Return the sign of a real constant that is clearly not zero, else 0."""
    from alodlm.score.math import numeric

    if variables(tree) or has_imaginary(tree):
        return 0
    rough, careful = numeric.value_of(tree, {}), numeric.value_of(tree, {}, numeric.CAREFUL_DIGITS)
    if not isinstance(careful, numeric.context(numeric.CAREFUL_DIGITS).mpf) or abs(careful) < 1e-20:
        return 0
    if abs(rough - careful) > abs(careful) * 1e-10:
        return 0
    return 1 if careful > 0 else -1


def _surd(*terms: tuple[Fraction, int]) -> Polynomial:
    total = poly.constant(0)
    for value, radicand in terms:
        monomial = tuple((f"p {prime}", _HALF) for prime in sorted(factored(radicand)))
        total = poly.add(total, {monomial: value})
    return total


_QUARTER = Fraction(1, 4)
_SINES = {
    0: poly.constant(0), 1: _surd((_QUARTER, 6), (-_QUARTER, 2)), 2: poly.constant(_HALF), 3: _surd((_HALF, 2)),
    4: _surd((_HALF, 3)), 5: _surd((_QUARTER, 6), (_QUARTER, 2)), 6: poly.constant(1),
}  # fmt: skip
