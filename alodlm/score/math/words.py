"""The words that surround mathematics: units, number words, connectors, qualifiers.

A word list never makes two answers equal by itself: units are dropped on both sides, and a word that changes the
value (`at least 5`, `5 or more`) makes the text unreadable as a number.
"""

from __future__ import annotations

CONNECTORS = frozenset({"and", "or"})
NUMBER_WORDS = {
    word: value
    for value, word in enumerate(
        """zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen
        seventeen eighteen nineteen twenty""".split()
    )
}
MULTIPLIERS = {"hundred": 100, "thousand": 1000, "million": 10**6, "billion": 10**9, "trillion": 10**12}
UNITS = frozenset(
    """m g s L h N J W V C F K cm mm km dm nm ft in yd mi kg mg lb lbs oz hr hrs ml mL dl cl min mins sec secs
    mph kph kmh kwh kW Hz kHz MHz Pa kPa kJ cal kcal gal pt qt sq cu rad deg am pm USD EUR GBP cc ha mol amu eV ms rpm
    unit units""".split()
)
SCALING_WORDS = MULTIPLIERS.keys() | frozenset(
    """half halves third thirds quarter quarters fourth fourths fifth fifths sixth sixths seventh sevenths eighth
    eighths ninth ninths tenth tenths hundredth hundredths thousandths dozen dozens squared cubed""".split()
)
TENS = frozenset("twenty thirty forty fifty sixty seventy eighty ninety".split()) | MULTIPLIERS.keys()
CURRENCIES = frozenset({"usd", "eur", "gbp", "us", "rs", "inr", "cad", "aud", "rmb", "cny", "$", "€", "£", "¥", "₹"})
CHANGING_WORDS = frozenset(
    """not no non never neither nor than least most under over above below except minus plus half halves quarter
    quarters third thirds fourth fourths fifth fifths sixth sixths seventh sevenths eighth eighths ninth ninths tenth
    tenths hundredth hundredths thousandths double triple twice dozen dozens squared cubed modulo mod remainder to out
    percentile power root factorial approximately about roughly nearly almost less greater fewer if when where for
    unless""".split()
)
LEADING_WORDS = frozenset({"is", "are", "be", "equals", "equal", "was", "were", "answer", "answers", "therefore", "so"})
APPROXIMATELY = frozenset({"approximately", "about", "roughly", "approx"})
_PRODUCT_LETTERS = frozenset("bcdfghjklmnpqrstvwxyz")
_FIRST_LETTERS = frozenset("abcd")


def is_product(run: str) -> bool:
    """Say whether a run of letters is a product of symbols (`xy`, `abc`, `AB`) rather than a word or a unit."""
    if len(run) > 4 or run in UNITS:
        return False
    if run.isupper():
        return len(run) <= 2
    return run.islower() and (_FIRST_LETTERS.issuperset(run) or _PRODUCT_LETTERS.issuperset(run))
