"""The run: generate, score, write. Stages meet in files, so every one of them can be taken up again.

Generation and scoring never overlap in time. Everything a run depends on is checked before a model is loaded, and
nothing is written before that.
"""

from __future__ import annotations

import platform
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from alodlm.candidates.protocol import Candidate
from alodlm.errors import InputError
from alodlm.predictions import prediction_row, read_predictions
from alodlm.records import CODE_METRICS, Task
from alodlm.report.summary import BenchmarkTally, summarise
from alodlm.rows import dump_line, parse_object
from alodlm.rundir import Journal, RunFolder, replacing, write_json
from alodlm.score import SCORER_VERSION
from alodlm.score.code import sandbox
from alodlm.score.pool import Job, job, score_jobs
from alodlm.tasks import TaskFile

RUN_FORMAT = 1
_PACKAGES = (
    "alodlm-eval", "torch", "transformers", "accelerate", "safetensors", "numpy", "sympy", "latex2sympy2", "evalplus",
)  # fmt: skip
# What may differ between a run and its continuation without making it another run: circumstances, not settings.
_FREE_TO_CHANGE = frozenset({"started_at", "versions", "candidate.protocol.threads"})

Progress = Callable[[str, int], AbstractContextManager[Callable[[], None]]]


def silent(title: str, total: int) -> AbstractContextManager[Callable[[], None]]:
    """The progress display that shows nothing."""
    return nullcontext(lambda: None)


class RunOptions(msgspec.Struct, frozen=True):
    """How to run, apart from what is measured.

    `resume` continues the run in the output folder; `limit` takes the first tasks of each benchmark; `workers` is
    the number of scoring processes (default: one a processor); `sandbox` is auto, required or off.
    """

    resume: bool = False
    limit: int | None = None
    workers: int | None = None
    sandbox: str = "auto"


def evaluate_candidate(
    candidate: Candidate,
    input: Path | str,
    output: Path | str,
    *,
    options: RunOptions = RunOptions(),  # noqa: B008 - frozen
    progress: Progress = silent,
) -> dict[str, Any]:
    """Generate an answer to every task, score them, write the run folder and return its summary.

    `candidate` is not loaded yet: its weights are read only once input, output and prompts are found right.
    Raises `InputError`, `MissingError` or `StageError`; finished generations are kept whatever happens.
    """
    tasks, folder = _prepare(Path(input), Path(output), options)
    described = candidate.describe()
    manifest = _manifest(tasks, {"candidate": described}, options)
    _check_same_run(folder, manifest)
    candidate.check(task for _, task in tasks.rows())
    with folder.locked():
        _begin(folder, manifest)
        journal = Journal(folder.generations)
        try:
            _generate(candidate, tasks, journal, progress)
        finally:
            journal.close()
        protocol = described["protocol"] | {"input_sha256": tasks.sha256}
        answers = journal.index.rows(journal.finished(tasks.digests))
        return _score_and_write(tasks, answers, folder, protocol, (options, progress))


def rescore(
    predictions: Path | str,
    input: Path | str,
    output: Path | str,
    *,
    options: RunOptions = RunOptions(),  # noqa: B008 - frozen
    progress: Progress = silent,
) -> dict[str, Any]:
    """Score stored answers again, without a model, a GPU or torch; write the run folder and return its summary."""
    tasks, folder = _prepare(Path(input), Path(output), options)
    index, positions, sha256 = read_predictions(Path(predictions), tasks)
    manifest = _manifest(tasks, {"predictions_sha256": sha256}, options)
    _check_same_run(folder, manifest)
    protocol = {
        "engine": "supplied-predictions",
        "decode": None,
        "precision": None,
        "device": None,
        "gpu": None,
        "threads": None,
        "timing": "as supplied with the predictions",
        "input_sha256": tasks.sha256,
        "predictions_sha256": sha256,
    }
    with folder.locked():
        _begin(folder, manifest)
        return _score_and_write(tasks, index.rows(positions), folder, protocol, (options, progress))


def _prepare(input: Path, output: Path, options: RunOptions) -> tuple[TaskFile, RunFolder]:
    if options.workers is not None and options.workers < 1:
        raise InputError(
            "--workers", "must be at least 1", value=options.workers, next_step="give a number of processes"
        )
    tasks = TaskFile(input, options.limit)
    if tasks.metrics & CODE_METRICS:
        sandbox.configure(options.sandbox)
    if "judge" in tasks.metrics:
        rule = "tasks of metric judge have no deterministic scorer, and this version runs no judge"
        raise InputError(f"task file {input}", rule, next_step="leave these tasks out")
    folder = RunFolder(output)
    folder.check_usable(resume=options.resume)
    return tasks, folder


