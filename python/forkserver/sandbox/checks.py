"""Looks at the walls of a sandbox after they were built. A call that reports success may have done nothing: emulated kernels
and some containers accept calls that they do not carry out.

It runs in every init, so it reads and compares bytes: files and text would take several times as long.
"""
from __future__ import annotations

import errno
import os
import re
from typing import NamedTuple

_CAPABILITIES = ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb")
_CONFINED = ("NoNewPrivs:\t1", "Seccomp:\t2")
_ESCAPED = re.compile(rb"\\([0-7]{3})")
_OWN_CGROUP = re.compile(rb"^\d+:(?:\w+,)*memory(?:,\w+)*:.*/rlm-[\d-]+$", re.MULTILINE)


class Shown(NamedTuple):
    """Something is mounted at this path, and perhaps below it."""

    path: str
    write: bool
    has_devices: bool = False


def check(user: int, host_name: str, expected: list[Shown], group: int | None = None, follows_host: bool = False) -> None:
    """Raises OSError for the first wall that does not stand. `group` is the number of the user unless given. `follows_host`: what the
    host mounts may appear."""
    _check_status(_read("/proc/self/status"), user, user if group is None else group)
    if os.uname().nodename != host_name:
        raise _gap("it shows the host's name")
    _check_mounts(_read("/proc/self/mountinfo"), expected, (b"master:", b"propagate_from:") if follows_host else ())


def check_container(user: int, group: int, has_own_user: bool, others: str) -> None:
    """The same where there are no namespaces. `others` is the folder in which those of all sandboxes are."""
    status = _read("/proc/self/status")
    _check_lines(status, [f"Uid:\t{_four(user)}", f"Gid:\t{_four(group)}", *(["Groups:\t "] if has_own_user else []), *_CONFINED,
                          *(f"{name}:\t{'0' * 16}" for name in _CAPABILITIES if name != "CapBnd")])
    for folder in ("/", others):
        try:
            os.close(os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC))
        except PermissionError:
            continue
        raise _gap(f"it can list {folder}")


def check_cgroup() -> None:
    """Raises OSError unless this process is in a memory cgroup that was made for a sandbox (cgroups.py)."""
    if not _OWN_CGROUP.search(_read("/proc/self/cgroup")):
        raise _gap("it is not in its cgroup")


def check_unwritable(path: str) -> None:
    """Raises OSError if a file can be written that only Landlock protects, or where there is none a read-only mount."""
    try:
        os.close(os.open(path, os.O_WRONLY | os.O_CLOEXEC))
    except OSError as error:
        if error.errno in (errno.EACCES, errno.EROFS):
            return
        raise
    raise _gap(f"{path} can be written")


def _check_status(status: bytes, user: int, group: int) -> None:
    _check_lines(status, ["Pid:\t1", f"Uid:\t{_four(user)}", f"Gid:\t{_four(group)}", *_CONFINED, *(f"{name}:\t{'0' * 16}" for name in _CAPABILITIES)])


def _four(number: int) -> str:
    return "\t".join([str(number)] * 4)


def _check_lines(status: bytes, lines: list[str]) -> None:
    for line in lines:
        if f"\n{line}\n".encode() not in status:
            raise _gap(f"its status is not '{line}'")


def _check_mounts(mounts: bytes, expected: list[Shown], allowed: tuple[bytes, ...]) -> None:
    by_path: dict[str, Shown] = {}
    for shown in expected:
        if shown.path not in by_path or shown.write:
            by_path[shown.path] = shown
    missing = set(by_path)
    for line in mounts.rstrip(b"\n").split(b"\n"):  # other white space may be in a path
        fields = line.partition(b" - ")[0].split(b" ")
        path = os.fsdecode(_ESCAPED.sub(lambda match: bytes([int(match[1], 8)]), fields[4]) if b"\\" in fields[4] else fields[4])
        nearest = _nearest(path, by_path)
        if nearest is None or (path == "/" and "/" not in missing):
            raise _gap(f"{path} of the host is there")
        missing.discard(path)
        options = fields[5].split(b",")
        if b"ro" not in options and not nearest.write:
            raise _gap(f"{path} can be written")
        if b"nosuid" not in options or (b"nodev" not in options and not nearest.has_devices):
            raise _gap(f"{path} may have devices or set-user-ID programs")
        if not all(field.startswith(allowed) for field in fields[6:]):  # it is shared with the host, or follows it
            raise _gap(f"mounts of the host appear below {path}")
    if missing:
        raise _gap(f"{min(missing)} is not mounted")


def _nearest(path: str, by_path: dict[str, Shown]) -> Shown | None:
    """The mount at this path, or the innermost above it, whose attributes it has. Nothing else is mounted at the root."""
    while path not in by_path:
        path = path.rpartition("/")[0]
        if not path:
            return None
    return by_path[path]


def _read(path: str) -> bytes:
    fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        parts: list[bytes] = []
        while part := os.read(fd, 65536):
            parts.append(part)
        return b"".join(parts)
    finally:
        os.close(fd)


def _gap(what: str) -> OSError:
    return OSError(errno.EPERM, what)
