"""The keeper: the parent of a fork server whose sandboxes have no process namespaces.

In a process namespace the kernel ends every process when the init ends. Here processes that lose their parents become children of
the fork server, and of the keeper when that ends. The keeper does nothing while the fork server lives. When the fork server or the
host ends, in whatever way, it ends all that is left and removes its files.
"""
from __future__ import annotations

import os
import signal
from dataclasses import dataclass

from .. import libc
from ..sandbox.privileged import users as users_module
from ..sandbox.privileged.cgroups import Parent, find
from ..sandbox.privileged.users import Users
from . import scratch

_NEEDED = (libc.CAP_CHOWN, libc.CAP_KILL, libc.CAP_SETGID, libc.CAP_SETUID)
_WAKING = {signal.SIGCHLD, signal.SIGTERM}


@dataclass(frozen=True)
class Standing:
    """`users` gives a user to each sandbox. None: they share the user of the host, or of a folder's owner, and `why` is the reason.
    `is_root`: it can become any user."""

    base: scratch.Base
    users: Users | None
    ranges: list[range]
    why: str | None
    is_root: bool
    # Where each sandbox gets a memory cgroup. None: none can be made.
    cgroups: Parent | None = None
    broker: None = None


def start(temporary: str, host: int, configured: tuple[int, int] | None, is_mount: bool) -> Standing:
    """Returns in the fork server, a child of the calling process, which becomes the keeper. `is_mount`: see scratch.Base. Raises
    users.RangeRefused."""
    is_root = os.getuid() == 0 and all(libc.effective_capabilities() >> capability & 1 for capability in _NEEDED)
    users, ranges, why = _find_users(configured) if is_root else (None, [], "it takes root to give sessions users of their own")
    is_root = is_root and bool(ranges)  # else it is root of a user namespace with no other users, as of `unshare -r`
    if is_mount:
        base = scratch.use_mount(temporary)
    else:
        folder = _reachable(temporary) if is_root else temporary
        scratch.remove_stale(folder)
        base = scratch.make_base(folder, others_enter=is_root)
    cgroups = find({os.getpid(), host})
    libc.prctl(libc.PR_SET_CHILD_SUBREAPER, 1)
    signal.pthread_sigmask(signal.SIG_BLOCK, _WAKING)
    libc.prctl(libc.PR_SET_PDEATHSIG, signal.SIGTERM)
    fork_server = os.fork() if os.getppid() == host else -1
    if fork_server != 0:
        _keep(fork_server, base, ranges if users is not None else [], cgroups)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, _WAKING)
    libc.prctl(libc.PR_SET_CHILD_SUBREAPER, 1)
    _keep_only((*_NEEDED, libc.CAP_SETPCAP) if is_root else (libc.CAP_SETPCAP,))
    return Standing(base, users, ranges, why, is_root, cgroups)


def _keep(fork_server: int, base: scratch.Base, own: list[range], cgroups: Parent | None) -> None:
    """Never returns."""
    try:
        libc.forbid_tracing()
        os.closerange(0, 2)  # the host sees that the fork server ends
        while fork_server > 0:
            pid = os.waitpid(-1, os.WNOHANG)[0]
            if pid == fork_server:
                break
            if pid == 0 and signal.sigwait(_WAKING) == signal.SIGTERM:
                os.kill(fork_server, signal.SIGKILL)
        base.remove(own)
        if cgroups is not None:
            cgroups.remove_all(fork_server)
    finally:
        os._exit(0)


def _find_users(configured: tuple[int, int] | None) -> tuple[Users | None, list[range], str | None]:
    ranges = users_module.choose(users_module.ids_here(), configured, users_module.account_ids())
    if not ranges:
        return None, [], "too few ids exist in this user namespace"
    try:
        return Users(ranges, users_module.open_lock_file()), ranges, None
    except OSError as error:
        return None, ranges, error.strerror


def _reachable(temporary: str) -> str:
    """The folder, if every user can reach it; else /tmp."""
    parts = os.path.realpath(temporary).split("/")
    paths = ["/".join(parts[:depth]) for depth in range(2, len(parts) + 1)]
    return temporary if all(os.stat(path).st_mode & 0o001 for path in paths) else "/tmp"


def _keep_only(capabilities: tuple[int, ...]) -> None:
    libc.set_capabilities(libc.effective_capabilities() & sum(1 << capability for capability in capabilities))
