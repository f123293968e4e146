"""From scored rows to `summary.json`: counts and sums per benchmark, taken row by row in task order.

A missing timing field is never filled in: where one row lacks it, the benchmark's sum is null.
"""

from __future__ import annotations

import math
from collections import Counter
from typing import Any

from alodlm.report.statistics import CI_METHOD, wilson_percent

OFFICIAL_EXAMPLES = {
    "ARC-C": 1172, "ARC-E": 2376, "MMLU": 14042, "MMLU-Pro": 12032, "GPQA-Diamond": 198, "GSM8K": 1319,
    "MATH-500": 500, "MBPP": 500, "MBPP+": 378, "HumanEval": 164, "HumanEval+": 164,
}  # fmt: skip
_MOST = 1e12  # of anything that one row may count: beyond it a supplied figure is no figure
_SUMMED = ("wall_seconds", "prefill_seconds", "decode_seconds", "outer_steps", "recurrent_passes")


class BenchmarkTally:
    """Running counts and sums of one benchmark."""

    def __init__(self) -> None:
        self.examples = self.correct = self.truncated = self.generated_tokens = 0
        self.failures: Counter[str] = Counter()
        self._sums: dict[str, float | int | None] = dict.fromkeys(_SUMMED, 0)
        self._depth_sum: float | None = 0

    def add(self, row: dict[str, Any]) -> None:
        """Count one prediction row."""
        self.examples += 1
        self.correct += bool(row["correct"])
        if row["failure"] is not None:
            self.failures[row["failure"]] += 1
        self.truncated += row.get("stop_reason") == "length"
        self.generated_tokens += row["generated_tokens"]
        for name in _SUMMED:
            self._sums[name] = _plus(self._sums[name], row.get(name))
        depths = row.get("exit_depths")
        counted = isinstance(depths, list) and all(_is_amount(depth) for depth in depths)
        self._depth_sum = _plus(self._depth_sum, sum(depths) if counted else None)

    @property
    def wall_seconds(self) -> float:
        """Seconds of all generations; every row has it."""
        return self._sums["wall_seconds"] or 0.0

    @property
    def score_percent(self) -> float:
        """The share of right answers among all examples, in percent."""
        return 100 * self.correct / self.examples

    def as_dict(self, name: str, limited: bool) -> dict[str, Any]:
        """Return this benchmark's part of the summary; a `limited` run is never complete."""
        tokens, steps, passes = self.generated_tokens, self._sums["outer_steps"], self._sums["recurrent_passes"]
        result = {
            "examples": self.examples,
            "correct": self.correct,
            "score_percent": self.score_percent,
            "ci95_percent": wilson_percent(self.correct, self.examples),
            "ci_method": CI_METHOD,
            "unparsed": self.failures["no_answer"],
            "failures": dict(sorted(self.failures.items())),
            "truncated": self.truncated,
            "wall_seconds": self.wall_seconds,
            "prefill_seconds": self._sums["prefill_seconds"],
            "decode_seconds": self._sums["decode_seconds"],
            "generated_tokens": tokens,
            "tokens_per_second": _rate(tokens, self.wall_seconds),
            "tokens_per_window": tokens / steps if steps else None,
            "passes_per_token": passes / tokens if passes and tokens else None,
            "mean_exit_depth": self._depth_sum / tokens if self._depth_sum and tokens else None,
        }
        if name in OFFICIAL_EXAMPLES:
            result["official_examples"] = OFFICIAL_EXAMPLES[name]
            result["complete"] = not limited and self.examples == OFFICIAL_EXAMPLES[name]
        return result


def _plus(total: float | int | None, value: Any) -> float | int | None:
    return total + value if total is not None and _is_amount(value) else None


def _is_amount(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and 0 <= value <= _MOST


def _rate(tokens: int, seconds: float) -> float | None:
    """Return tokens a second; None where the times are too small for a number."""
    rate = tokens / seconds
    return rate if math.isfinite(rate) else None


def average_label(benchmarks: dict[str, dict[str, Any]]) -> str:
    """Name the macro average honestly: only the whole official suite is an 11-benchmark average."""
    whole = set(benchmarks) == set(OFFICIAL_EXAMPLES) and all(part["complete"] for part in benchmarks.values())
    return f"{len(benchmarks)}-benchmark average" + ("" if whole else " (incomplete suite)")


def summarise(tallies: dict[str, BenchmarkTally], limited: bool, protocol: dict[str, Any]) -> dict[str, Any]:
    """Return the summary of a run; scores are percent, times seconds."""
    benchmarks = {name: tally.as_dict(name, limited) for name, tally in tallies.items()}
    wall = sum(tally.wall_seconds for tally in tallies.values())
    tokens = sum(tally.generated_tokens for tally in tallies.values())
    return {
        "benchmarks": benchmarks,
        "benchmark_count": len(benchmarks),
        "average_label": average_label(benchmarks),
        "macro_score_percent": sum(part["score_percent"] for part in benchmarks.values()) / len(benchmarks),
        "suite_wall_seconds": wall,
        "suite_generated_tokens": tokens,
        "suite_tokens_per_second": _rate(tokens, wall),
        "protocol": protocol,
    }
