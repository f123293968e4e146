"""Task files: every way a line can be wrong is named, and right ones come back in order."""

from __future__ import annotations

import hashlib
import json

import pytest

from alodlm.errors import InputError, MissingError
from alodlm.tasks import TaskFile

CHOICE = {"benchmark": "Demo", "id": 1, "metric": "arc", "prompt": "Which?", "answer": "A"}
MATH = {"benchmark": "Demo", "id": 2, "metric": "math", "prompt": "2+2", "answer": "4"}
TESTS = {"benchmark": "Demo", "id": 3, "metric": "python_tests", "prompt": "def f", "tests": "assert f(1) == 1"}
SUITE = {"inputs": [[1], [2]], "expected": [1, 4], "reference_seconds": [0.1, 0.1]}
EVALPLUS = {
    "benchmark": "Demo",
    "id": 4,
    "metric": "evalplus",
    "prompt": "def f",
    "code_tests": {"dataset": "humaneval", "entry_point": "f", "atol": 0.0, "suites": [SUITE]},
}


def without(row, name):
    return {key: value for key, value in row.items() if key != name}


def with_suite(**changes):
    suite = {name: value for name, value in (SUITE | changes).items() if value is not None}
    return EVALPLUS | {"code_tests": EVALPLUS["code_tests"] | {"suites": [suite]}}


def with_tests(**changes):
    return EVALPLUS | {"code_tests": EVALPLUS["code_tests"] | changes}


def write(path, *rows):
    path.write_text("\n".join(row if isinstance(row, str) else json.dumps(row) for row in rows) + "\n")
    return path


BAD = [
    ("{not json", "must be one JSON object"),
    ("[1, 2]", "must be one JSON object"),
    ('{"id": 1, "id": 2}', "appears twice"),
    ("[" * 100_000, "nested too deeply"),
    (without(CHOICE, "benchmark"), "benchmark: is required"),
    (CHOICE | {"benchmark": " "}, "benchmark: must not be empty"),
    (without(CHOICE, "id"), "id: is required"),
    (CHOICE | {"id": ""}, "id: must not be empty"),
    (CHOICE | {"id": True}, "id: expected"),
    (CHOICE | {"id": None}, "id: expected"),
    (without(CHOICE, "metric"), "metric: is required"),
    (CHOICE | {"metric": "accuracy"}, "metric: must be one of"),
    (without(CHOICE, "prompt"), "prompt: is required"),
    (CHOICE | {"prompt": ""}, "prompt: must not be empty"),
    (CHOICE | {"prompt": 5}, "prompt: expected `str`"),
    (CHOICE | {"answer": "E"}, "answer: must be one of available_options (A, B, C, D); got 'E'"),
    (CHOICE | {"answer": "a"}, "answer: must be one of"),
    (without(CHOICE, "answer"), "answer: is required for metric arc"),
    (CHOICE | {"metric": "mmlu_pro", "answer": "K"}, "answer: must be one of"),
    (CHOICE | {"available_options": "ABCD"}, "available_options: expected `array"),
    (CHOICE | {"available_options": []}, "available_options: must not be empty"),
    (CHOICE | {"available_options": ["A", "A"]}, "labels must differ"),
    (CHOICE | {"available_options": ["A", "(B)"]}, "labels are letters or digits"),
    (without(MATH, "answer"), "answer: is required for metric math"),
    (MATH | {"answer": "  "}, "answer: is required for metric math"),
    (MATH | {"answer": ["4"]}, "answer: expected"),
    (MATH | {"metric": "exact", "answer": ""}, "answer: is required for metric exact"),
    (without(TESTS, "tests"), "tests: is required for metric python_tests"),
    (TESTS | {"timeout_seconds": 0}, "timeout_seconds: must be finite and > 0, and at most a day; got 0"),
    (TESTS | {"timeout_seconds": 1e9}, "timeout_seconds: must be finite and > 0, and at most a day; got 1000000000.0"),
    (TESTS | {"tests": "assert ("}, "tests: must be a Python program (SyntaxError"),
    (TESTS | {"tests": "assert\0"}, "tests: must be a Python program ("),
    (TESTS | {"entry_point": "class"}, "entry_point: must be a Python identifier"),
    (CHOICE | {"benchmark": "a\x1b[31m"}, "benchmark: must not hold control characters"),
    (CHOICE | {"id": "\ud800"}, "id: must not hold control characters or lone surrogates"),
    (CHOICE | {"id": float("nan")}, "id: must be a string or a finite number"),
    (CHOICE | {"available_options": ["AB", "B"]}, "labels are letters or digits"),
    (TESTS | {"timeout_seconds": "10"}, "timeout_seconds: expected"),
    (without(EVALPLUS, "code_tests"), "code_tests: is required for metric evalplus"),
    (with_tests(dataset="apps"), "code_tests.dataset: must be humaneval or mbpp"),
    (with_tests(entry_point="f()"), "entry_point: must be a Python identifier"),
    (with_tests(atol=-1), "atol: must be finite and >= 0"),
    (with_tests(suites=[]), "suites: must not be empty"),
    (with_suite(inputs=None), "code_tests.suites[0].inputs: give either inputs or inputs_literal; got []"),
    (
        with_suite(expected_literal="[1, 4]"),
        "give either expected or expected_literal; got ['expected', 'expected_literal']",
    ),
    (with_suite(inputs=None, inputs_literal="[1, 2]"), "inputs_literal: each input must be a list of arguments"),
    (with_suite(inputs=None, inputs_literal="([1], [2])"), "inputs_literal: must be a Python literal list"),
    (with_suite(inputs=[1, 2]), "code_tests.suites[0].inputs[0]: expected `array`"),
    (with_suite(reference_seconds=[0.1]), "equally long"),
    (with_suite(reference_seconds=[0.1, -1]), "reference_seconds: must be finite and >= 0"),
    (with_suite(inputs=None, inputs_literal="[[1], [2]"), "inputs_literal: must be a Python literal"),
    (with_suite(inputs=None, inputs_literal="__import__('os').getcwd()"), "inputs_literal: must be a Python literal"),
    (with_suite(expected=None, expected_literal="5"), "expected_literal: must be a Python literal list"),
]


