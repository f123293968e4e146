"""`alodlm-evaluate` as a user meets it: exit codes, messages, what is imported, what is left behind."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time

import pytest

from alodlm.cli.evaluate import main

TASK = {"benchmark": "Sums", "id": 1, "metric": "math", "prompt": "1+1", "answer": "2"}
PREDICTION = {"benchmark": "Sums", "id": 1, "text": "It is 2.", "generated_tokens": 4, "wall_seconds": 0.5}
HELP_SECONDS = 0.3


@pytest.fixture
def files(tmp_path):
    (tmp_path / "tasks.jsonl").write_text(json.dumps(TASK) + "\n")
    (tmp_path / "predictions.jsonl").write_text(json.dumps(PREDICTION) + "\n")
    return tmp_path


def rescoring(files, *more):
    named = ["--input", files / "tasks.jsonl", "--predictions", files / "predictions.jsonl", "--output", files / "out"]
    return [str(word) for word in [*named, *more]]


def test_rescoring_prints_a_table_and_where_the_files_are(files, capsys):
    assert main(rescoring(files)) == 0
    out, err = capsys.readouterr()
    assert "Sums" in out and "100.0" in out and "supplied-predictions" in out and "summary.json" in out
    assert err == ""
    assert sorted(path.name for path in (files / "out").iterdir()) == [
        "manifest.json", "predictions.jsonl", "summary.json",
    ]  # fmt: skip


WRONG = [
    ([], 2, "exactly one of --model and --predictions is needed"),
    (["--model", "x", "--predictions", "y"], 2, "exactly one of --model and --predictions is needed"),
    (["--predictions", "y", "--output", "o"], 2, "--input: is required"),
    (["--predictions", "y", "--input", "i"], 2, "--output: is required"),
    (["--predictions", "y", "--input", "none.jsonl", "--output", "o"], 3, "none.jsonl: there is no such file"),
    (["--model", "./none", "--input", "TASKS", "--output", "o", "--q", "2"], 2, "--q: must be between 0 and 1; got"),
    (["--model", "./x", "--input", "TASKS", "--output", "o", "--tau", "nan"], 2, "--tau: must be finite"),
    (["--model", "./x", "--input", "TASKS", "--output", "o", "--window-size", "0"], 2, "--window-size: must be"),
    (["--model", "./x", "--input", "TASKS", "--output", "o", "--max-new-tokens", "0"], 2, "--max-new-tokens: must"),
    (["--model", "./x", "--input", "TASKS", "--output", "o", "--position-penalty", "-1"], 2, "--position-penalty: "),
    (["--predictions", "P", "--input", "TASKS", "--output", "o", "--q", "0.7"], 2, "--q: has no effect on stored"),
    (["--predictions", "P", "--input", "TASKS", "--output", "o", "--workers", "0"], 2, "--workers: must be at"),
    (["--predictions", "P", "--input", "TASKS", "--output", "o", "--limit", "0"], 2, "--limit: must be at least 1"),
    (["--predictions", "P", "--input", "TASKS", "--output", "TASKS"], 2, "must be a folder; it is a file"),
    (["--demo", "--input", "TASKS"], 2, "--demo: brings its own tasks"),
]  # fmt: skip


@pytest.mark.parametrize(("arguments", "code", "message"), WRONG, ids=[" ".join(row[0]) for row in WRONG])
def test_a_mistake_is_named_with_its_exit_code_and_leaves_nothing(files, capsys, monkeypatch, arguments, code, message):
    monkeypatch.chdir(files)
    real = {"TASKS": str(files / "tasks.jsonl"), "P": str(files / "predictions.jsonl")}
    assert main([real.get(word, word) for word in arguments]) == code
    out, err = capsys.readouterr()
    assert message in err and err.startswith("alodlm-evaluate: error: ") and "next: " in err
    assert "Traceback" not in err and out == ""
    assert not (files / "o").exists()


def test_a_checkpoint_that_is_not_there_is_missing(files, capsys, monkeypatch):
    pytest.importorskip("torch")
    monkeypatch.chdir(files)
    assert main(["--model", "./none", "--input", "tasks.jsonl", "--output", "o"]) == 3
    err = capsys.readouterr().err
    assert "none" in err and "next: " in err and not (files / "o").exists()


def test_without_the_packages_for_a_model_the_extra_is_named(files):
    program = WITHOUT_TORCH.replace("raise AssertionError", "raise ModuleNotFoundError").replace(
        "import sys\n", "import importlib.util, sys\nimportlib.util.find_spec = lambda name: None\n", 1
    )
    arguments = ["--model", "./none", "--input", files / "tasks.jsonl", "--output", files / "o"]
    done = subprocess.run([sys.executable, "-c", program, *map(str, arguments)], capture_output=True, text=True)
    assert done.returncode == 3 and "pip install 'alodlm-eval[local]'" in done.stderr, done.stderr
    assert "Traceback" not in done.stderr and not (files / "o").exists()


@pytest.mark.parametrize("arguments", [["--mode", "fast"], ["--q", "half"], ["--nonsense"], ["--precision", "fp8"]])
def test_usage_errors_exit_with_two(arguments, capsys):
    with pytest.raises(SystemExit) as caught:
        main(arguments)
    assert caught.value.code == 2 and "usage: alodlm-evaluate" in capsys.readouterr().err


def test_a_run_in_the_way_is_refused_and_resume_takes_it_up(files, capsys):
    assert main(rescoring(files)) == 0
    before = (files / "out" / "predictions.jsonl").read_bytes()
    assert main(rescoring(files)) == 2
    assert "already holds a run" in capsys.readouterr().err
    assert main(rescoring(files, "--resume")) == 0
    assert (files / "out" / "predictions.jsonl").read_bytes() == before


WITHOUT_TORCH = """
import sys

