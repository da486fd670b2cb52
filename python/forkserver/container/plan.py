"""Confines a sandbox without namespaces, as in a default container: it sees what Landlock allows, and has a folder of its own.

The interface is that of `namespaces.Plan`: the init carries out the plan before any worker exists. A step that fails raises; the
caller ends the sandbox and reports the step. No step is ever skipped.
"""
from __future__ import annotations

import errno
import os
from dataclasses import dataclass
from typing import Callable

from .. import libc
from ..processes import proc
from ..sandbox import checks, interpreter, landlock, limits, seccomp
from ..sandbox.privileged.cgroups import Cgroup, open_events_of_container
from ..sandbox.namespaces import Confined, forget_capabilities
from ..sandbox.trees import Mount, open_exact
from . import member_filter
from .file_changes import is_in
from .scratch import Scratch, disk_usage
from .supervisor import Supervisor

# From this version on, a process cannot signal others outside of its Landlock domain.
_SCOPES_SIGNALS = 6
_TRUNCATE = 3
_OOM_SCORE = "/proc/self/oom_score_adj"
_OF_NETWORK = ("resolv.conf", "hosts", "nsswitch.conf", "services", "protocols")
_DEVICES = ("null", "zero", "full", "random", "urandom")
# Not zero: see namespaces.py.
_WRITABLE_DEVICES = ("null", "full", "random", "urandom")


@dataclass(frozen=True)
class User:
    """Whom a sandbox runs as. `is_own`: nobody else has this user, now or as the owner of files outside the sandbox."""

    uid: int
    gid: int
    is_own: bool


@dataclass(frozen=True)
class Plan:
    """Everything that is decided before the fork, so that the init only has to carry it out."""

    # Files and folders of the system that every sandbox may read.
    system: tuple[str, ...]
    landlock: int
    # System call filters for a sandbox with a user of its own, and for one whose init decides on calls of its members.
    filters: tuple[bytes, bytes]
    # The folder in which pipes have names, if they have, as in a container of an engine, and other folders that every sandbox may use.
    pipes: str | None = None
    shared: tuple[str, ...] = ()
    # Whether it may use the network of its container.
    has_network: bool = False
    # The following differ for each sandbox.
    user: User = User(-1, -1, False)
    mounts: tuple[Mount, ...] = ()
    scratch: Scratch = Scratch("", 0)
    cgroup: Cgroup | None = None
    cgroup_bytes: int = 0
    # Whether it has the user of root (root_files.py). Then folders of the system that can be listed, beside those that can be read.
    is_root: bool = False
    listed: tuple[str, ...] = ()
    counts_processes: bool = False
    # None: the sandbox has a user of its own.
    supervisor: Supervisor | None = None
    descriptors: tuple[int, ...] = ()

    @property
    def kept(self) -> tuple[int, ...]:
        return () if self.supervisor is None else self.supervisor.kept

    @property
    def work(self) -> str:
        return f"{self.scratch.folder}/work"

    @property
    def forks(self) -> str:
        return f"{self.scratch.folder}/forks"

    @property
    def environment(self) -> dict[str, str]:
        temporary = f"{self.scratch.folder}/tmp"
        # Git gives up if there is a file of the system that it cannot read.
        return {"TMPDIR": temporary, "MPLCONFIGDIR": f"{temporary}/.matplotlib", "XDG_CACHE_HOME": f"{temporary}/.cache",
                "GIT_CONFIG_NOSYSTEM": "1"}

    def disk_bytes_used(self) -> int:
        return disk_usage(self.scratch.folder)

    def overflows(self, session_limits: limits.Limits) -> bool:
        return False

    def confine(self, stage: Callable[[str], None]) -> Confined:
        """Confines the calling process, which has just been forked. `stage(name)` is called before each step."""
        user = self.user
        events: int | None = None
        if self.cgroup is not None:
            stage("join a cgroup")
            self.cgroup.join(self.cgroup_bytes)
            events = self.cgroup.open_events()
        elif self.pipes is not None:  # one of an engine, whose limit is around that of the session
            events = open_events_of_container()
        stage("become a group of processes")
        os.setpgid(0, 0)
        libc.prctl(libc.PR_SET_CHILD_SUBREAPER, 1)
        stage("drop privileges")
        forget_capabilities(is_needed=False)
        is_other = os.getresuid() != (user.uid,) * 3 or os.getresgid() != (user.gid,) * 3
        if is_other or (self.is_root and libc.effective_capabilities() >> libc.CAP_SETGID & 1):
            os.setgroups([])
            os.setresgid(user.gid, user.gid, user.gid)
            os.setresuid(user.uid, user.uid, user.uid)
            libc.prctl(libc.PR_SET_DUMPABLE, 1)  # so that /proc/self belongs to the new user
        libc.set_capabilities(0)
        libc.prctl(libc.PR_SET_NO_NEW_PRIVS, 1)
        stage("offer itself to the kernel when memory runs out")
        _write(_OOM_SCORE, b"800")
        stage("forbid core dumps")
        limits.forbid_core_dumps()
        stage("mark its processes")
        proc.join_sandbox(self.scratch.mark)
        stage("enter its folder")
        os.chdir(self.work)
        stage("mount")
        opened = [open_exact(mount.path) for mount in self.mounts]
        stage("restrict with Landlock")
        self._restrict(opened)
        stage("keep other processes from looking into it")
        libc.forbid_tracing()  # the filter ignores this from now on
        stage("install the system call filter")
        if self.supervisor is not None:
            self.supervisor.open()
        seccomp.install(self.filters[self.supervisor is not None])
        stage("find itself confined")
        checks.check_container(user.uid, user.gid, user.is_own, os.path.dirname(self.scratch.folder))
        return Confined(events, None, self.cgroup is not None)

    def become_member(self, session_limits: limits.Limits) -> None:
        """For a worker or a command: its limits, and a second filter on top of the init's."""
        is_own = self.user.is_own
        limits.apply(session_limits)
        member = member_filter.Member(os.getppid(), not is_own, truncates=self.landlock >= _TRUNCATE,
                                      contains_signals=is_own or self.landlock >= _SCOPES_SIGNALS)
        if self.supervisor is None:
            limits.limit_processes(session_limits.processes)
            seccomp.install(member_filter.build(member, is_supervised=False))
            return
        listener = seccomp.install_supervised(member_filter.build(member, is_supervised=True))
        if listener is None:  # the kernel counts every process of the user
            limits.limit_processes(session_limits.processes + proc.threads_of_user(self.user.uid))
            seccomp.install(member_filter.build(member, is_supervised=False))
        self.supervisor.hand_over(listener)

    def _restrict(self, opened: list[int]) -> None:
        readable = [*(os.fsencode(path) for path in self.system), b"/proc"]
        writable = [os.fsencode(path) for path in (self.scratch.folder, *self.shared)]
        for fd, mount in zip(opened, self.mounts):
            (writable if mount.write else readable).append(b"/proc/self/fd/%d" % fd)
        devices = [b"/dev/" + name.encode() for name in _WRITABLE_DEVICES]
        if self.pipes is not None:
            devices.append(os.fsencode(self.pipes))  # code reopens its streams as /dev/stdout
        readable += [b"/dev/" + name.encode() for name in _DEVICES]
        landlock.restrict(self.landlock, writable, devices, readable, map(os.fsencode, self.listed), self.has_network)
        for fd in opened:
            os.close(fd)
        checks.check_unwritable(_OOM_SCORE)  # now, because it belongs to root once nobody may look into this process


