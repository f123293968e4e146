"""The `math` scorer on text nobody wrote: no exception, no overrun, no equality with what it is not."""

from __future__ import annotations

import signal
import threading
import time

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from alodlm.records import Score, Task
from alodlm.score.math import CPU_SECONDS, score

FRAGMENTS = (
    r"\frac \frac{1}{2} \sqrt \sqrt[3]{ \boxed{ \boxed { } {} ( ) [ ] \{ \} | ^ ^{ _ _{ + - * / = < > \le \ge \ne \pm"
    r" \cdot \times ! % \% $ $$ \( \) \[ \] , ; : . .. 0 1 2 3 12 007 0.5 1e9 1e999 99999999999 x y n i e \pi \infty"
    r" \sin \cos \ln \log \log_2 \binom \text{ \text{cm} \text{and} and or \cup \in \approx \overline{3} ^\circ °"
    r" \begin{pmatrix} \end{pmatrix} & \\ #### A: Answer: <answer> </answer> <think> </think> Question: \left \right"
    r" twelve million ½ √ ² − １ \sum \int_0^1 \over \choose 2 2/3 1,000 14\,916 1.234,56 \u0000"
).split()
soups = st.lists(st.sampled_from([*FRAGMENTS, " ", "\n"]), max_size=40).map("".join)
spaced = st.lists(st.sampled_from(FRAGMENTS), max_size=40).map(" ".join)
answers = st.one_of(st.text(max_size=200), soups, spaced, soups.map(lambda soup: f"\\boxed{{{soup}}}"))
references = st.one_of(st.text(min_size=1, max_size=60), soups, spaced).filter(lambda text: text.strip() != "")
relaxed = settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))


def scored(answer: str, reference: str) -> Score:
    started = time.process_time()
    result = score(Task(benchmark="b", id=1, metric="math", prompt="q", answer=reference), answer)
    assert time.process_time() - started < 3 * CPU_SECONDS
    return result


@relaxed
@given(answer=answers, reference=references)
@example(answer=r"\boxed{9^{9^{9^{9^9}}}}", reference=r"\frac{5^{5^{5^{5^5}}-4}-5}{16}")
@example(answer="(" * 5000 + "1" + ")" * 5000, reference="1")
@example(answer=r"\boxed{" + "9" * 1_000_000 + "}", reference="9" * 1_000_000)
@example(answer="\\boxed{" * 20_000, reference="1")
@example(answer="$" * 200_000, reference="1")
@example(answer="Answer: " * 50_000, reference="1")
@example(answer="The answer is " + "1 and " * 50_000, reference="1")
@example(answer="a " * 300_000 + "5", reference="5")
@example(answer=r"\(" * 20_000, reference="1")
@example(answer="<think>" * 50_000, reference="1")
@example(answer="6" * 60 + "\\boxsig n" + "5", reference="5")
@example(answer="\\boxed{1}" + " " * 20_000 + "\\boxed{2}", reference="1,2")
@example(answer="1" + " " * 20_000 + "and 2.", reference="1,2")
@example(answer="\n" * 300_000 + "5.", reference="5")
@example(answer="1." * 100_000, reference="5")
@example(answer="#" * 300_000, reference="5")
@example(answer=" " * 300_000 + "answer to" + " " * 300_000, reference="5")
def test_any_text_is_scored_in_time_without_an_exception(answer: str, reference: str) -> None:
    result = scored(answer, reference)
    assert isinstance(result.correct, bool)
    assert result.correct == (result.failure is None)
    assert (result.failure == "no_answer") == (result.extracted is None)


@relaxed
@given(reference=references)
def test_the_same_text_twice_gets_the_same_score(reference: str) -> None:
    assert scored(f"\\boxed{{{reference}}}", reference) == scored(f"\\boxed{{{reference}}}", reference)


@settings(max_examples=300, deadline=None)
@given(left=st.fractions(max_denominator=999), right=st.fractions(max_denominator=999))
def test_fractions_are_equal_exactly_when_they_are(left, right) -> None:
    answer = rf"\boxed{{\frac{{{left.numerator}}}{{{left.denominator}}}}}"
    assert scored(answer, f"{right.numerator}/{right.denominator}").correct == (left == right)


@pytest.mark.parametrize("text", [r"\boxed{\frac{1}{2}}", r"\boxed{\arctan 1}"])
def test_the_timer_and_its_handler_are_left_as_they_were(text: str) -> None:
    before = signal.getsignal(signal.SIGVTALRM)
    scored(text, r"\frac{\pi}{4}")
    assert signal.getsignal(signal.SIGVTALRM) == before
    assert signal.getitimer(signal.ITIMER_VIRTUAL) == (0.0, 0.0)


def test_an_answer_that_takes_too_long_is_a_scorer_timeout(monkeypatch: pytest.MonkeyPatch) -> None:
    def endless(*_: object, **__: object) -> bool:
        while True:
            pass

    monkeypatch.setattr("alodlm.score.math.equivalent", endless)
    monkeypatch.setattr("alodlm.score.math.CPU_SECONDS", 0.05)
    task = Task(benchmark="b", id=1, metric="math", prompt="q", answer="x")
    assert score(task, r"\boxed{y}") == Score(False, "y", "scorer_timeout", "boxed")


def test_it_scores_in_a_thread_where_signals_cannot_be_used() -> None:
    results: list[Score] = []
    thread = threading.Thread(target=lambda: results.append(scored(r"\boxed{\sqrt{12}}", r"2\sqrt{3}")))
    thread.start()
    thread.join(60)
    assert [result.correct for result in results] == [True]
