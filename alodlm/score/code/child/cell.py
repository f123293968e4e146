"""A cell: the process of one program, and how the zygote starts and ends it.

Where namespaces can be had, the program is process 1 of a process namespace of its own, so that nothing outlives
it; elsewhere the zygote adopts its orphans and kills every descendant it finds.
"""

from __future__ import annotations

import contextlib
import gc
import json
import os
import random
import resource
import shutil
import signal
import socket
import sys
import tempfile
import warnings
from collections.abc import Callable
from pathlib import PurePosixPath
from typing import Any

from . import kernel

EMPTY_FOLDER = "/empty"
_CHANNEL, _MOST_DESCRIPTORS = 3, 1 << 16
_RECURSION_LIMIT = 1000 + 24  # Python's own, and the harness's frames
Role = Callable[[socket.socket], Any]


class Settings:
    """How the cells of one zygote are made.

    `nested`: in namespaces of their own; `limits`: by the names of `resource`, and `temporary_bytes`; `box`: the
    folder for temporary files; `visible`: paths below /tmp that must stay visible.
    """

    def __init__(self, nested: bool, limits: dict[str, int], box: str, visible: list[str]) -> None:
        self.nested, self.limits, self.box, self.visible = nested, limits, box, visible
        self.work = f"{box}/work"
        self.identity = kernel.identity_maps()
        self.mounts = self._planned_mounts()

    def _planned_mounts(self) -> list[tuple[Callable[..., Any], tuple[Any, ...]]]:
        """Return the calls that give a cell its private folders and hide /proc."""
        box, temporary, shared = self.box, f"{self.box}/tmp", f"{self.box}/shm"
        size = f"size={self.limits['temporary_bytes']},nr_inodes=65536,mode=700"
        plan: list[tuple[Callable[..., Any], tuple[Any, ...]]] = [(kernel.mount_tmpfs, (box.encode(), size.encode()))]
        folders = {self.work, temporary, shared}
        binds = [(shared, "/dev/shm"), (EMPTY_FOLDER, "/proc")]
        for path in self.visible:
            target = temporary + path.removeprefix("/tmp")
            folders.update(str(one) for one in PurePosixPath(target).parents if str(one).startswith(temporary))
            folders.add(target)
            binds.insert(0, (path, target))
        plan += [(os.mkdir, (folder,)) for folder in sorted(folders)]
        return plan + [
            (kernel.mount_bind, (one.encode(), other.encode())) for one, other in [*binds, (temporary, "/tmp")]
        ]

    def prepare_process(self) -> None:
        """Do once, in the zygote, whatever its cells can inherit: each page a cell touches costs it time."""
        kernel.drop_privileges()
        apply_limits(self.limits)
        sys.set_int_max_str_digits(0)
        sys.setrecursionlimit(_RECURSION_LIMIT)
        warnings.simplefilter("ignore")
        random.seed(0)
        if self.nested:
            set_temporary_folder(self.work)


def set_temporary_folder(folder: str) -> None:
    """Point this process and its children at a folder for temporary files."""
    os.environ["TMPDIR"] = os.environ["HOME"] = tempfile.tempdir = folder


class Cell:
    """One running program."""

    def __init__(self, settings: Settings, control: socket.socket, channel: socket.socket, role: Role) -> None:
        self._settings, self.control = settings, control
        self._folder = None
        if not settings.nested:
            self._folder = tempfile.mkdtemp(prefix="alodlm-cell-", dir=settings.box)
            set_temporary_folder(self._folder)
        self.process = kernel.fork(settings.nested)
        if self.process == 0:
            try:
                self._enter(channel, role)
            except OSError as error:
                with contextlib.suppress(OSError):
                    control.send(json.dumps(["failed", str(error)]).encode() + b"\n")
            finally:
                os._exit(70)
        self.descriptor = kernel.process_descriptor(self.process)

    def _enter(self, channel: socket.socket, role: Role) -> None:
        if self._settings.nested:
            kernel.map_identity(self._settings.identity)
            for call, arguments in self._settings.mounts:
                call(*arguments)
            os.chdir(self._settings.work)
            kernel.drop_capabilities()
        else:
            os.chdir(self._folder or "/")
        os.setsid()
        self.control.send(b'["started",%d]\n' % os.getpid())
        kernel.die_with_parent()
        os.dup2(channel.fileno(), _CHANNEL)
        os.closerange(_CHANNEL + 1, _MOST_DESCRIPTORS)
        gc.enable()
        role(socket.socket(socket.AF_UNIX, socket.SOCK_STREAM, 0, _CHANNEL))

    def poll(self) -> int | None:
        """Return the wait status if the program ended by itself, else None."""
        done, status = os.waitpid(self.process, os.WNOHANG)
        return status if done else None

    def end(self, status: int | None, others: set[int]) -> None:
        """Kill the program (`status` None: it still runs) with all it started, and report that nothing is left.

        `others` are the zygote's other cells, which stay.
        """
        if status is None:
            if not self._settings.nested:
                kill_tree([*kernel.descendants(self.process), self.process])
            os.kill(self.process, signal.SIGKILL)
            os.waitpid(self.process, 0)
        if not self._settings.nested:
            self._kill_orphans(others)
            shutil.rmtree(self._folder or "", ignore_errors=True)
        if self.descriptor is not None:
            os.close(self.descriptor)
        with contextlib.suppress(OSError):
            self.control.send(json.dumps(["gone", status]).encode() + b"\n")
        self.control.close()

    def _kill_orphans(self, others: set[int]) -> None:
        """Kill what the program left: in its process group, and among the children that the zygote adopted."""
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.process, signal.SIGKILL)
        while orphans := set(kernel.children(os.getpid())) - others:
            kill_tree([one for orphan in orphans for one in (orphan, *kernel.descendants(orphan))])
            for orphan in orphans:
                with contextlib.suppress(ChildProcessError):
                    os.waitpid(orphan, 0)


def kill_tree(processes: list[int]) -> None:
    """Stop, then kill processes: stopped first, so that none can start another meanwhile."""
    for number in (signal.SIGSTOP, signal.SIGKILL):
        for process in processes:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(process, number)


def apply_limits(limits: dict[str, int]) -> None:
    """Set the resource limits of this process, none above what the container allows."""
    for name, value in limits.items():
        kind = getattr(resource, f"RLIMIT_{name}", None)
        if kind is None:
            continue
        hard = resource.getrlimit(kind)[1]
        allowed = value if hard == resource.RLIM_INFINITY else min(value, hard)
        with contextlib.suppress(ValueError, OSError):
            resource.setrlimit(kind, (allowed, allowed))


def quiet_streams() -> None:
    """Give this process an empty input and a bottomless output."""
    null = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(null, descriptor)
    os.close(null)
    sys.stdin = open(0, closefd=False)  # noqa: SIM115
