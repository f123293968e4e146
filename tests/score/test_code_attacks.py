"""Hostile answers: each beats a naive runner, and none gets anything out of the real one.

An attack file holds sections `### what it does | how it beats the naive runner | more`; `contained` marks what only
a sandbox holds, another word names the test program or the failure that must be recorded.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import time
import uuid
from pathlib import Path
from typing import NamedTuple

import pytest

from alodlm.records import CodeSuite, CodeTests, Task
from alodlm.score.code import evalplus, python_tests, sandbox
from alodlm.score.code.child import kernel

pytestmark = pytest.mark.skipif(not kernel.LINUX, reason="looks for what an attack left in /proc")
FOLDER = Path(__file__).parent / "attacks"
RIGHT = "def f(n):\n    return n * n\n"
SQUARES = "assert f(2) == 4\nassert f(3) == 9\nassert f(7) == 49\n"
TESTS = {
    "all": "assert all(f(i) == i * i for i in range(1, 5))\n",
    "sorted": "assert sorted(map(f, [3, 1, 2])) == [1, 4, 9]\n",
    "abs": "assert abs(f(3) - 9) < 1e-6\n",
    "isclose": "import math\nassert math.isclose(f(1.5), 2.25)\n",
    "unittest": "import unittest\nclass T(unittest.TestCase):\n    def test(self):\n"
    "        self.assertEqual(f(3), 9)\nunittest.main()\n",
    "operator": "import operator\nassert operator.eq(f(2), 4)\n",
    "json": "import json\nassert json.dumps(f(2)) == '4'\n",
    "copied": "import copy\nxs = [3, 1]\nassert f(copy.deepcopy(xs)) == sorted(xs)\n",
    "argument": "xs = [3, 1]\nassert f(xs) == sorted(xs)\n",
    "helper": "assert f(3) == square(3)\n",
    "check": "def expect(got, wanted):\n    assert got == wanted\ndef check(g):\n    for i in (1, 2, 3):\n"
    "        got = g(i)\n        expect(got, i * i)\ncheck(f)\n",
}
HELPER = "def square(n):\n    return n * n\n\n\ndef f(n):\n    '''Return the square of n.'''\n"
NAIVE_RUNNERS = ("exit_code", "printed_mark", "in_process")


class Attack(NamedTuple):
    """One section of an attack file."""

    name: str
    evidence: str
    extra: str
    code: str

    @property
    def contained(self) -> bool:
        """Whether only a sandbox holds it."""
        return self.extra == "contained"

    @property
    def tests(self) -> str:
        """The test program that it is tried on."""
        return TESTS.get(self.extra, SQUARES)


class Place(NamedTuple):
    """The world outside of a program: a run folder, a server, and a mark on the attack's processes."""

    folder: Path
    server: socket.socket
    mark: str

    def fill(self, code: str) -> str:
        """Put this place into an attack's code."""
        port = str(self.server.getsockname()[1])
        return code.replace("{folder}", str(self.folder)).replace("{port}", port).replace("{marker}", self.mark)

    def content(self) -> dict[str, str]:
        """Return what the folder holds."""
        return {path.name: path.read_text() if path.is_file() else "" for path in sorted(self.folder.iterdir())}

    def was_called(self) -> bool:
        """Say whether anything connected to the server."""
        with contextlib.suppress(BlockingIOError):
            self.server.accept()[0].close()
            return True
        return False


def attacks() -> list[Attack]:
    found = []
    for path in sorted(FOLDER.glob("*.txt")):
        for section in path.read_text().split("### ")[1:]:
            head, code = section.split("\n", 1)
            name, evidence, *extra = (part.strip() for part in head.split("|"))
            found.append(Attack(name, evidence, extra[0] if extra else "", code))
    return found


ATTACKS = attacks()


@pytest.fixture
def place(tmp_path: Path):
    folder = tmp_path / "run"
    folder.mkdir()
    (folder / "tasks.jsonl").write_text(json.dumps({"tests": SQUARES}))
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.setblocking(False)
        yield Place(folder, server, f"attack-{uuid.uuid4().hex}")


@pytest.fixture(params=["auto", "off"])
def mode(request: pytest.FixtureRequest):
    """Both walls, with limits small enough to be met."""
    if request.param == "auto" and not sandbox.bubblewrap_works():
        pytest.skip("bubblewrap cannot make its namespaces here")
    limits = sandbox.Limits(memory_bytes=500_000_000, tasks=40)
    sandbox.configure(request.param, limits)
    yield request.param
    sandbox.configure("auto")


