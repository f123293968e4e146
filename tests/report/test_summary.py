"""Summaries: hand-computed sums, honest labels, and nulls instead of guesses."""

from __future__ import annotations

import pytest

from alodlm.report.statistics import wilson_percent
from alodlm.report.summary import OFFICIAL_EXAMPLES, BenchmarkTally, average_label, summarise


def row(**changes):
    base = {"benchmark": "B", "correct": True, "failure": None, "generated_tokens": 10, "wall_seconds": 2.0}
    return base | changes


def tally(*rows):
    result = BenchmarkTally()
    for one in rows:
        result.add(one)
    return result


@pytest.mark.parametrize(
    ("correct", "examples", "low", "high"),
    # By hand from the closed form at z = 1.959964.
    [(0, 10, 0.0, 27.7533), (5, 10, 23.6593, 76.3407), (10, 10, 72.2467, 100.0), (81, 100, 72.2211, 87.4852)],
)
def test_wilson_intervals_match_hand_computed_values(correct, examples, low, high):
    assert wilson_percent(correct, examples) == pytest.approx([low, high], abs=1e-3)


def timed(prefill, decode, steps, passes, depths, **changes):
    names = ("prefill_seconds", "decode_seconds", "outer_steps", "recurrent_passes", "exit_depths")
    return row(**dict(zip(names, (prefill, decode, steps, passes, depths), strict=True)), **changes)


def test_a_benchmark_sums_its_rows():
    wrong = {"correct": False, "failure": "wrong"}
    silent = {"correct": False, "failure": "no_answer", "generated_tokens": 0, "wall_seconds": 1.0}
    result = tally(
        timed(0.5, 1.5, 4, 6, [1, 3], stop_reason="eos"),
        timed(0.25, 1.75, 1, 2, [2], stop_reason="length"),
        timed(1, 0, 5, 2, [], **silent),
        timed(1, 1, 0, 0, [], **wrong),
    ).as_dict("B", limited=False)
    assert result["examples"] == 4 and result["correct"] == 2 and result["score_percent"] == 50.0
    assert result["unparsed"] == 1 and result["failures"] == {"no_answer": 1, "wrong": 1} and result["truncated"] == 1
    assert result["wall_seconds"] == 7.0 and result["prefill_seconds"] == 2.75 and result["decode_seconds"] == 4.25
    assert result["generated_tokens"] == 30 and result["tokens_per_second"] == pytest.approx(30 / 7)
    assert result["tokens_per_window"] == 3.0 and result["passes_per_token"] == pytest.approx(1 / 3)
    assert result["mean_exit_depth"] == pytest.approx(6 / 30)
    assert "complete" not in result


def test_one_row_without_a_field_makes_its_sum_null():
    result = tally(row(prefill_seconds=0.5), row(), row(prefill_seconds=float("nan"))).as_dict("B", limited=False)
    assert result["prefill_seconds"] is None and result["wall_seconds"] == 6.0


def test_a_benchmark_is_complete_only_at_its_official_size_and_without_a_limit():
    rows = [row()] * 198
    assert tally(*rows).as_dict("GPQA-Diamond", limited=False)["complete"] is True
    assert tally(*rows).as_dict("GPQA-Diamond", limited=True)["complete"] is False
    assert tally(*rows[1:]).as_dict("GPQA-Diamond", limited=False)["complete"] is False


def test_only_the_whole_complete_suite_is_called_an_average_of_eleven():
    whole = {name: {"complete": True} for name in OFFICIAL_EXAMPLES}
    assert average_label(whole) == "11-benchmark average"
    assert average_label(whole | {"MBPP": {"complete": False}}) == "11-benchmark average (incomplete suite)"
    assert average_label(whole | {"Mine": {}}) == "12-benchmark average (incomplete suite)"
    assert average_label({"GSM8K": {"complete": True}}) == "1-benchmark average (incomplete suite)"


def test_the_macro_average_is_unweighted_and_the_rate_is_all_tokens_over_all_time():
    big = tally(*[row()] * 9, row(correct=False, failure="wrong"))
    small = tally(row(correct=False, failure="wrong", generated_tokens=50, wall_seconds=5.0))
    summary = summarise({"Big": big, "Small": small}, False, {"engine": "x"})
    assert summary["benchmark_count"] == 2 and summary["macro_score_percent"] == 45.0
    assert summary["suite_generated_tokens"] == 150 and summary["suite_wall_seconds"] == 25.0
    assert summary["suite_tokens_per_second"] == 6.0
