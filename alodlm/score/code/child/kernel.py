"""The few system calls that Python 3.11 does not offer: namespaces, mounts, capabilities, death signals.

Every function is best effort where the system lacks the call (macOS, other processors): it returns False.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import platform
import random
import signal
import socket
import sys

LINUX = sys.platform.startswith("linux")
MESSAGES = socket.SOCK_SEQPACKET if LINUX else socket.SOCK_STREAM
_CLONE_NUMBER = {"x86_64": 56, "aarch64": 220}.get(platform.machine())
_NEW_NAMESPACES = 0x10000000 | 0x20000000 | 0x00020000 | 0x08000000  # user, pid, mount, ipc
_PR_SET_PDEATHSIG, _PR_SET_DUMPABLE, _PR_CAPBSET_DROP, _PR_SET_CHILD_SUBREAPER, _PR_SET_NO_NEW_PRIVS = 1, 4, 24, 36, 38
_MS_NOSUID, _MS_NODEV, _MS_BIND, _MS_REC = 2, 4, 4096, 16384
# PyDLL keeps the interpreter lock, so that a raw clone leaves it held by the one thread of the child.
_LIBC = ctypes.PyDLL(None, use_errno=True) if LINUX else None
_HAS_CHILDREN_FILE = os.path.exists(f"/proc/{os.getpid()}/task/{os.getpid()}/children")
_CAPABILITY_HEADER = (ctypes.c_uint32 * 2)(0x20080522, 0)
_NO_CAPABILITIES = (ctypes.c_uint32 * 6)()


def _prctl(option: int, value: int) -> bool:
    return _LIBC is not None and _LIBC.prctl(option, value, 0, 0, 0) == 0


def die_with_parent() -> bool:
    """Have the kernel kill this process when its parent dies."""
    return _prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


def become_subreaper() -> bool:
    """Have orphaned descendants become children of this process."""
    return _prctl(_PR_SET_CHILD_SUBREAPER, 1)


def set_dumpable(dumpable: bool) -> bool:
    """Allow or forbid other processes of the same user to trace this one and read its memory."""
    return _prctl(_PR_SET_DUMPABLE, int(dumpable))


def drop_privileges() -> None:
    """Give up every capability for good, also for programs started later."""
    if _LIBC is None:
        return
    if os.geteuid() == 0:
        for capability in range(64):
            if not _prctl(_PR_CAPBSET_DROP, capability):
                break
    _prctl(_PR_SET_NO_NEW_PRIVS, 1)
    drop_capabilities()


def drop_capabilities() -> None:
    """Give up the capabilities that this process has now."""
    if _LIBC is not None:
        _LIBC.capset(_CAPABILITY_HEADER, _NO_CAPABILITIES)


def fork(namespaces: bool) -> int:
    """Fork a process without threads, into new user, process, mount and ipc namespaces if asked; OSError if refused.

    The bare call spares the child Python's own work after a fork, which costs more than all the rest and which a
    process of one thread does not need.
    """
    if _LIBC is None or _CLONE_NUMBER is None:
        if namespaces:
            raise OSError("no namespaces here")
        if child := os.fork():
            return child
        random.seed(0)  # Python reseeds after a fork of its own
        return 0
    flags = (_NEW_NAMESPACES if namespaces else 0) | signal.SIGCHLD
    child = _LIBC.syscall(_CLONE_NUMBER, flags, 0, 0, 0, 0)
    if child < 0:
        raise OSError(ctypes.get_errno(), "clone")
    return child


def process_descriptor(process: int) -> int | None:
    """Return a descriptor that becomes readable when a child ends; None where the system has none."""
    try:
        return os.pidfd_open(process)
    except (AttributeError, OSError):
        return None


def identity_maps() -> list[tuple[str, bytes]]:
    """Return what keeps this process's user and group ids in a new user namespace."""
    user, group = os.getuid(), os.getgid()
    return [
        ("/proc/self/uid_map", b"%d %d 1" % (user, user)),
        ("/proc/self/setgroups", b"deny"),
        ("/proc/self/gid_map", b"%d %d 1" % (group, group)),
    ]


def map_identity(maps: list[tuple[str, bytes]]) -> None:
    """Write the maps inside a new user namespace. OSError if refused."""
    for path, text in maps:
        descriptor = os.open(path, os.O_WRONLY)
        os.write(descriptor, text)
        os.close(descriptor)


def mount_tmpfs(path: bytes, options: bytes) -> None:
    """Mount a fresh memory file system. OSError if refused."""
    if _LIBC.mount(b"tmpfs", path, b"tmpfs", _MS_NOSUID | _MS_NODEV, options) != 0:
        raise OSError(ctypes.get_errno(), "mount", path)


def mount_bind(source: bytes, target: bytes) -> None:
    """Show `source`, with what is mounted below it, at `target` too. OSError if refused."""
    if _LIBC.mount(source, target, None, _MS_BIND | _MS_REC, None) != 0:
        raise OSError(ctypes.get_errno(), "mount", target)


def children(process: int) -> list[int]:
    """Return the living children of a process, as far as /proc tells."""
    if not _HAS_CHILDREN_FILE:
        return _children_by_search(process)
    found: list[int] = []
    with contextlib.suppress(OSError):
        for task in os.listdir(f"/proc/{process}/task"):
            with contextlib.suppress(OSError, ValueError), open(f"/proc/{process}/task/{task}/children") as file:
                found += map(int, file.read().split())
    return found


def _children_by_search(process: int) -> list[int]:
    """Find children through every process's parent, where the kernel keeps no list."""
    found = []
    for entry in os.listdir("/proc") if LINUX else []:
        with contextlib.suppress(OSError, ValueError), open(f"/proc/{int(entry)}/stat") as file:
            if int(file.read().rpartition(")")[2].split()[1]) == process:
                found.append(int(entry))
    return found


def descendants(process: int) -> list[int]:
    """Return the living descendants of a process, parents first, as far as /proc tells."""
    found = children(process)
    for one in found:
        found += children(one)
    return found
