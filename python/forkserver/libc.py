"""System calls that Python's standard library does not have, by ctypes.

The library handle keeps the GIL (PyDLL): calls are short, and a raw clone must not release it.
"""
from __future__ import annotations

import ctypes
import os
import struct
from errno import EPERM

_libc = ctypes.PyDLL(None, use_errno=True)
# Looked up before the fork: the first access to a function creates an object, in every process that has not inherited it.
# On macOS this module is imported, and none of it is used.
_syscall, _prctl, _mount, _umount, _unshare, _hostname = (
    getattr(_libc, name, _libc.syscall) for name in ("syscall", "prctl", "mount", "umount2", "unshare", "sethostname"))
_syscall.restype = ctypes.c_long

X86_64 = os.uname().machine == "x86_64"

# Numbers above 423 are the same on every architecture.
CLOSE_RANGE = 436
OPEN_TREE = 428
OPENAT2 = 437
MOVE_MOUNT = 429
MOUNT_SETATTR = 442
LANDLOCK_CREATE_RULESET = 444
LANDLOCK_ADD_RULE = 445
LANDLOCK_RESTRICT_SELF = 446
CLONE = 56 if X86_64 else 220
PIVOT_ROOT = 155 if X86_64 else 41
CAPSET = 126 if X86_64 else 91

CAP_CHOWN, CAP_KILL, CAP_SETGID, CAP_SETUID, CAP_SETPCAP = 0, 5, 6, 7, 8

PR_SET_PDEATHSIG = 1
PR_GET_DUMPABLE = 3
PR_SET_DUMPABLE = 4
PR_SET_SECCOMP = 22
PR_CAPBSET_DROP = 24
PR_SET_CHILD_SUBREAPER = 36
PR_SET_NO_NEW_PRIVS = 38
PR_CAP_AMBIENT = 47

CLONE_NEWNS = 0x00020000
CLONE_NEWCGROUP = 0x02000000
CLONE_NEWUTS = 0x04000000
CLONE_NEWIPC = 0x08000000
CLONE_NEWUSER = 0x10000000
CLONE_NEWPID = 0x20000000
CLONE_NEWNET = 0x40000000


def trim_heap() -> None:
    """Gives free memory back to the kernel, which would copy its page tables at each fork. Only glibc can."""
    trim = getattr(_libc, "malloc_trim", None)
    if trim is not None:
        trim(0)


def syscall(number: int, *args: object) -> int:
    """One system call; ints are passed as longs, bytes and buffers by address. Raises OSError on failure."""
    result = _syscall(ctypes.c_long(number), *[ctypes.c_long(a) if isinstance(a, int) else a for a in args])
    if result == -1:
        _fail()
    return result


def prctl(option: int, a: int = 0, b: int = 0, c: int = 0, d: int = 0) -> int:
    result = _prctl(option, ctypes.c_ulong(a), ctypes.c_ulong(b), ctypes.c_ulong(c), ctypes.c_ulong(d))
    if result == -1:
        _fail()
    return result


def forbid_tracing() -> None:
    """No process of the same user can look into the calling process, or open its descriptors."""
    prctl(PR_SET_DUMPABLE, 0)
    if prctl(PR_GET_DUMPABLE) != 0:
        raise OSError(EPERM, "other processes could look into it")


def effective_capabilities() -> int:
    with open("/proc/self/status") as status:
        return next(int(line.split()[1], 16) for line in status if line.startswith("CapEff:"))


def set_capabilities(permitted: int) -> None:
    """The capabilities that the calling process has from now on; it must have them."""
    low, high = permitted & 0xFFFFFFFF, permitted >> 32
    syscall(CAPSET, struct.pack("=II", 0x20080522, 0), struct.pack("=6I", low, low, 0, high, high, 0))


def mount(source: bytes | None, target: bytes, kind: bytes | None, flags: int, data: bytes | None = None) -> None:
    if _mount(source, target, kind, ctypes.c_ulong(flags), data) == -1:
        _fail(target)


def umount_detached(target: bytes) -> None:
    if _umount(target, 2) == -1:
        _fail(target)


def unshare(flags: int) -> None:
    if _unshare(flags) == -1:
        _fail()


def sethostname(name: bytes) -> None:
    if _hostname(name, len(name)) == -1:
        _fail()


def fork_into(namespaces: int) -> int:
    """fork() whose child is the first process of new namespaces: one fork, where unshare would need two.

    Python's fork hooks do not run. They would renew threads and random numbers, which neither process has, and copy a
    hundred pages. They run when the child forks a worker or a job with os.fork(); that also renews the thread id that the
    C library caches, which is the parent's until then.
    """
    pid = _syscall(ctypes.c_long(CLONE), ctypes.c_long(namespaces | 17), 0, 0, 0, 0)
    if pid == -1:
        _fail()
    return pid


def signed(argument: int) -> int:
    """An argument of a system call as the kernel takes it: an int."""
    low = argument & 0xFFFFFFFF
    return low - (1 << 32) if low >> 31 else low


def _fail(target: bytes | None = None) -> None:
    errno = ctypes.get_errno()
    raise OSError(errno, os.strerror(errno), os.fsdecode(target) if target else None)
