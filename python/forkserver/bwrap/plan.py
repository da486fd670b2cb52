"""Confines a sandbox in namespaces that bubblewrap has made: what is left to do, and a look at what was done.

The interface is that of `namespaces.Plan`: the init carries out the plan before any worker exists. A step that fails raises; the
caller ends the sandbox and reports the step. No step is ever skipped.
"""
from __future__ import annotations

import errno
import os
from dataclasses import dataclass
from typing import Callable

from .. import libc
from ..sandbox import checks, landlock, limits, seccomp
from ..sandbox.namespaces import FORKS, HOST_NAME, INODES, OOM_SCORE, WORK, WRITABLE, WRITABLE_DEVICES, Confined, file_variables

# A quota has as many more, for folders and the like.
_TOLERATED_BYTES = 1024 * 1024


@dataclass(frozen=True)
class Plan:
    # The kernel's version of Landlock. None: it has none.
    landlock: int | None
    filter: bytes
    user: int
    group: int
    shown: tuple[checks.Shown, ...]
    # What must be at a path: the folder that was checked, whatever its path has led to since.
    identities: tuple[tuple[bytes, int, int], ...]
    work: str = WORK
    forks: str = FORKS
    is_root: bool = False
    counts_processes: bool = False
    supervisor: None = None
    kept: tuple[int, ...] = ()
    descriptors: tuple[int, ...] = ()

    @property
    def environment(self) -> dict[str, str]:
        return file_variables()

    def disk_bytes_used(self) -> int:
        stores = [os.statvfs(path) for path in WRITABLE]
        return sum((store.f_blocks - store.f_bfree) * store.f_frsize for store in stores)

    def overflows(self, session_limits: limits.Limits) -> bool:
        """Bubblewrap sets no common quota for all folders, and none for the number of files."""
        files = sum(store.f_files - store.f_ffree for store in map(os.statvfs, WRITABLE))
        return files > INODES or self.disk_bytes_used() > session_limits.disk_bytes + _TOLERATED_BYTES

    def confine(self, stage: Callable[[str], None]) -> Confined:
        """Confines the calling process, the first in its namespaces. `stage(name)` is called before each step."""
        stage("mount")
        self._check_identities()
        stage("forbid core dumps")
        limits.forbid_core_dumps()
        stage("drop privileges")
        libc.set_capabilities(0)
        libc.prctl(libc.PR_SET_NO_NEW_PRIVS, 1)
        if self.landlock is not None:
            stage("restrict with Landlock")
            writable = [*WRITABLE, *(shown.path for shown in self.shown if shown.write and not shown.has_devices)]
            landlock.restrict(self.landlock, [os.fsencode(p) for p in writable], [b"/dev/" + d.encode() for d in WRITABLE_DEVICES])
        checks.check_unwritable(OOM_SCORE)  # now, because it belongs to root once nobody may look into this process
        stage("keep other processes from looking into it")
        libc.forbid_tracing()  # the filter ignores this from now on
        stage("install the system call filter")
        seccomp.install(self.filter)
        stage("find itself confined")
        checks.check(self.user, HOST_NAME, list(self.shown), self.group, follows_host=True)
        return Confined(None, None, False)

    def become_member(self, session_limits: limits.Limits) -> None:
        """For a worker or a command. No user namespace of ours limits how much of inotify it takes from the user of the host."""
        limits.apply(session_limits)
        limits.limit_processes(session_limits.processes + session_limits.other_processes)
        seccomp.install(seccomp.build_without_inotify())

    def _check_identities(self) -> None:
        for path, device, inode in self.identities:
            status = os.lstat(path)
            if (status.st_dev, status.st_ino) != (device, inode):
                raise OSError(errno.ELOOP, "it was replaced while the session was opened", os.fsdecode(path))
