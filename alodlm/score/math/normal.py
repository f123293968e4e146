"""Expression trees → quotients of exact polynomials: the cheap proof that two expressions are equal.

Two trees whose difference has an empty numerator are equal wherever both are defined and real. Where every atom is a
variable, a root of a prime, i or π, a non-empty numerator also proves that they differ (`is_complete`).
"""

from __future__ import annotations

from fractions import Fraction
from math import comb, factorial, gcd, lcm

from alodlm.score.math import polynomial as poly
from alodlm.score.math.errors import TooLargeError, UnreadableError
from alodlm.score.math.parser import Tree
from alodlm.score.math.polynomial import Polynomial

_TRIAL_LIMIT = 2000
_MAX_POWER = 64
_MAX_FACTORIAL = 2500
_HALF = Fraction(1, 2)
_TRIG = {
    "tan": ("sin", "cos"), "cot": ("cos", "sin"), "sec": (None, "cos"), "csc": (None, "sin"),
}  # fmt: skip
Quotient = tuple[Polynomial, Polynomial]
_ONE = poly.constant(1)


def difference(left: Tree, right: Tree) -> Polynomial:
    """Return the numerator of `left − right`; empty means that they are equal."""
    normaliser = Normaliser()
    first, second = normaliser.quotient(left), normaliser.quotient(right)
    return normaliser.cleared(normaliser.minus(first, second)[0])


def is_complete(numerator: Polynomial) -> bool:
    """Say whether a numerator that is not empty proves that the two sides differ."""
    return all(
        name[:2] == "v " or name in ("i", "pi") or (name[:2] == "p " and int(name[2:]) < _TRIAL_LIMIT**2)
        for name in poly.atoms([numerator])
    )


def factored(number: int) -> dict[int, int]:
    """Return the factors of a natural number with their exponents; a cofactor without small factors stays whole."""
    factors: dict[int, int] = {}
    for divisor in (2, 3, *range(5, _TRIAL_LIMIT, 2)):
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


