"""The fork server where no namespaces can be made: an init is an ordinary child, and has a folder and perhaps a user.

When an init ends, its processes become children of this one. A cleaner (scratch.py) ends them and empties the folder; the sandbox is
closed when that is done.
"""
from __future__ import annotations

import errno
import os
import socket
from dataclasses import dataclass, replace

from . import init, pipes
from .container import mount_checks, plan as plans, root_files, scratch as scratches  # noqa: F401: an init uses root_files
from .container.file_changes import FileChanges
from .container.keeper import Standing
from .container.supervisor import Supervisor
from .descriptors import close_all
from .outbox import Outbox
from .sandbox import interpreter, limits
from .sandbox.trees import Mount
from .sandbox.privileged.users import Users
from .server import Sandbox, Server

_MAX_TRIES = 20


@dataclass
class _Cleaning:
    number: int
    init: int
    plan: plans.Plan
    tries: int = 1


class ContainerServer(Server):
    _standing: Standing  # type: ignore[assignment]
    _plan: plans.Plan  # type: ignore[assignment]
    # Folders that every sandbox may use: those of a container that has one.
    _shared: tuple[str, ...] = ()
    _has_network = False

    def __init__(self, worker_main: init.WorkerMain, standing: Standing, home: str, tier: str,
                 most_landlock: int | None = None) -> None:
        self._home = home
        self._plans: dict[int, plans.Plan] = {}
        self._cleanings: dict[int, _Cleaning] = {}
        super().__init__(worker_main, standing, home, tier, most_landlock)  # type: ignore[arg-type]

    def _make_plan(self, home: str) -> plans.Plan:  # type: ignore[override]
        plan = plans.system_plan(self._landlock, home, self._has_network)
        return replace(plan, pipes=pipes.folder, shared=self._shared)

    def _open(self, number: int, order: dict) -> None:
        requested = order["limits"]
        sandbox_limits = limits.Limits(
            requested["memoryBytes"], requested["diskBytes"], requested["processes"], requested["openFiles"])
        mounts = tuple(Mount(mount["path"], mount["write"], hidden=tuple(path.encode("latin-1") for path in mount["hidden"]))
                       for mount in order["mounts"])
        scratch = self._standing.base.scratch(number)
        user: plans.User | None = None
        cgroup = None if self._standing.cgroups is None else self._standing.cgroups.place(number)
        ends: tuple[socket.socket, ...] = ()
        ours: list[int] = []
        theirs: list[int] = []
        stage = "check what is mounted"
        try:
            mount_checks.check(order["mounts"])
            stage = "mount"
            plans.check_mounts(mounts, scratch.folder)
            stage = "take a user"
            user = self._choose_user(mounts)
            stage = "make its folder"
            scratches.make(scratch, user.uid, user.gid)
            stage = "make pipes"
            ours, theirs = pipes.make(pipes.OF_A_WORKER)
            ends = server_end, init_end = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
            files = FileChanges((scratch.folder, *(mount.path for mount in mounts if mount.write)))
            supervisor = None if user.is_own else Supervisor(scratch.mark, sandbox_limits.processes, files)
            plan = replace(self._plan, user=user, mounts=mounts, scratch=scratch, cgroup=cgroup,
                           cgroup_bytes=sandbox_limits.cgroup_bytes(1), supervisor=supervisor, is_root=user.uid == 0)
            stage = "fork"
            pid = os.fork()
        except Exception as error:
            close_all(theirs)
            pipes.close(ours)
            for end in ends:
                end.close()
            if user is not None and user.is_own:
                self._users_of_sandboxes().put_back(user.uid)
            scratches.remove_made(scratch)
            self._fail(number, stage, error)
            return
        if pid == 0:
            try:
                init.start(init_end, theirs, plan, sandbox_limits, self._main_for(order), self._private.get())
            finally:
                os._exit(1)
        if user.is_own:
            self._users_of_sandboxes().bind(user.uid, pid, os.pidfd_open(pid))
        self._plans[number] = plan
        close_all([init_end.detach(), *theirs])
        self._add(number, Sandbox(pid, server_end, Outbox(server_end, self._epoll), ours, None, sandbox_limits), plan)

    def _cgroup_version(self) -> int | None:
        return None if self._standing.cgroups is None else self._standing.cgroups.version

    def _allow_branch(self, sandbox: Sandbox, branch: int) -> None:
        super()._allow_branch(sandbox, branch)
        cgroup = self._plans[self._by_pid[sandbox.pid]].cgroup
        if len(sandbox.branches) > sandbox.most_branches and cgroup is not None and sandbox.limits is not None:
            sandbox.most_branches = len(sandbox.branches)
            cgroup.set_limit(sandbox.limits.cgroup_bytes(sandbox.most_branches))

    def _choose_user(self, mounts: tuple[Mount, ...]) -> plans.User:
        """A user of its own; the owner of folders that nobody else can use; or the host's user, if that is not root."""
        standing = self._standing
        if not standing.is_root:
            return plans.User(os.getuid(), os.getgid(), False)
        hidden = interpreter.hidden_from(-1, self._home)
        if hidden:
            raise OSError(errno.EACCES, "other users than root cannot reach the folder of the interpreter", hidden[0])
        owners = {owner for mount in mounts if (owner := _owner_needed(mount)) is not None}
        if len(owners) > 1:
            raise OSError(errno.EACCES, "the mounted folders belong to different users, and a session has one")
        if owners:
            return plans.User(*owners.pop(), False)
        if standing.users is None:
            raise OSError(errno.EAGAIN, standing.why)
        number = standing.users.take()
        return plans.User(number, number, True)

    def _users_of_sandboxes(self) -> Users:
        assert self._standing.users is not None
        return self._standing.users

    def _end(self, number: int, sandbox: Sandbox) -> None:
        self._clean(_Cleaning(number, sandbox.pid, self._plans.pop(number)))

    def _clean(self, cleaning: _Cleaning) -> None:
        user = cleaning.plan.user
        try:
            pid = scratches.start_cleaner(cleaning.plan.scratch, user.uid, user.gid, user.is_own)
        except OSError:
            return  # the keeper does it
        self._cleanings[pid] = cleaning

    def _reaped_other(self, pid: int, status: int) -> None:
        cleaning = self._cleanings.pop(pid, None)
        if cleaning is None:
            return
        if status != 0 and cleaning.tries < _MAX_TRIES:  # a process of the sandbox may have killed it
            cleaning.tries += 1
            self._clean(cleaning)
            return
        scratches.remove_emptied(cleaning.plan.scratch)
        if cleaning.plan.cgroup is not None:
            cleaning.plan.cgroup.remove()
        if cleaning.plan.user.is_own and status == 0:
            self._users_of_sandboxes().give_back(cleaning.init)
        self._send({"event": "closed", "sandbox": cleaning.number})


def _owner_needed(mount: Mount) -> tuple[int, int] | None:
    """The user who must use a folder, if not everybody can."""
    status = os.stat(mount.path)
    needed = 0o7 if mount.write else 0o5
    if not mount.write and _can_reach(mount.path) and status.st_mode & needed in (needed, 0o4):
        return None
    return status.st_uid, status.st_gid


def _can_reach(path: str) -> bool:
    parts = path.split("/")
    return all(os.stat("/".join(parts[:depth])).st_mode & 0o001 for depth in range(2, len(parts)))