def processes_with(mark: str) -> list[int]:
    """Return the processes that carry the mark in their command line or environment."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and int(entry.name) != os.getpid():
            with contextlib.suppress(OSError):
                if mark.encode() in (entry / "cmdline").read_bytes() + (entry / "environ").read_bytes():
                    found.append(int(entry.name))
    return found


def run_naively(attack: Attack, place: Place) -> str:
    """Run a naive runner on an attack; return `passed`, `failed`, `silenced` or `hangs`, leaving survivors alive."""
    runner = attack.evidence if attack.evidence in NAIVE_RUNNERS else "exit_code"
    runner = "in_process" if attack.evidence == "silenced" else runner
    values = {"inputs": [[2], [3], [7]], "expected": [4, 9, 49]}
    prefix = HELPER.rpartition("\n\n\n")[0] + "\n" if attack.extra == "helper" else ""
    job = {"runner": runner, "code": prefix + place.fill(attack.code), "tests": attack.tests, **values}
    process = subprocess.Popen(
        [sys.executable, str(FOLDER / "naive.py")], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL, env={**os.environ, "ATTACK": place.mark}, start_new_session=True, text=True,
    )  # fmt: skip
    process.stdin.write(json.dumps(job) + "\n")
    process.stdin.close()
    patience = "2.5" if attack.evidence in ("hangs", "silenced") else "30"
    killer = subprocess.Popen(["sleep", patience])
    try:
        while process.poll() is None and killer.poll() is None:
            time.sleep(0.01)
        if process.poll() is None:
            return "hangs"
        output = process.stdout.readline()
        if not output:
            return "silenced"
        return "passed" if json.loads(output)["passed"] else "failed"
    finally:
        killer.kill()
        killer.wait()
        with contextlib.suppress(ProcessLookupError):
            os.kill(process.pid, signal.SIGKILL)
        process.wait()
        process.stdout.close()


@pytest.mark.parametrize("attack", ATTACKS, ids=lambda attack: attack.name)
def test_an_attack_beats_the_naive_runner(attack: Attack, place: Place):
    before = place.content()
    try:
        outcome = run_naively(attack, place)
        evidence = {
            "survivor": bool(processes_with(place.mark)), "written": place.content() != before,
            "connected": place.was_called(), "silenced": outcome in ("silenced", "hangs"),
            "hangs": outcome == "hangs", "passes": outcome == "passed",
        }  # fmt: skip
        assert evidence.get(attack.evidence, outcome == "passed")
    finally:
        while left := processes_with(place.mark):
            for process in left:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(process, signal.SIGKILL)
            time.sleep(0.01)


def score_both(code: str, tests: str, prefix: str, seconds: float = 5.0):
    """Score a program with both metrics."""
    common = {"benchmark": "b", "id": "1", "prompt": "p"}
    task = Task(**common, metric="python_tests", tests=tests, entry_point="f", timeout_seconds=seconds,
                function_prefix=prefix)  # fmt: skip
    yield python_tests.score(task, f"```python\n{code}```")
    if tests == SQUARES:
        suite = CodeSuite(inputs=[[2], [3], [7]], expected=[4, 9, 49], reference_seconds=[0.0] * 3)
        suites = CodeTests(dataset="humaneval", entry_point="f", suites=[suite])
        yield evalplus.score(Task(**common, metric="evalplus", code_tests=suites), f"```python\n{code}```")


@pytest.mark.parametrize("attack", ATTACKS, ids=lambda attack: attack.name)
def test_an_attack_gets_nothing(attack: Attack, place: Place, mode: str):
    if attack.contained and mode == "off":
        pytest.skip("only a sandbox holds this")
    sandbox.current()
    before, helpers = place.content(), kernel.descendants(os.getpid())
    prefix = HELPER if attack.extra == "helper" else ""
    seconds = 0.8 if attack.evidence == "hangs" else 5.0
    for found in score_both(place.fill(attack.code), attack.tests, prefix, seconds):
        if attack.evidence == "survivor":
            assert found.correct or attack.name == "sixty children"
        else:
            assert not found.correct
        if attack.evidence in ("passes", "hangs") and found.rule != evalplus.RULE:
            assert found.failure == attack.extra
    assert place.content() == before
    assert not place.was_called()
    assert processes_with(place.mark) == []
    sandbox.current()
    assert len(kernel.descendants(os.getpid())) == len(helpers)
    for found in score_both(RIGHT, SQUARES, ""):
        assert found.correct


@pytest.mark.parametrize("name", TESTS)
def test_the_attacked_test_programs_pass_a_right_answer(name: str):
    code = "def f(values):\n    return sorted(values)\n" if name in ("copied", "argument") else RIGHT
    for found in score_both(code, TESTS[name], HELPER if name == "helper" else ""):
        assert found.correct


def test_the_corpus_is_large_and_its_names_differ():
    assert len(ATTACKS) >= 45
    assert len({attack.name for attack in ATTACKS}) == len(ATTACKS)


def test_nothing_of_a_run_stays_in_the_temporary_folder(place: Place, mode: str):
    for _ in score_both('open("kept", "w").write("x" * 1000)\n' + RIGHT, SQUARES, ""):
        pass
    box = Path(sandbox.current().box)
    assert not box.is_dir() or not list(box.iterdir())
    sandbox.close()
    assert not box.exists()