class Refuse:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {"torch", "transformers", "accelerate", "safetensors"}:
            raise AssertionError(f"rescoring imported {name}")

sys.meta_path.insert(0, Refuse())
from alodlm.cli.evaluate import main
sys.exit(main(sys.argv[1:]))
"""


def test_rescoring_imports_no_torch(files):
    command = [sys.executable, "-c", WITHOUT_TORCH, *rescoring(files)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert json.loads((files / "out" / "summary.json").read_text())["macro_score_percent"] == 100.0


NAMED = """
import json, sys
from pathlib import Path
folder = Path(sys.argv[1])
for name in ("tasks", "predictions"):
    path = folder / f"{name}.jsonl"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"benchmark": sys.argv[2]}))
"""


@pytest.mark.parametrize("name", ["MMLU [dev]", "X [/y]", "[bold]Y", "数学"])
def test_names_are_printed_as_they_are(files, capsys, name):
    subprocess.run([sys.executable, "-c", NAMED, str(files), name], check=True)
    assert main(rescoring(files)) == 0
    assert name in capsys.readouterr().out


@pytest.mark.parametrize("encoding", ["ascii", "latin-1"])
def test_a_terminal_that_is_not_utf8_gets_its_table(files, encoding):
    subprocess.run([sys.executable, "-c", NAMED, str(files), "数学 –"], check=True)
    command = [sys.executable, "-m", "alodlm.cli.evaluate", *rescoring(files)]
    done = subprocess.run(command, capture_output=True, env=os.environ | {"PYTHONIOENCODING": encoding})
    assert done.returncode == 0 and b"100.0" in done.stdout, done.stderr


@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"])
def test_closed_standard_streams_do_not_disturb_a_run(files, closed):
    words = [sys.executable, "-m", "alodlm.cli.evaluate", *rescoring(files)]
    done = subprocess.run(["bash", "-c", f'"$@" {closed}', "run", *words], capture_output=True)
    assert done.returncode == 0 and (files / "out" / "summary.json").exists(), done.stderr


def test_an_empty_path_is_a_usage_error(files, capsys):
    with pytest.raises(SystemExit) as caught:
        main([*rescoring(files)[:-1], ""])
    assert caught.value.code == 2 and "must not be empty" in capsys.readouterr().err


def test_a_path_that_cannot_be_made_is_the_users_to_mend(files, capsys):
    assert main([*rescoring(files)[:-1], str(files / ("x" * 300))]) == 2
    assert "name another --output folder" in capsys.readouterr().err


def test_help_answers_at_once():
    started = time.perf_counter()
    done = subprocess.run([sys.executable, "-m", "alodlm.cli.evaluate", "--help"], capture_output=True, text=True)
    assert done.returncode == 0 and "--predictions" in done.stdout
    assert time.perf_counter() - started < 3 * HELP_SECONDS


def test_help_imports_neither_torch_nor_numpy_nor_sympy():
    program = (
        "import sys; from alodlm.cli.evaluate import build_parser; build_parser().format_help(); print(*sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert {"torch", "numpy", "sympy", "rich"}.isdisjoint(done.stdout.split())


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")
def test_a_full_disk_is_told_and_keeps_what_was_there(files, capsys, monkeypatch):
    from pathlib import Path

    assert main(rescoring(files)) == 0
    before = (files / "out" / "predictions.jsonl").read_bytes()
    opened = Path.open
    monkeypatch.setattr(
        Path,
        "open",
        lambda self, mode="r", *rest, **named: opened(Path("/dev/full") if "partial" in self.name else self, mode),
    )
    capsys.readouterr()
    assert main(rescoring(files, "--resume")) == 1
    err = capsys.readouterr().err
    assert "No space left on device" in err and "free some space" in err and "--resume" in err
    monkeypatch.undo()
    assert (files / "out" / "predictions.jsonl").read_bytes() == before


@pytest.mark.skipif(os.geteuid() == 0, reason="root writes everywhere")
def test_a_read_only_place_is_refused_before_anything_runs(files, capsys):
    files.chmod(0o500)
    try:
        assert main(rescoring(files)) == 2
    finally:
        files.chmod(0o700)
    assert "read-only" in capsys.readouterr().err


def test_output_that_nobody_reads_ends_quietly(files):
    program = f"import sys; from alodlm.cli.evaluate import main; sys.exit(main({rescoring(files)!r}))"
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run([sys.executable, "-c", program], stdout=writer, stderr=subprocess.PIPE, text=True)
    os.close(writer)
    assert done.stderr == "" and (files / "out" / "summary.json").exists()
