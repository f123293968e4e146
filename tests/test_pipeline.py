"""Runs: what is written, what a continued run keeps, and that rescoring gives the same bytes."""

from __future__ import annotations

import hashlib
import json
import math
import random

import msgspec
import pytest

from alodlm.errors import InputError
from alodlm.pipeline import RunOptions, evaluate_candidate, rescore
from alodlm.records import Generation

TASKS = [
    {"benchmark": "Sums", "id": 1, "metric": "math", "prompt": "1+1", "answer": "2"},
    {"benchmark": "Words", "id": "a", "metric": "exact", "prompt": "say hi", "answer": "hi"},
    {"benchmark": "Sums", "id": 2, "metric": "math", "prompt": "2+2", "answer": 4},
    {"benchmark": "Choice", "id": 1, "metric": "arc", "prompt": "which?", "answer": "B", "note": "kept"},
]
ANSWERS = {"1+1": "The answer is 2.", "say hi": "<think>hm</think> hi", "2+2": "It is 5.", "which?": "no idea"}


class ScriptedCandidate:
    """Answers from a table; counts what was asked of it and can fail on the way."""

    def __init__(self, answers=ANSWERS, fails_at=None, q=0.5, threads=2):
        self.answers, self.fails_at, self.q, self.threads = answers, fails_at, q, threads
        self.calls = []

    def describe(self):
        protocol = {"engine": "scripted", "decode": {"q": self.q}, "precision": "fp32", "device": "cpu", "gpu": None}
        protocol["threads"] = self.threads
        return {"identity": "abc", "protocol": protocol}

    def check(self, tasks):
        self.calls.append("check")
        for task in tasks:
            if task.prompt not in self.answers:
                raise InputError("prompts", "unknown")

    def load(self):
        self.calls.append("load")

    def warm_up(self):
        self.calls.append("warm_up")

    def generate(self, tasks):
        for task in tasks:
            if task.prompt == self.fails_at:
                raise KeyboardInterrupt
            self.calls.append(task.prompt)
            text = self.answers[task.prompt]
            yield task, Generation(text, len(text), 0.5, prefill_seconds=0.2, decode_seconds=0.3, stop_reason="eos")


@pytest.fixture
def tasks(tmp_path):
    path = tmp_path / "tasks.jsonl"
    path.write_text("".join(json.dumps(task) + "\n" for task in TASKS))
    return path


def rows(folder):
    return [json.loads(line) for line in (folder / "predictions.jsonl").read_text().splitlines()]


def test_a_run_writes_predictions_in_task_order_with_scores(tasks, tmp_path):
    evaluate_candidate(ScriptedCandidate(), tasks, tmp_path / "run")
    found = rows(tmp_path / "run")
    assert [(row["benchmark"], row["id"]) for row in found] == [(task["benchmark"], task["id"]) for task in TASKS]
    assert [row["correct"] for row in found] == [True, True, False, False]
    assert [row["failure"] for row in found] == [None, None, "wrong", "no_answer"]
    assert found[1]["extracted"] == "hi" and found[1]["text"] == "<think>hm</think> hi"
    assert found[3]["extracted"] is None and found[0]["judgements"] == {}
    assert found[0]["wall_seconds"] == 0.5 and found[0]["stop_reason"] == "eos"


def test_the_summary_says_how_its_numbers_were_made(tasks, tmp_path):
    summary = evaluate_candidate(ScriptedCandidate(), tasks, tmp_path / "run")
    assert summary == json.loads((tmp_path / "run" / "summary.json").read_text())
    protocol = summary["protocol"]
    assert protocol["engine"] == "scripted" and protocol["decode"] == {"q": 0.5}
    assert protocol["input_sha256"] == hashlib.sha256(tasks.read_bytes()).hexdigest()
    assert protocol["score_unit"] == "percent" and protocol["versions"]["python"] and protocol["scorer_version"]
    assert protocol["sandbox"] is None, "no program was run"
    assert list(summary["benchmarks"]) == ["Sums", "Words", "Choice"]
    assert summary["macro_score_percent"] == pytest.approx((50 + 100 + 0) / 3)
    assert summary["average_label"] == "3-benchmark average (incomplete suite)"


def test_the_manifest_names_no_path(tasks, tmp_path):
    evaluate_candidate(ScriptedCandidate(), tasks, tmp_path / "run")
    text = (tmp_path / "run" / "manifest.json").read_text()
    manifest = json.loads(text)
    assert manifest["candidate"]["identity"] == "abc" and manifest["started_at"] and manifest["tasks"] == 4
    assert str(tmp_path) not in text


