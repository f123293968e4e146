"""Whether two expressions are equal: cheap proof, then refutation by numbers, then dear proof.

1. Both become quotients of exact polynomials; an empty difference proves equality, a complete one proves the
   opposite. 2. Values at several points in high precision refute. 3. What is left must be proved (`proof.py`);
   what cannot be proved is unequal.
"""

from __future__ import annotations

from fractions import Fraction

from alodlm.score.math import polynomial as poly
from alodlm.score.math.errors import GiveUpError
from alodlm.score.math.nodes import Value
from alodlm.score.math.normal import Normaliser, difference, is_complete
from alodlm.score.math.parser import Tree
from alodlm.score.math.trees import has_imaginary, variables

_CLOSE = 50
_REPEATING_DENOMINATORS = (3, 6, 7, 9, 11, 12)
_CONSTANTS = [Fraction(value) for value in ("3.14159265", "2.71828183", "1.41421356", "1.73205081", "2.23606798")]


def same_value(left: Tree, right: Tree) -> bool:
    """Say whether two expressions are equal wherever both are defined and real."""
    if left[0] == "q" == right[0]:
        return left[1] == right[1]
    if left == right:
        return True
    decided = _decided(left, right)
    if decided is not None:
        return decided
    from alodlm.score.math import numeric, proof

    try:
        return not numeric.refuted(left, right) and proof.proved_equal(left, right)
    except (GiveUpError, ZeroDivisionError, OverflowError):
        return False


def _decided(left: Tree, right: Tree) -> bool | None:
    """Return what the polynomials say, None where they say nothing."""
    try:
        numerator = difference(left, right)
    except ZeroDivisionError:
        return False
    except GiveUpError:
        return None
    if not numerator:
        return True
    return False if is_complete(numerator) else None


def proportional(left: tuple[Tree, Tree], right: tuple[Tree, Tree]) -> Fraction | None:
    """Return the factor c with `left[0] − left[1] = c·(right[0] − right[1])`, as equations without denominators."""
    try:
        normaliser = Normaliser()
        numerators = [
            normaliser.cleared(normaliser.minus(normaliser.quotient(first), normaliser.quotient(second))[0])
            for first, second in (left, right)
        ]
    except (GiveUpError, ZeroDivisionError):
        return None
    first, second = numerators
    if not first or not second or first.keys() != second.keys():
        return None
    leading = max(first)
    factor = first[leading] / second[leading]
    return factor if poly.scale(second, factor) == first else None


def rounds_to(answer: Value, reference: Value, rounding_asked: bool) -> bool:
    """Say whether the reference is a rounded decimal to which the more exact answer rounds.

    A decimal must be clearly finer (`_is_finer`): one more digit at the end of an exact reference is an error.
    """
    if reference.decimals is None or reference.tree[0] != "q" or not _is_rounded(reference, rounding_asked):
        return False
    if answer.decimals is not None and answer.decimals <= reference.decimals:
        return False
    value = _real_value(answer.tree)
    if value is None or value.denominator == 1:
        return False
    unit = Fraction(1, 10**reference.decimals)
    gap = abs(value) - abs(reference.tree[1])
    if answer.decimals is not None and not rounding_asked and not _is_finer(answer, reference, gap):
        return False
    return value * reference.tree[1] > 0 and -unit / 2 <= gap < unit / 2


def _is_finer(answer: Value, reference: Value, gap: Fraction) -> bool:
    """Say whether a decimal is a finer rounding of the number that the reference rounds.

    One within a fiftieth of the last place is the reference slightly off. One with a single digit more counts only
    where both round the same simple number (0.667 and 0.67, 3.142 and 3.14).
    """
    if abs(gap) * _CLOSE * 10**reference.decimals < 1:
        return False
    if answer.decimals > reference.decimals + 1:
        return True
    size, rounded = abs(answer.tree[1]), abs(reference.tree[1])
    simple = [Fraction(round(size * bottom), bottom) for bottom in _REPEATING_DENOMINATORS]
    candidates = [value for value in simple if value.denominator > 2] + _CONSTANTS
    return any(
        round(value, answer.decimals) == size and round(value, reference.decimals) == rounded for value in candidates
    )


def _is_rounded(reference: Value, rounding_asked: bool) -> bool:
    """Say whether a decimal is likely a rounding: not money, not halves, quarters or eighths, not one or two digits.

    A question that asks for rounding settles it.
    """
    if rounding_asked:
        return True
    denominator = reference.tree[1].denominator
    is_binary = denominator & (denominator - 1) == 0
    return not reference.exact and not is_binary and (reference.decimals >= 2 or reference.digits >= 3)


def _real_value(tree: Tree) -> Fraction | None:
    """Return the value of a constant, exact or to many digits; None when it has none that is real."""
    if tree[0] == "q":
        return tree[1]
    from alodlm.score.math import numeric

    if variables(tree) or has_imaginary(tree):
        return None
    try:
        value = numeric.value_of(tree, {})
    except (GiveUpError, ZeroDivisionError, OverflowError):
        return None
    if not isinstance(value, numeric.context(numeric.DIGITS).mpf) or abs(value) > 10**30:
        return None
    return Fraction(str(value))
