"""Subordinate ids: users and groups that /etc/subuid and /etc/subgid allot to an ordinary user.

Two set-user-ID programs, newuidmap and newgidmap, make them exist in a user namespace of that user.
"""
from __future__ import annotations

import os
import pwd

from . import users

_FOLDERS = ("/usr/bin", "/bin", "/usr/local/bin")
_TIMEOUT_S = 5


def allotted() -> tuple[list[range], str | None]:
    """The ids that are allotted as users and as groups, or why there are none."""
    uid = os.getuid()
    try:
        names = {pwd.getpwuid(uid).pw_name, str(uid)}
    except KeyError:
        return [], "this user has no account"
    both = users.intersect(_read("/etc/subuid", names), _read("/etc/subgid", names))
    if not both:
        return [], "no subordinate ids are allotted to this user in /etc/subuid and /etc/subgid"
    if not _program("newuidmap") or not _program("newgidmap"):
        return [], "the programs newuidmap and newgidmap are not installed"
    return both, None


def upper_half(ranges: list[range]) -> list[range]:
    """Containers of the same user take their ids from the beginning."""
    return [range(part.start + len(part) // 2, part.stop) for part in ranges]


class Mapper:
    """A process that stays outside of the user namespace that the caller is about to enter, to map ids into it."""

    def __init__(self, ranges: list[range]) -> None:
        self._start_at, start = os.pipe()
        self._result, self._report = os.pipe()
        self._start = start
        target = os.getpid()
        extents = [str(number) for part in ranges for number in (part.start, part.start, len(part))]
        self._pid = os.fork()
        if self._pid == 0:
            try:
                os.close(start)
                if os.read(self._start_at, 1):
                    os.write(self._report, _map(target, extents).encode())
            finally:
                os._exit(0)
        os.close(self._start_at)
        os.close(self._report)

    def map_ids(self) -> str | None:
        """Call it in the new namespace. None if it worked, else why not."""
        os.write(self._start, b"x")
        os.close(self._start)
        with open(self._result, "rb") as result:
            answer = result.read().decode("utf-8", "replace")
        os.waitpid(self._pid, 0)
        return None if answer == "mapped" else answer or "the ids could not be mapped"


def _map(target: int, extents: list[str]) -> str:
    import subprocess  # takes milliseconds, and most fork servers do not need it

    for name, own in (("newuidmap", os.getuid()), ("newgidmap", os.getgid())):
        command = [_program(name), str(target), str(own), str(own), "1", *extents]
        try:
            done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, timeout=_TIMEOUT_S, check=False)
        except (OSError, subprocess.SubprocessError) as error:
            return f"{name} failed: {error}"
        if done.returncode != 0:
            lines = done.stderr.decode("utf-8", "replace").strip().splitlines()
            return f"{name} failed: {lines[-1] if lines else done.returncode}"
    return "mapped"


def _program(name: str) -> str:
    found = (f"{folder}/{name}" for folder in _FOLDERS)
    return next((path for path in found if os.access(path, os.X_OK)), "")


def _read(path: str, names: set[str]) -> list[range]:
    try:
        with open(path, errors="replace") as file:
            lines = [line.strip().split(":") for line in file]
    except OSError:
        return []
    return [range(int(line[1]), int(line[1]) + int(line[2])) for line in lines
            if len(line) == 3 and line[0] in names and line[1].isdigit() and line[2].isdigit()]
