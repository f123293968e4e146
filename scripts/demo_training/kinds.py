"""The six kinds of demo task, the held-out file that ships, and where training items come from."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator

from demo_training import choices, functions, strings, sums
from demo_training.items import Item, distinct, draw

MAKERS = {
    "math": sums.MAKERS,
    "arc": choices.ARC_MAKERS,
    "mmlu_pro": choices.MMLU_PRO_MAKERS,
    "exact": strings.MAKERS,
    "python_tests": functions.PYTHON_TESTS_MAKERS,
    "evalplus": functions.EVALPLUS_MAKERS,
}
BENCHMARKS = {
    "math": "Demo-Math",
    "arc": "Demo-ARC",
    "mmlu_pro": "Demo-MMLU-Pro",
    "exact": "Demo-Strings",
    "python_tests": "Demo-Python",
    "evalplus": "Demo-EvalPlus",
}
HELD_OUT_SEED = 20261130
HELD_OUT_PER_KIND = 10


def items(split: str, seed: int, per_kind: int) -> list[Item]:
    """Return `per_kind` distinct items of each kind from one split; the same arguments give the same items."""
    found = []
    for kind, makers in MAKERS.items():
        found += distinct(makers, split, random.Random(f"{split} {kind} {seed}"), per_kind)
    return found


def training_stream(seed: int, weights: dict[str, float]) -> Iterator[Item]:
    """Yield training items for ever, each kind as often as its weight says."""
    rng = random.Random(f"training {seed}")
    streams = {kind: draw(MAKERS[kind], "training", rng) for kind in weights}
    while True:
        yield next(streams[rng.choices(list(weights), list(weights.values()))[0]])


def task_record(item: Item, number: int) -> dict:
    """Return the task record of an item, with an id that names its form and its place among its kind."""
    return {
        "benchmark": BENCHMARKS[item.kind],
        "id": f"{item.form}-{number:02d}",
        "metric": item.kind,
        "prompt": item.prompt,
        **item.fields,
    }


def numbered(found: list[Item]) -> list[dict]:
    """Return the task records of items that come kind by kind, numbered from 1 within each kind."""
    count: dict[str, int] = {}
    records = []
    for item in found:
        count[item.kind] = count.get(item.kind, 0) + 1
        records.append(task_record(item, count[item.kind]))
    return records


def held_out() -> list[Item]:
    """Return the items behind the task file that ships. Their seed was fixed before anything was tuned."""
    return items("held-out", HELD_OUT_SEED, HELD_OUT_PER_KIND)


def task_lines(found: list[Item]) -> str:
    """Return a task file: one JSON object a line."""
    return "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in numbered(found))