class Normaliser:
    """Turns trees into quotients; the radicands it meets define the relations that later products use."""

    def __init__(self) -> None:
        self.radicands: dict[str, tuple[int, Polynomial]] = {}

    # -- arithmetic of quotients

    def minus(self, left: Quotient, right: Quotient) -> Quotient:
        return self.plus(left, (poly.scale(right[0], Fraction(-1)), right[1]))

    def plus(self, left: Quotient, right: Quotient) -> Quotient:
        if left[1] == right[1]:
            return self._made(poly.add(left[0], right[0]), left[1])
        top = poly.add(self._product(left[0], right[1]), self._product(right[0], left[1]))
        return self._made(top, self._product(left[1], right[1]))

    def times(self, left: Quotient, right: Quotient) -> Quotient:
        return self._made(self._product(left[0], right[0]), self._product(left[1], right[1]))

    def inverse(self, quotient: Quotient) -> Quotient:
        if not quotient[0]:
            raise ZeroDivisionError
        return self._made(quotient[1], quotient[0])

    def _made(self, top: Polynomial, bottom: Polynomial) -> Quotient:
        """Return the quotient with a one-term denominator moved into the numerator."""
        if not bottom:
            raise ZeroDivisionError
        if top == bottom:
            return _ONE, _ONE
        if len(bottom) != 1 or bottom == _ONE:
            return top, bottom
        ((monomial, value),) = bottom.items()
        flipped, factor = poly.settled({name: -exponent for name, exponent in monomial})
        return self._product(top, {flipped: factor / value}), _ONE

    def _product(self, left: Polynomial, right: Polynomial) -> Polynomial:
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
        return self._product(numerator, {lift: Fraction(1)})

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
            return 2, poly.add(_ONE, poly.scale(poly.atom(f"sin {name[4:]}", 2), Fraction(-1)))
        return self.radicands[name]

    # -- trees

    def quotient(self, tree: Tree) -> Quotient:
        """Return a tree as a quotient of polynomials."""
        kind = tree[0]
        if kind == "q":
            return poly.constant(tree[1]), _ONE
        if kind == "v":
            return poly.atom(f"v {tree[1]}"), _ONE
        if kind in ("i", "e", "pi"):
            return poly.atom(kind), _ONE
        if kind == "+":
            return self.plus(self.quotient(tree[1]), self.quotient(tree[2]))
        if kind == "*":
            return self.times(self.quotient(tree[1]), self.quotient(tree[2]))
        if kind == "/":
            return self.times(self.quotient(tree[1]), self.inverse(self.quotient(tree[2])))
        return getattr(self, f"_{_METHODS[kind]}")(*tree[1:])

    def _power(self, base: Tree, exponent: Tree) -> Quotient:
        power = self.quotient(exponent)
        if power[1] != _ONE:
            raise UnreadableError
        value = poly.rational(power[0])
        if value is None:
            return self._symbolic_power(self.quotient(base), power[0])
        if value.denominator == 1:
            return self.whole_power(self.quotient(base), int(value))
        return self.rational_power(self.quotient(base), value, real=False)

    def whole_power(self, base: Quotient, exponent: int) -> Quotient:
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
        result = _ONE if exponent else poly.constant(1)
        for _ in range(exponent):
            result = self._product(result, base)
        return result

    def _root(self, degree: Tree, argument: Tree) -> Quotient:
        count = poly.rational(self.quotient(degree)[0])
        if count is None or count.denominator != 1 or not 2 <= count <= _MAX_POWER:
            raise UnreadableError
        return self.rational_power(self.quotient(argument), 1 / count, real=count % 2 == 1)

    def rational_power(self, base: Quotient, exponent: Fraction, *, real: bool) -> Quotient:
        """Return base^exponent; `real` takes the real root of a negative number."""
        if exponent < 0:
            base, exponent = self.inverse(base), -exponent
        if not base[0]:
            return {}, _ONE
        if base[1] != _ONE:
            top, bottom = (self.rational_power((part, _ONE), exponent, real=real) for part in base)
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
        if rest == _ONE:
            return result
        if list(rest.values()) == [1]:
            (monomial,) = rest
            if all(_keeps_root(name, power) for name, power in monomial):
                raised, factor = poly.settled({name: power * exponent for name, power in monomial})
                return self._made(self._product(result[0], {raised: factor}), result[1])
        root = 1 / Fraction(exponent.denominator)
        name = f"root {exponent.denominator} {poly.key(rest)}"
        self.radicands[name] = (exponent.denominator, rest)
        return self.times(result, (poly.atom(name, exponent / root), _ONE))

    def _number_power(self, value: Fraction, exponent: Fraction, real: bool) -> Quotient:
        factor = _ONE
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
        return poly.multiply(factor, {monomial: left}), _ONE

    def _symbolic_power(self, base: Quotient, exponent: Polynomial) -> Quotient:
        """Return base^exponent for an exponent with symbols: a^(m + 2n) = a^m · (a^n)²."""
        if len(base[0]) != 1 or base[1] != _ONE:
            raise UnreadableError
        ((monomial, value),) = base[0].items()
        if (value != 1 and monomial) or len(monomial) > 1:
            raise UnreadableError
        powers = {f"{name}^{power}": Fraction(1) for name, power in monomial} or _number_parts(value)
        result: Quotient = (_ONE, _ONE)
        for term, coefficient in exponent.items():
            if term == poly.ONE:
                result = self.times(result, self._constant_power(base, coefficient))
                continue
            for name, count in powers.items():
                part = poly.atom(f"power {name} {poly.monomial_key(term)}", coefficient * count)
                result = self.times(result, (part, _ONE))
        return result

    def _constant_power(self, base: Quotient, exponent: Fraction) -> Quotient:
        if exponent.denominator == 1:
            return self.whole_power(base, int(exponent))
        return self.rational_power(base, exponent, real=False)

    # -- functions

    def _function(self, name: str, argument: Tree) -> Quotient:
        if name in ("sin", "cos"):
            return self._sine(name, self._angle(argument)), _ONE
        if name in _TRIG:
            top, bottom = _TRIG[name]
            angle = self._angle(argument)
            upper = self._sine(top, angle) if top else _ONE
            return self.times((upper, _ONE), self.inverse((self._sine(bottom, angle), _ONE)))
        inner = self.quotient(argument)
        if name == "ln":
            return self._logarithm(inner), _ONE
        value = poly.rational(inner[0]) if inner[1] == _ONE else None
        if name in ("floor", "ceiling") and value is not None:
            return poly.constant(value // 1 if name == "floor" else -(-value // 1)), _ONE
        return self._opaque(name, inner)

    def _opaque(self, name: str, inner: Quotient) -> Quotient:
        return poly.atom(f"{name} ({poly.key(inner[0])})/({poly.key(inner[1])})"), _ONE

    def _angle(self, argument: Tree) -> Polynomial:
        """Return an angle in radians; degrees count inside a trigonometric function."""
        inner = self.quotient(_degrees_to_radians(argument))
        if inner[1] != _ONE:
            raise UnreadableError
        return inner[0]

    def _sine(self, name: str, angle: Polynomial) -> Polynomial:
        turn = angle.get((("pi", Fraction(1)),), Fraction(0))
        if not angle or (len(angle) == 1 and turn):
            return self._special(turn if name == "sin" else turn + _HALF)
        leading = min(angle.items())
        sign = -1 if leading[1] < 0 else 1
        canonical = poly.scale(angle, Fraction(sign))
        return poly.scale(poly.atom(f"{name} {poly.key(canonical)}"), Fraction(sign if name == "sin" else 1))

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
        return self.times((top, _ONE), self.inverse((bottom, _ONE)))

    def _logarithm(self, inner: Quotient) -> Polynomial:
        """Return ln of a quotient: of numbers and powers of e as a sum of logarithms of primes, else an atom."""
        if inner[1] == _ONE and len(inner[0]) == 1:
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
        value = poly.rational(inner[0]) if inner[1] == _ONE else None
        if value is not None:
            if value.denominator != 1 or value < 0:
                raise UnreadableError
            if value > _MAX_FACTORIAL:
                raise TooLargeError
            return poly.constant(factorial(int(value))), _ONE
        return self._symbolic_factorial(inner)

    def _symbolic_factorial(self, inner: Quotient) -> Quotient:
        """Return (n + k)! as n!·(n+1)…(n+k)."""
        shift = inner[0].get(poly.ONE, Fraction(0))
        if inner[1] != _ONE or shift.denominator != 1 or abs(shift) > 20:
            return self._opaque("factorial", inner)
        base = {monomial: value for monomial, value in inner[0].items() if monomial != poly.ONE}
        result = self._opaque("factorial", (base, _ONE))
        for step in range(min(int(shift), 0), max(int(shift), 0)):
            factor: Quotient = (poly.add(base, poly.constant(step + 1)), _ONE)
            result = self.times(result, factor if shift > 0 else self.inverse(factor))
        return result

    def _binomial(self, upper: Tree, lower: Tree) -> Quotient:
        counts = [poly.rational(self.quotient(part)[0]) for part in (upper, lower)]
        if counts[1] is None or counts[1].denominator != 1 or not 0 <= counts[1] <= _MAX_FACTORIAL:
            raise UnreadableError
        chosen = int(counts[1])
        if counts[0] is not None and counts[0].denominator == 1 and 0 <= counts[0] <= _MAX_FACTORIAL:
            return poly.constant(comb(int(counts[0]), chosen)), _ONE
        if chosen > 20:
            raise TooLargeError
        base, result = self.quotient(upper), (poly.constant(Fraction(1, factorial(chosen))), _ONE)
        for step in range(chosen):
            result = self.times(result, self.plus(base, (poly.constant(-step), _ONE)))
        return result

    def _absolute(self, argument: Tree) -> Quotient:
        inner = self.quotient(argument)
        value = poly.rational(inner[0]) if inner[1] == _ONE else None
        if value is not None:
            return poly.constant(abs(value)), _ONE
        flipped = (poly.scale(inner[0], Fraction(-1)), inner[1])
        return min(self._opaque("absolute", inner), self._opaque("absolute", flipped), key=str)

    def _degree(self, argument: Tree) -> Quotient:
        return self.quotient(argument)


_METHODS = {
    "^": "power", "root": "root", "f": "function", "log": "log", "!": "factorial", "binom": "binomial",
    "|": "absolute", "°": "degree",
}  # fmt: skip


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


def _degrees_to_radians(tree: Tree) -> Tree:
    if tree[0] == "°":
        return ("*", ("*", tree[1], ("q", Fraction(1, 180))), ("pi",))
    return tuple(_degrees_to_radians(part) if isinstance(part, tuple) else part for part in tree)


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