def test_an_interrupted_run_continues_where_it_stopped(tasks, tmp_path):
    whole, parts = tmp_path / "whole", tmp_path / "parts"
    evaluate_candidate(ScriptedCandidate(), tasks, whole)
    with pytest.raises(KeyboardInterrupt):
        evaluate_candidate(ScriptedCandidate(fails_at="2+2"), tasks, parts)
    assert not (parts / "predictions.jsonl").exists()
    candidate = ScriptedCandidate(threads=1)
    evaluate_candidate(candidate, tasks, parts, options=RunOptions(resume=True))
    assert candidate.calls == ["check", "load", "warm_up", "2+2", "which?"]
    assert (parts / "predictions.jsonl").read_bytes() == (whole / "predictions.jsonl").read_bytes()


def test_a_run_whose_answers_are_all_there_loads_no_model(tasks, tmp_path):
    evaluate_candidate(ScriptedCandidate(), tasks, tmp_path / "run")
    (tmp_path / "run" / "predictions.jsonl").unlink()
    candidate = ScriptedCandidate()
    evaluate_candidate(candidate, tasks, tmp_path / "run", options=RunOptions(resume=True))
    assert candidate.calls == ["check"]
    assert len(rows(tmp_path / "run")) == 4


def test_resume_refuses_another_setting_and_names_it(tasks, tmp_path):
    evaluate_candidate(ScriptedCandidate(), tasks, tmp_path / "run")
    options = RunOptions(resume=True)
    with pytest.raises(InputError, match=r"decode\.q was 0\.5, is 0\.9"):
        evaluate_candidate(ScriptedCandidate(q=0.9), tasks, tmp_path / "run", options=options)
    with pytest.raises(InputError, match="limit was None, is 1"):
        evaluate_candidate(ScriptedCandidate(), tasks, tmp_path / "run", options=RunOptions(resume=True, limit=1))
    tasks.write_text(tasks.read_text() + "\n")
    with pytest.raises(InputError, match="input_sha256 was"):
        evaluate_candidate(ScriptedCandidate(), tasks, tmp_path / "run", options=options)


def test_a_run_is_not_taken_up_as_a_rescoring(tasks, tmp_path):
    evaluate_candidate(ScriptedCandidate(), tasks, tmp_path / "run")
    with pytest.raises(InputError, match="that run generated its answers, this one scored stored predictions"):
        rescore(tmp_path / "run" / "predictions.jsonl", tasks, tmp_path / "run", options=RunOptions(resume=True))


