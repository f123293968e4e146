"""How fast stored predictions are rescored end to end, and what memory a row costs; one JSON line a measurement.

    python scripts/bench_scoring.py throughput --data FOLDER [--rows 100000] [--repeat 3]
    python scripts/bench_scoring.py memory [--rows 10000 300000]

`throughput` runs `alodlm-evaluate --predictions` on a mix of real answers (the three files named in `_MIX`, repeated
to the number of rows) and reports the median. `memory` compares the parent's peak resident size between two sizes of
a file of short answers. Everything is measured on whole processes, from outside.
"""

from __future__ import annotations

import argparse
import gzip
import itertools
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from alodlm.score.pool import default_workers

_MIX = ("mmlu-pro-model-outputs.jsonl.gz", "gsm8k-model-solutions.jsonl.gz", "math500-test.jsonl")
Pair = tuple[dict[str, Any], str]


def main() -> int:
    """Run one of the two measurements and print its JSON line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    throughput = commands.add_parser("throughput")
    throughput.add_argument("--data", type=Path, required=True)
    throughput.add_argument("--rows", type=int, default=100_000)
    throughput.add_argument("--repeat", type=int, default=3)
    memory = commands.add_parser("memory")
    memory.add_argument("--rows", type=int, nargs=2, default=(10_000, 300_000))
    arguments = parser.parse_args()
    if arguments.command == "throughput":
        result = measure_throughput(arguments.data, arguments.rows, arguments.repeat)
    else:
        result = measure_memory(*arguments.rows)
    print(json.dumps(result))
    return 0


def measure_throughput(data: Path, rows: int, repeat: int) -> dict[str, Any]:
    """Return the median seconds, and rows a second and core, of rescoring `rows` real answers."""
    with tempfile.TemporaryDirectory() as folder:
        write(Path(folder), itertools.islice(itertools.cycle(real_answers(data)), rows))
        seconds = [rescore(Path(folder), f"run{number}")[0] for number in range(repeat)]
    median = statistics.median(seconds)
    cores = default_workers()
    return {
        "benchmark": "rescoring-throughput",
        "rows": rows,
        "cores": cores,
        "seconds": seconds,
        "median_seconds": median,
        "rows_per_second_per_core": rows / median / cores,
    }


def measure_memory(few: int, many: int) -> dict[str, Any]:
    """Return the bytes that each further row adds to the parent's peak resident size."""
    peaks = []
    for rows in (few, many):
        with tempfile.TemporaryDirectory() as folder:
            write_short_answers(Path(folder), rows)
            peaks.append(rescore(Path(folder), "run")[1])
    slope = (peaks[1] - peaks[0]) / (many - few)
    return {"benchmark": "rescoring-memory", "rows": [few, many], "peak_bytes": peaks, "bytes_per_row": slope}


def write_short_answers(folder: Path, rows: int) -> None:
    """Write tasks that cost next to nothing to score, the predictions in opposite order: the index's hardest case.

    Line by line: what this process holds when it starts the command would count as the command's own peak.
    """
    fields = {"metric": "exact", "prompt": "p", "answer": "x"}
    with (folder / "tasks.jsonl").open("w") as tasks, (folder / "predictions.jsonl").open("w") as predictions:
        for number in range(rows):
            tasks.write(task_line(number, fields))
            predictions.write(prediction_line(rows - 1 - number, fields, "x"))


def real_answers(data: Path) -> list[Pair]:
    """Read the mix of real answers: multiple choice, word problems, competition mathematics."""
    choices, words, competition = (list(read(data / name)) for name in _MIX)
    pairs: list[Pair] = []
    for row in choices:
        options = list("ABCDEFGHIJ"[: len(row["options"])])
        fields = {
            "metric": "mmlu_pro",
            "prompt": row["question"],
            "answer": row["answer"],
            "available_options": options,
        }
        pairs.append((fields, row["generated_text"]))
    for row in words:
        fields = {"metric": "math", "prompt": row["question"], "answer": row["ground_truth"]}
        pairs.append((fields, row["solution"]))
    for row in competition:
        fields = {"metric": "math", "prompt": row["problem"], "answer": row["answer"]}
        pairs.append((fields, row["solution"]))
    return pairs


def read(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the rows of a JSON-lines file, gzipped or not."""
    with gzip.open(path, "rt", encoding="utf-8") if path.suffix == ".gz" else path.open(encoding="utf-8") as file:
        yield from map(json.loads, file)


def write(folder: Path, pairs: Iterable[Pair]) -> None:
    """Write tasks.jsonl and predictions.jsonl."""
    with (folder / "tasks.jsonl").open("w") as tasks, (folder / "predictions.jsonl").open("w") as predictions:
        for number, (fields, text) in enumerate(pairs):
            tasks.write(task_line(number, fields))
            predictions.write(prediction_line(number, fields, text))


def task_line(number: int, fields: dict[str, Any]) -> str:
    """Return a line of a task file."""
    return json.dumps({"benchmark": fields["metric"], "id": number} | fields) + "\n"


def prediction_line(number: int, fields: dict[str, Any], text: str) -> str:
    """Return the line of a predictions file that answers a task."""
    key = {"benchmark": fields["metric"], "id": number}
    return json.dumps(key | {"text": text, "generated_tokens": 1, "wall_seconds": 1.0}) + "\n"


def rescore(folder: Path, name: str) -> tuple[float, int]:
    """Run the command; return its seconds and the peak resident bytes of its main process."""
    files = [
        "--input",
        folder / "tasks.jsonl",
        "--predictions",
        folder / "predictions.jsonl",
        "--output",
        folder / name,
    ]
    command = [sys.executable, "-m", "alodlm.cli.evaluate", *map(str, files)]
    started = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    seconds = time.perf_counter() - started
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"alodlm-evaluate ended with {process.returncode}")
    return seconds, peak_bytes(usage)


def peak_bytes(usage: resource.struct_rusage) -> int:
    """Return the peak resident size; Linux counts it in KiB, macOS in bytes."""
    return usage.ru_maxrss * (1 if sys.platform == "darwin" else 1024)


if __name__ == "__main__":
    sys.exit(main())
