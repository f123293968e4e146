"""The demo's tasks: valid, disjoint from what was trained on, the same from every generator run, scored as meant."""

from __future__ import annotations

import random
from collections import Counter
from itertools import islice
from pathlib import Path

import pytest

from alodlm.records import Task
from alodlm.rows import task_from_row
from alodlm.score import score_answer
from alodlm.tasks import TaskFile

KINDS = ("math", "arc", "mmlu_pro", "exact", "python_tests", "evalplus")
LARGEST_DEMO_BYTES = 4_000_000
CHECKPOINT_FILES = {
    "alodlm_config.json", "chat_template.jinja", "config.json", "exit_gate.safetensors", "generation_config.json",
    "model.safetensors", "tokenizer.json", "tokenizer_config.json",
}  # fmt: skip


@pytest.fixture
def kinds(root, monkeypatch):
    monkeypatch.syspath_prepend(str(root / "scripts"))
    from demo_training import kinds

    return kinds


@pytest.fixture
def demo(root) -> Path:
    return root / "alodlm" / "resources" / "demo"


def tasks_of(kinds, items) -> list[Task]:
    return [task_from_row(record) for record in kinds.numbered(items)]


def test_the_shipped_tasks_are_what_the_generator_writes(kinds, demo):
    assert (demo / "tasks.jsonl").read_text(encoding="utf-8") == kinds.task_lines(kinds.held_out())


def test_the_shipped_tasks_are_a_valid_task_file_with_ten_tasks_of_each_kind(demo):
    tasks = TaskFile(demo / "tasks.jsonl")
    assert sorted(tasks.metrics) == sorted(KINDS)
    assert set(tasks.counts.values()) == {10}
    assert len(tasks) == 60


def test_held_out_items_have_different_contents(kinds):
    assert len({(item.kind, item.content) for item in kinds.held_out()}) == 60


def test_nothing_held_out_or_for_validation_is_ever_trained_on(kinds):
    kept = {(item.kind, item.content) for item in kinds.held_out() + kinds.items("validation", 1, 20)}
    trained = list(islice(kinds.training_stream(5, dict.fromkeys(KINDS, 1.0)), 4000))
    assert {item.kind for item in trained} == set(KINDS)
    assert kept.isdisjoint((item.kind, item.content) for item in trained)
    assert {item.split for item in trained} == {"training"}


def test_held_out_and_validation_items_are_disjoint(kinds):
    held_out = {(item.kind, item.content) for item in kinds.items("held-out", 3, 10)}
    validation = {(item.kind, item.content) for item in kinds.items("validation", 3, 10)}
    assert held_out.isdisjoint(validation)


def test_the_operands_order_does_not_move_a_sum_to_another_split(kinds):
    from demo_training import sums

    assert sums._item("two_digits", 37, 48).content == sums._item("two_digits", 48, 37).content


def test_the_same_seed_gives_the_same_training_items_and_another_seed_others(kinds):
    weights = dict.fromkeys(KINDS, 1.0)
    first, again, other = (list(islice(kinds.training_stream(seed, weights), 50)) for seed in (1, 1, 2))
    assert first == again != other


@pytest.mark.parametrize("kind", KINDS)
def test_every_reference_response_is_scored_as_right(kinds, kind):
    items = [item for item in kinds.held_out() if item.kind == kind]
    for item, task in zip(items, tasks_of(kinds, items), strict=True):
        assert score_answer(task, item.response).correct, item


@pytest.mark.parametrize("kind", KINDS)
def test_another_items_response_is_scored_as_wrong(kinds, kind):
    items = [item for item in kinds.held_out() if item.kind == kind]
    for number, task in enumerate(tasks_of(kinds, items)):
        other = next(item for item in items[number:] + items if item.key != items[number].key)
        assert not score_answer(task, other.response).correct, items[number]


def test_every_form_of_a_kind_is_among_its_tasks(kinds):
    forms = Counter((item.kind, item.form) for item in kinds.held_out())
    assert set(forms) == {(kind, form) for kind, makers in kinds.MAKERS.items() for form in makers}


def test_worked_columns_are_true(kinds):
    from demo_training import sums

    rng = random.Random(0)
    for maker, _ in sums.MAKERS.values():
        for _ in range(50):
            for column in maker(rng).response.split(". ")[0].split(", "):
                left, right = column.split("=")
                assert sum(int(term) for term in left.split("+")) == int(right)


def test_the_demo_folder_is_complete_and_small(demo):
    assert {file.name for file in (demo / "checkpoint").iterdir()} == CHECKPOINT_FILES
    assert sum(file.stat().st_size for file in demo.rglob("*") if file.is_file()) <= LARGEST_DEMO_BYTES


def test_the_shipped_checkpoint_is_the_one_that_the_settings_describe(root, demo, monkeypatch):
    monkeypatch.syspath_prepend(str(root / "scripts"))
    from demo_training import settings, tokenizer
    from demo_training.model import config

    from alodlm.model.config import read_config

    shape = settings.load(root / "configs" / "demo.yaml").model
    assert read_config(demo / "checkpoint") == config(shape, tokenizer.build(shape.context))
