"""Answers that hold programs: what runs of them, and what comes of it."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest

from alodlm.records import Score, Task
from alodlm.score.code import extract, plan, python_tests

FOLDER = Path(__file__).parent
ADD = "def add(a, b):\n    return a + b"
ADD_TESTS = "assert add(2, 3) == 5\nassert add(-1, 1) == 0\n"
SIGNATURE = 'def add(a, b):\n    """Return the sum of a and b."""\n'


def rows(name: str) -> list[dict]:
    return [json.loads(line) for line in (FOLDER / name).read_text().splitlines()]


def score(text: str, tests: str = ADD_TESTS, prefix: str = "", entry_point: str | None = "add", **more) -> Score:
    task = Task(benchmark="b", id="1", metric="python_tests", prompt=more.pop("prompt", "p"), tests=tests,
                function_prefix=prefix, entry_point=entry_point, **more)  # fmt: skip
    return python_tests.score(task, text)


@pytest.mark.parametrize("row", rows("cases_code_extract.jsonl"), ids=lambda row: f"{row['id']} {row['why']}")
def test_the_program_of_an_answer_is_found(row: dict):
    found = score(row["text"], row["tests"], row["function_prefix"], row["entry_point"])
    assert found.correct is row["correct"]
    assert (found.failure is None) is row["correct"]


@pytest.mark.parametrize("row", rows("cases_hazards.jsonl"), ids=lambda row: f"{row['id']} {row['why']}")
def test_a_hazard_gets_its_verdict_in_time(row: dict):
    bare = int(row["id"][-1]) % 2
    text = row["code"] if bare else f"```python\n{row['code']}```"
    start = time.monotonic()
    assert score(text, row["tests"], entry_point="f", timeout_seconds=3.0).correct is row["correct"]
    assert time.monotonic() - start < 3 * row["must_finish_within_s"]


RIGHT_ANSWERS = {
    "tildes": f"~~~python\n{ADD}\n~~~",
    "windows line ends": f"```python\r\n{ADD}\r\n```".replace("\n", "\r\n"),
    "a quoted block": "> ```python\n> def add(a, b):\n>     return a + b\n> ```",
    "a fence inside a docstring": '```python\ndef add(a, b):\n    """Sum.\n\n    ```\n    add(1, 2)\n    ```\n    """\n'
    "    return a + b\n```",
    "a longer fence around a shorter one": f"````markdown\n```python\n{ADD}\n```\n````",
    "output shown after the program": f"```python\n{ADD}\nprint(add(1, 2))\n```\nOutput:\n```\n3\n```",
    "a shell block after the program": f"```python\n{ADD}\n```\nRun it:\n```bash\npython add.py\n```",
    "prose, then code without a fence": f"Here is the function:\n\n{ADD}\n\nIt adds the numbers.",
    "the model's own wrong assert": f"```python\n{ADD}\n\nassert add(1, 1) == 3\n```",
    "a demonstration that reads input": f"```python\n{ADD}\n\na = int(input())\nprint(add(a, a))\n```",
    "a demonstration in a loop": f"```python\n{ADD}\n\nfor i in range(3):\n    print(add(i, missing))\n```",
    "a demonstration in an assignment": f"```python\n{ADD}\n\nresult = add(1, None)\n```",
    "a main guard that exits": f"```python\nimport sys\n{ADD}\nif __name__ == '__main__':\n    sys.exit(1)\n```",
    "an end-of-text marker": f"```python\n{ADD}<|im_end|>",
    "an end-of-text marker without a fence": f"{ADD}\n<|endoftext|>",
    "colour codes": "```python\n\x1b[34mdef\x1b[0m add(a, b):\n    return a + b\n```",
    "non-breaking spaces": "```python\ndef add(a, b):\n\u00a0\u00a0\u00a0\u00a0return a\u00a0+\u00a0b\n```",
    "a byte-order mark": f"\ufeff{ADD}",
    "a new question of the model's own": f"```python\n{ADD}\n```\n\nQuestion: Subtract.\n```python\n"
    "def add(a, b):\n    return a - b\n```",
    "a lambda": "```python\nadd = lambda a, b: a + b\n```",
    "a later correction": f"```python\ndef add(a, b):\n    return a - b\n```\nNo, rather:\n```python\n{ADD}\n```",
    "an import from the future after a helper block": "```python\nK = 0\n```\n```python\nfrom __future__ import "
    "annotations\ndef add(a: Any, b: Any):\n    return a + b + K\n```",
    "a helper class and a decorator": "```python\nimport functools\nclass Box:\n    def __init__(self, v):\n"
    "        self.v = v\ndef keep(f):\n    @functools.wraps(f)\n    def g(*x):\n        return f(*x)\n    return g\n"
    "@keep\ndef add(a, b):\n    return Box(a + b).v\n```",
    "a table filled in a loop": "```python\ntable = {}\nfor i in range(-9, 9):\n    table[i] = i\ndef add(a, b):\n"
    "    return table[a] + table[b]\n```",
    "a setting that the function needs": "```python\nimport sys\nsys.setrecursionlimit(5000)\ndef add(a, b):\n"
    "    def down(n):\n        return 0 if n == 0 else down(n - 1)\n    return down(3000) + a + b\n```",
}


@pytest.mark.parametrize("text", RIGHT_ANSWERS.values(), ids=RIGHT_ANSWERS.keys())
def test_a_right_answer_is_found_however_it_is_written(text: str):
    assert score(text).correct


COMPLETIONS = {
    "indented body": "    return a + b\n",
    "body without its first indentation": "total = a + b\n    return total\n",
    "body that lost all indentation": "total = a + b\nreturn total",
    "body with a nested function": "    def inner(x):\n        return x\n    return inner(a) + inner(b)\n",
    "body, then prose": "    return a + b\n\nThis adds the two numbers.",
    "body, then a demonstration": "    return a + b\n\nprint(add(1, 2))\nassert add(1, 1) == 3\n",
    "the whole function": ADD,
    "body of a fenced block": "```python\n    return a + b\n```",
}


@pytest.mark.parametrize("text", COMPLETIONS.values(), ids=COMPLETIONS.keys())
def test_a_body_follows_the_prefix(text: str):
    assert score(text, prefix=SIGNATURE).correct
    assert score(text, prefix="import math\n\n\ndef add(a, b):\n").correct


REFUSED = {
    "nothing": ("", "no_answer"),
    "only thinking": (f"<think>\n```python\n{ADD}\n```", "no_answer"),
    "prose alone": ("I cannot help with that.", "no_answer"),
    "a method of a class": (f"```python\nclass Solution:\n    {ADD.replace(chr(10), chr(10) + '    ')}\n```", "wrong"),
    "a program that does not compile": ("```python\ndef add(a, b) return a + b\n```", "compile_error"),
    "a program that fails to load": ("```python\nimport no_such_module\n" + ADD + "\n```", "crashed"),
    "a wrong function": ("```python\ndef add(a, b):\n    return a - b\n```", "wrong"),
    "an exception": ("```python\ndef add(a, b):\n    raise ValueError\n```", "wrong"),
    "an exit": ("```python\ndef add(a, b):\n    exit(0)\n```", "crashed"),
    "sleep": ("```python\nimport time\ndef add(a, b):\n    time.sleep(60)\n```", "timeout"),
    "memory": ("```python\ndef add(a, b):\n    raise MemoryError\n```", "memory"),
}


@pytest.mark.parametrize(("text", "failure"), REFUSED.values(), ids=REFUSED.keys())
def test_a_failure_is_recorded_by_its_kind(text: str, failure: str):
    found = score(text, timeout_seconds=1.0)
    assert (found.correct, found.failure) == (False, failure)
    assert (found.extracted is None) is (failure == "no_answer")


@pytest.mark.parametrize(
    "text",
    ["```" * 5000, "```python\n" * 2000, "def " * 20000, "(" * 100_000, "x = " + "-" * 50_000 + "1", "\x00" * 100,
     "```python\n" + "[" * 5000 + "\n```", "def f():\n" + " if 1:\n" * 3000, "\ud800" * 10, "#" * 2_000_000,
     "```python\nx = " + "1 + " * 3000 + "1\n```",
     "\n".join(f"def f{i}(" for i in range(3000))],
)  # fmt: skip
def test_no_text_stops_the_extraction(text: str):
    start = time.monotonic()
    answer = extract.program(text, "p", SIGNATURE, "add")
    assert answer.failure in (None, "no_answer", "compile_error")
    assert time.monotonic() - start < 60


GOOD_NEIGHBOURS = {
    "prints megabytes": "import sys\nprint('x' * 3_000_000)\nsys.stderr.write('e' * 3_000_000)\n" + ADD,
    "reads no input": "def add(a, b):\n    try:\n        input()\n    except EOFError:\n        return a + b\n",
    "uses threads": "from concurrent.futures import ThreadPoolExecutor\ndef add(a, b):\n"
    "    with ThreadPoolExecutor(4) as pool:\n        return sum(pool.map(int, (a, b)))\n",
    "uses processes": "import multiprocessing\ndef same(x):\n    return x\ndef add(a, b):\n"
    "    with multiprocessing.Pool(2) as pool:\n        return sum(pool.map(same, (a, b)))\n",
    "uses its working directory": "import os, tempfile\ndef add(a, b):\n    os.makedirs('x/y', exist_ok=True)\n"
    "    open('x/y/z', 'w').write(str(a + b))\n    with tempfile.NamedTemporaryFile() as one:\n"
    "        one.write(b'1')\n    return int(open('x/y/z').read())\n",
    "writes to the usual temporary folder": "def add(a, b):\n    open('/tmp/alodlm-add', 'w').write(str(a + b))\n"
    "    return int(open('/tmp/alodlm-add').read())\n",
    "runs a program": "import subprocess, sys\ndef add(a, b):\n    code = f'print({a} + {b})'\n"
    "    return int(subprocess.run([sys.executable, '-c', code], capture_output=True).stdout)\n",
    "uses a data class": "from __future__ import annotations\nfrom dataclasses import dataclass\n@dataclass\n"
    "class Pair:\n    a: int\n    b: int\ndef add(a, b):\n    pair = Pair(a, b)\n    return pair.a + pair.b\n",
    "recurses as deep as Python allows": "def add(a, b, n=950):\n    return a + b if n == 0 else add(a, b, n - 1)\n",
}


@pytest.mark.parametrize("code", GOOD_NEIGHBOURS.values(), ids=GOOD_NEIGHBOURS.keys())
def test_a_right_program_may(code: str):
    assert score(f"```python\n{code}```").correct


def sections(name: str) -> dict[str, tuple[str, str]]:
    """Read `### name`, a program, `---` and its tests."""
    found = {}
    for section in (FOLDER / name).read_text().split("### ")[1:]:
        title, body = section.split("\n", 1)
        code, _, tests = body.partition("---\n")
        found[title] = (code, tests)
    return found


TEST_PROGRAMS = sections("cases_code_tests.txt")


@pytest.mark.parametrize(("code", "tests"), TEST_PROGRAMS.values(), ids=TEST_PROGRAMS.keys())
def test_a_test_program_sees(code: str, tests: str):
    assert score(f"```python\n{code}```", tests, entry_point=None).failure is None


@pytest.mark.parametrize(
    ("tests", "rule"),
    [
        ("assert f([1, 2]) == {3: (4,)}", plan.RULE_VALUES),
        ("def check(g):\n    assert g(1) == 1\ncheck(f)", plan.RULE_VALUES),
        ("assert f('a').upper() == 'A'", plan.RULE_VALUES),
        ("root = Node(1)\nroot.left = Node(2)\nassert f(root) == 2", plan.RULE_OBJECTS),
        ("assert f([Pair(1, 2)]) == 1", plan.RULE_OBJECTS),
        ("assert make(2)(3) == 5", plan.RULE_OBJECTS),
    ],
)
def test_the_way_is_chosen_from_the_tests(tests: str, rule: str):
    assert plan.make(tests, "", None).rule == rule


def test_an_object_of_the_program_never_equals_a_value_even_where_objects_stay():
    code = "class Box:\n    def __eq__(self, other):\n        return True\ndef make(x):\n    return Box()\n"
    tests = "b = make(1)\nb.seen = 1\nassert b == 5\n"
    assert score(f"```python\n{code}```", tests, entry_point=None).failure == "wrong"