@pytest.mark.parametrize(("row", "message"), BAD, ids=[message for _, message in BAD])
def test_a_bad_line_is_refused_with_its_number_field_and_rule(tmp_path, row, message):
    path = write(tmp_path / "tasks.jsonl", MATH, "", row)
    with pytest.raises(InputError) as caught:
        TaskFile(path)
    text = str(caught.value)
    assert str(path) in text and "line 3" in text and message in text and "next: " in text
    assert caught.value.exit_code == 2


def test_all_bad_lines_are_counted_and_the_first_twenty_shown(tmp_path):
    path = write(tmp_path / "tasks.jsonl", *(CHOICE | {"id": i, "answer": "Z"} for i in range(25)))
    with pytest.raises(InputError, match="25 problems") as caught:
        TaskFile(path)
    assert str(caught.value).count("line ") == 20
    assert "… and 5 more" in str(caught.value)


def test_ids_are_compared_as_strings(tmp_path):
    with pytest.raises(InputError, match="line 2: repeats the benchmark and id of line 1"):
        TaskFile(write(tmp_path / "tasks.jsonl", CHOICE, MATH | {"id": "1"}))


def test_the_same_id_in_another_benchmark_is_another_task(tmp_path):
    assert len(TaskFile(write(tmp_path / "tasks.jsonl", CHOICE, CHOICE | {"benchmark": "Other"}))) == 2


def test_bytes_that_are_not_utf8_are_named(tmp_path):
    path = tmp_path / "tasks.jsonl"
    path.write_bytes(b'{"benchmark": "\xff"}\n')
    with pytest.raises(InputError, match=r"line 1, line: must be UTF-8 \(byte 16 is not\)"):
        TaskFile(path)


def test_a_missing_file_is_missing_and_a_folder_is_wrong(tmp_path):
    with pytest.raises(MissingError, match="there is no such file"):
        TaskFile(tmp_path / "none.jsonl")
    with pytest.raises(InputError, match="it is a folder"):
        TaskFile(tmp_path)


def test_an_empty_file_is_refused(tmp_path):
    with pytest.raises(InputError, match="at least one row"):
        TaskFile(write(tmp_path / "tasks.jsonl", "", ""))


def test_a_byte_order_mark_and_blank_lines_are_passed_over(tmp_path):
    path = tmp_path / "tasks.jsonl"
    path.write_bytes(b"\xef\xbb\xbf" + json.dumps(CHOICE).encode() + b"\n\n  \n" + json.dumps(MATH).encode())
    tasks = TaskFile(path)
    assert [task.id for _, task in tasks.rows()] == [1, 2]
    assert tasks.sha256 == hashlib.sha256(path.read_bytes()).hexdigest()


def test_a_limit_takes_the_first_of_each_benchmark(tmp_path):
    rows = [MATH | {"benchmark": name, "id": i} for i in range(3) for name in ("One", "Two")]
    tasks = TaskFile(write(tmp_path / "tasks.jsonl", *rows), limit=2)
    assert [task.key for _, task in tasks.rows()] == [("One", "0"), ("Two", "0"), ("One", "1"), ("Two", "1")]
    assert dict(tasks.counts) == {"One": 2, "Two": 2}


def test_a_limit_below_one_is_refused(tmp_path):
    with pytest.raises(InputError, match="--limit: must be at least 1; got 0"):
        TaskFile(write(tmp_path / "tasks.jsonl", MATH), limit=0)


def test_default_options_are_ten_for_mmlu_pro_and_four_elsewhere(tmp_path):
    pro = CHOICE | {"metric": "mmlu_pro", "answer": "J", "id": 9}
    digits = CHOICE | {"id": 8, "available_options": [1, 2, 3, 4], "answer": 4}
    options = [task.options for _, task in TaskFile(write(tmp_path / "t.jsonl", CHOICE, pro, digits)).rows()]
    assert options == [tuple("ABCD"), tuple("ABCDEFGHIJ"), tuple("1234")]


def test_literal_fields_keep_tuples_and_sets(tmp_path):
    row = with_suite(inputs=None, inputs_literal=["[(1, 2)]", "[{3}]"], expected=None, expected_literal="[(1,), {2}]")
    ((_, task),) = TaskFile(write(tmp_path / "tasks.jsonl", row)).rows()
    (suite,) = task.code_tests.suites
    assert suite.arguments() == [[(1, 2)], [{3}]]
    assert suite.outputs() == [(1,), {2}]


def test_a_sidecar_manifest_must_state_the_hash_of_its_file(tmp_path):
    path = write(tmp_path / "tasks.jsonl", MATH)
    sidecar = tmp_path / "tasks.manifest.json"
    sidecar.write_text(json.dumps({"sha256": "0" * 64}))
    with pytest.raises(InputError, match=r"its sha256 must be that of tasks\.jsonl"):
        TaskFile(path)
    sidecar.write_text("nonsense")
    with pytest.raises(InputError, match="must be a JSON object"):
        TaskFile(path)
    stated = {"sha256": hashlib.sha256(path.read_bytes()).hexdigest(), "sources": ["a.jsonl"]}
    sidecar.write_text(json.dumps(stated))
    assert TaskFile(path).manifest == stated