def _manifest(tasks: TaskFile, source: dict[str, Any], options: RunOptions) -> dict[str, Any]:
    return {
        "format": RUN_FORMAT,
        "input_sha256": tasks.sha256,
        "tasks": len(tasks),
        "limit": options.limit,
        **source,
        "task_manifest": tasks.manifest,
        "versions": versions(),
        "started_at": datetime.now(UTC).isoformat(timespec="seconds"),
    }


def versions() -> dict[str, str | None]:
    """Return the versions of Python and of the packages that numbers may depend on; None where one is absent."""
    found: dict[str, str | None] = {"python": platform.python_version()}
    for package in _PACKAGES:
        try:
            found[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            found[package] = None
    return found


def _check_same_run(folder: RunFolder, manifest: dict[str, Any]) -> None:
    before = folder.read_manifest()
    if before is None:
        return
    differences = list(_differences(before, manifest))
    if ("candidate" in before) != ("candidate" in manifest):
        kinds = ("scored stored predictions", "generated its answers")
        differences = [f"that run {kinds['candidate' in before]}, this one {kinds['candidate' in manifest]}"]
    if differences:
        rule = "holds another run; these differ: " + "; ".join(differences)
        raise InputError(
            f"output folder {folder.root}", rule, next_step="repeat its settings, or name another --output"
        )


def _differences(before: Any, now: Any, where: str = "") -> Iterator[str]:
    if isinstance(before, dict) and isinstance(now, dict):
        for name in sorted(before.keys() | now.keys()):
            place = f"{where}.{name}" if where else name
            if place not in _FREE_TO_CHANGE:
                yield from _differences(before.get(name), now.get(name), place)
    elif before != now:
        yield f"{where} was {before!r}, is {now!r}"


def _begin(folder: RunFolder, manifest: dict[str, Any]) -> None:
    _check_same_run(folder, manifest)
    if not folder.manifest.exists():
        write_json(folder.manifest, manifest)


def _generate(candidate: Candidate, tasks: TaskFile, journal: Journal, progress: Progress) -> None:
    missing = np.flatnonzero(journal.finished(tasks.digests) < 0)
    if not len(missing):
        return
    candidate.load()
    candidate.warm_up()
    with progress("generating", len(missing)) as advance:
        for task, generation in candidate.generate(task for _, task in tasks.rows(missing)):
            row = {"benchmark": task.benchmark, "id": task.id, **msgspec.to_builtins(generation)}
            journal.append(task.key, row)
            advance()


def _score_and_write(
    tasks: TaskFile,
    answers: Iterator[bytes],
    folder: RunFolder,
    protocol: dict[str, Any],
    how: tuple[RunOptions, Progress],
) -> dict[str, Any]:
    options, progress = how
    tallies = {name: BenchmarkTally() for name in tasks.counts}
    with progress("scoring", len(tasks)) as advance, replacing(folder.predictions) as file:
        for row in scored_rows(tasks, answers, options):
            file.write(dump_line(row))
            tallies[row["benchmark"]].add(row)
            advance()
    protocol |= {
        "limit": options.limit,
        "scorer_version": SCORER_VERSION,
        "sandbox": _sandbox_record(tasks, options),
        "score_unit": "percent",
        "versions": versions(),
    }
    summary = summarise(tallies, options.limit is not None, protocol)
    write_json(folder.summary, summary)
    return summary


def scored_rows(tasks: TaskFile, answers: Iterator[bytes], options: RunOptions) -> Iterator[dict[str, Any]]:
    """Yield a prediction row for each task, in task order, from the raw rows of its answers."""
    waiting: deque[tuple[Task, dict[str, Any]]] = deque()

    def jobs() -> Iterator[Job]:
        for (raw, task), answer in zip(tasks.rows(), answers, strict=True):
            generation = parse_object(answer)
            waiting.append((task, generation))
            yield job(raw, task, generation["text"])

    for score in score_jobs(jobs(), workers=options.workers, sandbox_mode=options.sandbox):
        task, generation = waiting.popleft()
        yield prediction_row(task, generation, score)


def _sandbox_record(tasks: TaskFile, options: RunOptions) -> dict[str, Any] | None:
    if not tasks.metrics & CODE_METRICS:
        return None
    return {"mode": options.sandbox, "protections": sandbox.protections()}