def system_plan(landlock_abi: int, home: str, has_network: bool = False) -> Plan:
    """What every sandbox of this fork server sees; computed once."""
    files = (*interpreter.ETC, *(_OF_NETWORK if has_network else ()))
    system = [path for path in (*interpreter.SYSTEM, *(f"/etc/{name}" for name in files)) if os.path.exists(path)]
    filters = (seccomp.build(has_cgroup=False, has_network=has_network),
               seccomp.build(has_cgroup=False, is_supervisor=True, has_network=has_network))
    return Plan((*system, *interpreter.paths(home)), landlock_abi, filters, has_network=has_network)


def check_mounts(mounts: tuple[Mount, ...], scratch: str) -> None:
    """Raises OSError for what Landlock cannot do: it allows everything below a folder, or nothing."""
    for mount in mounts:
        if mount.hidden:
            raise OSError(errno.EOPNOTSUPP, f"it holds secrets ({_name(mount.hidden)}), and they can be hidden in tier A only", mount.path)
        if is_in(scratch, mount.path):
            raise OSError(errno.EACCES, "the files of all sessions are in it", mount.path)
        os.lstat(mount.path)  # it may have been removed since it was checked
        outer = [other.path for other in mounts if other.write and not mount.write and is_in(mount.path, other.path)]
        if outer:
            raise OSError(errno.EOPNOTSUPP, f"it cannot be read-only in {outer[0]}, which may be written", mount.path)


def _name(hidden: tuple[bytes, ...]) -> str:
    more = f" and {len(hidden) - 1} more" if len(hidden) > 1 else ""
    return f"{os.fsdecode(hidden[0])}{more}"


def _write(path: str, content: bytes) -> None:
    fd = os.open(path, os.O_WRONLY | os.O_CLOEXEC)
    try:
        os.write(fd, content)
    finally:
        os.close(fd)