def test_bad_prompts_are_refused_before_anything_is_written(tasks, tmp_path):
    with pytest.raises(InputError, match="prompts"):
        evaluate_candidate(ScriptedCandidate(answers={}), tasks, tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_judged_tasks_are_refused_while_there_is_no_judge(tmp_path):
    path = tmp_path / "tasks.jsonl"
    path.write_text(json.dumps({"benchmark": "B", "id": 1, "metric": "judge", "prompt": "p"}))
    with pytest.raises(InputError, match="no deterministic scorer"):
        evaluate_candidate(ScriptedCandidate(), path, tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_a_limit_is_recorded(tasks, tmp_path):
    summary = evaluate_candidate(ScriptedCandidate(), tasks, tmp_path / "run", options=RunOptions(limit=1))
    assert [row["id"] for row in rows(tmp_path / "run")] == [1, "a", 1]
    assert summary["protocol"]["limit"] == 1 and summary["benchmarks"]["Sums"]["examples"] == 1


@pytest.mark.parametrize("workers", [1, 4])
def test_rescoring_a_run_gives_the_same_bytes(tasks, tmp_path, workers):
    evaluate_candidate(ScriptedCandidate(), tasks, tmp_path / "run")
    stored = tmp_path / "run" / "predictions.jsonl"
    summary = rescore(stored, tasks, tmp_path / "again", options=RunOptions(workers=workers))
    assert (tmp_path / "again" / "predictions.jsonl").read_bytes() == stored.read_bytes()
    protocol = summary["protocol"]
    assert protocol["engine"] == "supplied-predictions"
    assert protocol["predictions_sha256"] == hashlib.sha256(stored.read_bytes()).hexdigest()
    assert protocol["decode"] is None and protocol["device"] is None and protocol["precision"] is None


def test_neither_workers_nor_the_order_of_the_predictions_show(tmp_path):
    tasks = [TASKS[0] | {"id": number, "answer": number % 7} for number in range(400)]
    (tmp_path / "tasks.jsonl").write_text("".join(json.dumps(task) + "\n" for task in tasks))
    answers = [prediction(task, text=f"so it is \\boxed{{{task['id'] % 5}}}") for task in tasks]
    written = []
    for workers in (1, 2, 8):
        random.Random(workers).shuffle(answers)
        folder = tmp_path / f"out{workers}"
        rescore(supplied(tmp_path, *answers), tmp_path / "tasks.jsonl", folder, options=RunOptions(workers=workers))
        written.append((folder / "predictions.jsonl").read_bytes())
    assert written[0] == written[1] == written[2]
    assert written[0].count(b"\n") == 400


def prediction(task, **changes):
    base = {"benchmark": task["benchmark"], "id": task["id"], "text": ANSWERS[task["prompt"]]}
    return base | {"generated_tokens": 3, "wall_seconds": 0.25} | changes


def supplied(tmp_path, *predictions):
    path = tmp_path / "predictions.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in predictions))
    return path


def test_supplied_fields_come_through_unchanged_and_scores_are_replaced(tasks, tmp_path):
    extra = {"seed": 2**70, "note": {"deep": [1.0, 1e-5, None]}, "correct": False, "judgements": {"old": 1}}
    path = supplied(tmp_path, *(prediction(task, **extra) for task in reversed(TASKS)))
    summary = rescore(path, tasks, tmp_path / "out")
    found = rows(tmp_path / "out")
    assert [row["id"] for row in found] == [1, "a", 2, 1]
    assert all(row["seed"] == 2**70 and row["note"] == extra["note"] for row in found)
    assert found[0]["correct"] is True and found[0]["judgements"] == {}
    assert summary["suite_generated_tokens"] == 12 and summary["suite_wall_seconds"] == 1.0
    assert summary["benchmarks"]["Sums"]["prefill_seconds"] is None


def test_ids_match_as_strings(tasks, tmp_path):
    path = supplied(tmp_path, *(prediction(task, id=str(task["id"])) for task in TASKS))
    rescore(path, tasks, tmp_path / "out")
    assert [row["id"] for row in rows(tmp_path / "out")] == [1, "a", 2, 1], "ids stay as the task file writes them"


def test_missing_and_extra_predictions_are_listed_and_counted(tasks, tmp_path):
    path = supplied(tmp_path, prediction(TASKS[0]), prediction(TASKS[1]), prediction(TASKS[0], id=77))
    with pytest.raises(InputError) as caught:
        rescore(path, tasks, tmp_path / "out")
    text = str(caught.value)
    assert "(2 missing, 1 extra)" in text and "missing: Sums/2" in text and "extra: Sums/77" in text
    assert not (tmp_path / "out").exists()


BAD_PREDICTIONS = [
    ({"text": None}, "text: must be a string"),
    ({"generated_tokens": -1}, "generated_tokens: must be a whole number >= 0 that a file can hold; got -1"),
    ({"generated_tokens": 10**400}, "generated_tokens: must be a whole number >= 0"),
    ({"wall_seconds": 10**400}, "wall_seconds: must be a finite number > 0"),
    ({"note": math.inf}, "line: must be JSON, which has no such number; got 'Infinity'"),
    ({"generated_tokens": 1.5}, "generated_tokens: must be a whole number"),
    ({"generated_tokens": True}, "generated_tokens: must be a whole number"),
    ({"wall_seconds": 0}, "wall_seconds: must be a finite number > 0, in seconds; got 0"),
    ({"wall_seconds": math.nan}, "line: must be JSON, which has no such number; got 'NaN'"),
    ({"wall_seconds": "1"}, "wall_seconds: must be a finite number"),
    ({"id": None}, "id: must be a string or a number"),
]


@pytest.mark.parametrize(("changes", "message"), BAD_PREDICTIONS, ids=[message for _, message in BAD_PREDICTIONS])
def test_a_bad_prediction_is_refused_with_its_line(tasks, tmp_path, changes, message):
    path = supplied(tmp_path, prediction(TASKS[0]), prediction(TASKS[1], **changes))
    with pytest.raises(InputError) as caught:
        rescore(path, tasks, tmp_path / "out")
    assert f"line 2, {message}" in str(caught.value)


def test_figures_that_are_none_become_null_and_the_summary_stays_json(tasks, tmp_path):
    odd = [{"wall_seconds": 5e-324}, {"exit_depths": [1, "a"]}, {"prefill_seconds": 10**400}, {"decode_seconds": -3}]
    path = supplied(tmp_path, *(prediction(task, **changes) for task, changes in zip(TASKS, odd, strict=True)))
    rescore(path, tasks, tmp_path / "out")
    refuse = lambda name: pytest.fail(f"{name} is no JSON")  # noqa: E731
    summary = json.loads((tmp_path / "out" / "summary.json").read_text(), parse_constant=refuse)
    assert all(part["mean_exit_depth"] is part["prefill_seconds"] is None for part in summary["benchmarks"].values())


def test_repeated_predictions_are_refused(tasks, tmp_path):
    path = supplied(tmp_path, *(prediction(task) for task in [*TASKS, TASKS[1]]))
    with pytest.raises(InputError, match="line 5: repeats the benchmark and id of line 2"):
        rescore(path, tasks, tmp_path / "out")


def test_the_journal_holds_every_generation_as_it_came(tasks, tmp_path):
    evaluate_candidate(ScriptedCandidate(), tasks, tmp_path / "run")
    journal = (tmp_path / "run" / "generations" / "rank-00000.jsonl").read_text().splitlines()
    first = json.loads(journal[0])
    generation = Generation("The answer is 2.", 16, 0.5, prefill_seconds=0.2, decode_seconds=0.3, stop_reason="eos")
    assert first == {"benchmark": "Sums", "id": 1} | msgspec.to_builtins(generation)
