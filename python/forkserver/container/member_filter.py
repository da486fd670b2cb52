"""The second system call filter of workers and commands in a sandbox without namespaces, on top of the first (seccomp.py)."""
from __future__ import annotations

from dataclasses import dataclass
from typing import Iterator

from .. import libc
from ..sandbox.bpf import (
    ALLOW, AND, ARG0, ASK, EACCES, ENOSYS, EOPNOTSUPP, EPERM, JEQ, JEQ_X, NR, SUCCESS, TAX, Code, answer, argument,
    deny_all_but, deny_values, load, pack, unless, when)
from ..sandbox.seccomp import (
    ABSENT, COLUMN, OPENS, FCNTL, IOCTL, PRLIMIT, SETRLIMIT, SETPRIORITY,
    IOPRIO_SET, SCHED_SETPARAM, SCHED_SETSCHEDULER, SCHED_SETAFFINITY, SCHED_SETATTR)

# Denied with EPERM.
_SHARED_IPC: dict[str, tuple[int | None, int | None]] = {
    # objects of the host, by numbers that can be guessed
    "semop": (65, 193), "semtimedop": (220, 192), "semctl": (66, 191), "msgsnd": (69, 189), "msgrcv": (70, 188), "msgctl": (71, 187),
    # names of sockets, which are the host's where they are not files
    "bind": (49, 200),
}
# These fail with ENOSYS.
_UNSEEN: dict[str, tuple[int | None, int | None]] = {
    # names of files that Landlock does not allow to list
    "inotify_init": (253, None), "inotify_init1": (294, 26), "inotify_add_watch": (254, 27),
    # a signal to a descriptor that may stand for the init; programs use kill instead
    "pidfd_send_signal": (424, 424), "tkill": (200, 130),
    # the first filter leaves this to them, so that they can install this one
    "seccomp": ABSENT["seccomp"],
}
# Where the user of the host has the same id, it owns files that Landlock does not protect from these, by a path or by a descriptor that
# may only be read. The init decides on the first (file_changes.py), where it can be asked. The others do nothing and succeed, as on a
# file system without permissions.
CHMOD, FCHMOD, FCHMODAT, FCHMODAT2, UTIMENSAT = (90, 91, 268, 452, 280) if libc.X86_64 else (-1, 52, 53, 452, 88)
FILE_CHANGES = tuple(number for number in (CHMOD, FCHMOD, FCHMODAT, FCHMODAT2, UTIMENSAT) if number != -1)
_METADATA: dict[str, tuple[int | None, int | None]] = {
    "chown": (92, None), "lchown": (94, None), "fchownat": (260, 54), "fchown": (93, 55),
    "utime": (132, None), "utimes": (235, None), "futimesat": (261, None),
}
_NO_ATTRIBUTES: dict[str, tuple[int | None, int | None]] = {
    "removexattr": (197, 14), "lremovexattr": (198, 15), "fremovexattr": (199, 16),
}
_TRUNCATE = 76 if libc.X86_64 else 45
_KILL_CALL, _TGKILL, _PIDFD_OPEN, _SETPGID = (62, 234, 434, 109) if libc.X86_64 else (129, 131, 434, 154)
# clone, fork, vfork
NEW_PROCESSES = (56, 57, 58) if libc.X86_64 else (220,)
# rt_sigqueueinfo, rt_tgsigqueueinfo
_QUEUES = (129, 297) if libc.X86_64 else (138, 240)
_F_SETOWN, _F_SETSIG, _F_SETOWN_EX = 8, 10, 15
_FIOSETOWN, _SIOCSPGRP = 0x8901, 0x8902
# Flags, version and project of a file, its encryption, and that it can never be written again (fs-verity).
_FILE_SETTINGS = (0x40086602, 0x40087602, 0x401C5820, 0x800C6613, 0x40806685)
_SANDBOX_MARK_LIMIT = 15  # RLIMIT_RTTIME: see proc.py
_O_ACCMODE, _O_TRUNC = 3, 0o1000


@dataclass(frozen=True)
class Member:
    """What a filter for members depends on. They have the user of their `init`.

    `shares_user`: others have this user, too. `truncates`: Landlock decides which files may be truncated. `contains_signals`: another
    wall keeps signals in the sandbox.
    """

    init: int
    shares_user: bool
    truncates: bool
    contains_signals: bool


