"""A cell: one process for one program, with a keeper that ends it and everything it started.

The keeper is the cell's parent. Where namespaces can be had it is process 1 of the cell's own process namespace, so
nothing outlives it; elsewhere it adopts orphans and kills every descendant it finds. It watches one socket: when the
scorer closes it (or dies), the cell ends.
"""

from __future__ import annotations

import contextlib
import errno
import gc
import json
import os
import random
import resource
import select
import shutil
import signal
import socket
import sys
import tempfile
from collections.abc import Callable
from typing import Any

from . import kernel

_KEEP_FROM = 3


class Cell:
    """How cells are made in one zygote: nested namespaces or not, limits, and paths that must stay visible."""

    def __init__(self, nested: bool, limits: dict[str, int], hidden_temporary: str, visible: list[str]) -> None:
        self.nested, self.limits, self.box, self.visible = nested, limits, hidden_temporary, visible

    def start(self, control: socket.socket, channel: socket.socket, run: Callable[[socket.socket], Any]) -> int:
        """Start a cell that runs `run(channel)`; the keeper reports on `control`. Returns the keeper's id."""
        if self.nested:
            user, group = os.getuid(), os.getgid()
            kernel.set_dumpable(True)
            keeper = kernel.clone_into_namespaces()
            if keeper:
                kernel.set_dumpable(False)
                return keeper
        else:
            keeper = os.fork()
            if keeper:
                return keeper
        try:
            if self.nested:
                kernel.map_identity(user, group)
            self._keep(control, channel, run)
        except OSError as error:
            with contextlib.suppress(OSError):
                control.send(json.dumps(["failed", str(error)]).encode())
        finally:
            os._exit(0)

    def _keep(self, control: socket.socket, channel: socket.socket, run: Callable[[socket.socket], Any]) -> None:
        os.setsid()
        kernel.die_with_parent()
        kernel.become_subreaper()
        folder = self._private_folder()
        _close_others({control.fileno(), channel.fileno()})
        keeper = os.getpid()
        program = os.fork()
        if program == 0:
            try:
                self._enter(channel, folder, keeper, run)
            finally:
                os._exit(70)
        kernel.set_dumpable(False)
        channel.close()
        with contextlib.suppress(OSError):
            control.send(json.dumps(["started", keeper]).encode())
        status = _wait(program, control)
        self._end_everything(keeper)
        if not self.nested:
            shutil.rmtree(folder, ignore_errors=True)
        with contextlib.suppress(OSError):
            control.send(json.dumps(["gone", status]).encode())

    def _private_folder(self) -> str:
        if not self.nested:
            return tempfile.mkdtemp(prefix="alodlm-cell-", dir=self.box)
        size = f"size={self.limits['temporary_bytes']},nr_inodes=65536,mode=700"
        kernel.mount_tmpfs(self.box, size)
        work = f"{self.box}/work"
        os.mkdir(work)
        self._hide_temporary()
        kernel.mount_tmpfs("/dev/shm", size)
        kernel.mount_tmpfs("/proc", "size=4096,nr_inodes=2,mode=500")
        return work

    def _hide_temporary(self) -> None:
        temporary = f"{self.box}/tmp"
        os.mkdir(temporary)
        for path in self.visible:
            target = temporary + path[len("/tmp") :]
            os.makedirs(os.path.dirname(target) if os.path.isfile(path) else target, exist_ok=True)
            if os.path.isfile(path):
                open(target, "w").close()
            kernel.mount_bind(path, target)
        kernel.mount_bind(temporary, "/tmp")

    def _enter(self, channel: socket.socket, folder: str, keeper: int, run: Callable[[socket.socket], Any]) -> None:
        os.setsid()
        kernel.die_with_parent()
        if os.getppid() != keeper:
            return
        os.chdir(folder)
        os.environ["TMPDIR"] = tempfile.tempdir = folder
        os.environ["HOME"] = folder
        _close_others({channel.fileno()})
        kernel.drop_privileges()
        apply_limits(self.limits)
        random.seed(0)
        gc.enable()
        run(channel)

    def _end_everything(self, keeper: int) -> None:
        while True:
            if self.nested:
                with contextlib.suppress(ProcessLookupError, PermissionError):
                    os.kill(-1, signal.SIGKILL)
            else:
                kill_tree(kernel.descendants(keeper))
            try:
                os.waitpid(-1, 0)
            except ChildProcessError:
                return


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


def _close_others(kept: set[int]) -> None:
    first = _KEEP_FROM
    for descriptor in sorted(kept):
        os.closerange(first, descriptor)
        first = descriptor + 1
    os.closerange(first, 1 << 16)


def _wait(program: int, control: socket.socket) -> int:
    """Wait until the program ends or the scorer lets go; return its wait status, -1 where it still ran."""
    watched = select.poll()
    watched.register(control, select.POLLIN)
    descriptor = _process_descriptor(program)
    if descriptor is not None:
        watched.register(descriptor, select.POLLIN)
    while True:
        done, status = os.waitpid(program, os.WNOHANG)
        if done:
            return status
        events = watched.poll(None if descriptor is not None else 20)
        if any(number == control.fileno() for number, _ in events):
            return -1


def _process_descriptor(process: int) -> int | None:
    try:
        return os.pidfd_open(process)
    except AttributeError:
        return None
    except OSError as error:
        if error.errno in (errno.ENOSYS, errno.EPERM, errno.EINVAL):
            return None
        raise


def quiet_streams() -> None:
    """Give this process an empty input and a bottomless output."""
    null = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(null, descriptor)
    sys.stdin = open(0, closefd=False)  # noqa: SIM115
