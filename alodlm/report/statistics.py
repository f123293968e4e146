"""Statistics that a summary states. Nothing here draws from an unseeded source."""

from __future__ import annotations

import math

CI_METHOD = "wilson"
_Z95 = 1.959963984540054


def wilson_percent(correct: int, examples: int) -> list[float]:
    """Return the 95 % Wilson score interval of a share of right answers, in percent.

    Source: E. B. Wilson, "Probable inference, the law of succession, and statistical inference", 1927.
    """
    share = correct / examples
    spread = _Z95 * math.sqrt(share * (1 - share) / examples + _Z95**2 / (4 * examples**2))
    middle, scale = share + _Z95**2 / (2 * examples), 1 + _Z95**2 / examples
    low = 0.0 if correct == 0 else 100 * (middle - spread) / scale
    high = 100.0 if correct == examples else 100 * (middle + spread) / scale
    return [low, high]