def build(member: Member, is_supervised: bool) -> bytes:
    """`is_supervised`: the init decides on calls about other processes (supervisor.py), which are denied otherwise, and on new processes
    and threads. Then none can be started once the init has ended, not even by those that always fork before they are found."""
    code = [load(NR)]
    for number, rules in _rules(member, ASK if is_supervised else EPERM):
        code += [(JEQ, 0, len(rules) + 1, number), *rules, answer(ALLOW)]
    tables = [(_SHARED_IPC, EPERM), (_UNSEEN, ENOSYS)]
    if member.shares_user:
        tables += [(_METADATA, SUCCESS), (_NO_ATTRIBUTES, EOPNOTSUPP)]
        for number in FILE_CHANGES:
            code += when(JEQ, number, ASK if is_supervised else SUCCESS)
    for calls, action in tables:
        for numbers in calls.values():
            number = numbers[COLUMN]
            if number is not None:
                code += when(JEQ, number, action)
    if not member.truncates:
        code += when(JEQ, _TRUNCATE, EPERM)
    return pack([*code, answer(ALLOW)])


def _rules(member: Member, others: int) -> Iterator[tuple[int, Code]]:
    """`others` is the action for a call about another process, where the user has processes outside of the sandbox."""
    init = member.init
    # Not the init, its group, or all processes of the user.
    not_init = deny_values(0, init, 0x1_0000_0000 - init, 0xFFFFFFFF)
    if member.contains_signals:
        for number in (_KILL_CALL, _TGKILL, *_QUEUES):
            yield number, not_init
        yield _SETPGID, deny_values(1, init)
    else:
        # 0 is the own group. In it are processes of the sandbox only, because a process can begin a group and not join one.
        yield _KILL_CALL, [*not_init, *when(JEQ, 0, ALLOW), answer(others)]
        yield _TGKILL, [*not_init, answer(others)]
        for number in _QUEUES:
            yield number, [answer(EPERM)]
        yield _SETPGID, [argument(0), (TAX, 0, 0, 0), argument(1), *when(JEQ, 0, ALLOW), *unless(JEQ_X, 0, EPERM)]
    if others == ASK:
        for number in NEW_PROCESSES:
            yield number, [answer(ASK)]
    yield _PIDFD_OPEN, not_init
    yield FCNTL, deny_values(1, _F_SETOWN, _F_SETSIG, _F_SETOWN_EX)
    yield IOCTL, [*deny_values(1, _FIOSETOWN, _SIOCSPGRP),
                   *(step for value in _FILE_SETTINGS if member.shares_user for step in when(JEQ, value, EOPNOTSUPP))]
    other = [*when(JEQ, 0, ALLOW), answer(others)] if member.shares_user else []
    for number in (SCHED_SETPARAM, SCHED_SETSCHEDULER, SCHED_SETAFFINITY, SCHED_SETATTR):
        yield number, [*deny_values(0, init), *other]
    for number in (SETPRIORITY, IOPRIO_SET):
        yield number, [*deny_values(1, init), *other]
    yield SETRLIMIT, deny_values(0, _SANDBOX_MARK_LIMIT, action=SUCCESS)
    yield PRLIMIT, [argument(1), *unless(JEQ, _SANDBOX_MARK_LIMIT, ALLOW), *deny_all_but(2, 0, action=SUCCESS),
                     load(ARG0 + 8 * 2 + 4), *unless(JEQ, 0, SUCCESS)]
    # Landlock allows to open any file neither for reading nor for writing (access mode 3), which is enough to change its mode. Before
    # its third version it does not see that a file is truncated, for which the kernel asks no more than to own it.
    for number, flags in OPENS:
        opening = [argument(flags), (AND, 0, 0, _O_ACCMODE), *when(JEQ, _O_ACCMODE, EACCES)]
        if not member.truncates:
            opening += [argument(flags), (AND, 0, 0, _O_ACCMODE | _O_TRUNC), *when(JEQ, _O_TRUNC, EACCES)]
        yield number, opening
