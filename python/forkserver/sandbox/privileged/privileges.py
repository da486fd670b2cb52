"""How the fork server gives up its privileges before it does anything else, and what remains for its sandboxes.

Root becomes the reserved user, and a broker stays root. An ordinary user enters a user namespace in which all sandboxes
together are limited, so that they cannot use up what the kernel allows the user; where subordinate ids are allotted to it, they
exist there, and a broker hands them out.
"""
from __future__ import annotations

import os
from dataclasses import dataclass

from ... import libc
from .. import interpreter, limits, namespaces
from ..trees import Mount, attach_tree, clone_tree, make_target
from . import broker as broker_module, cgroups, subordinate_ids, users
from .broker import Broker


_CHANGE_USER = 1 << 6 | 1 << 7  # CAP_SETGID, CAP_SETUID


@dataclass(frozen=True)
class Standing:
    """`ranges` are the ids of users for sandboxes. Empty: they share a user, and `why` is the reason."""

    broker: Broker | None
    ranges: list[range]
    why: str | None


def give_up(reserved: int | None, home: str, configured: tuple[int, int] | None) -> Standing:
    """`reserved` is the user to become if this is root. Raises users.RangeRefused for a configured range of ids."""
    if reserved is None or not libc.effective_capabilities() >> libc.CAP_SETUID & 1:  # or it is root by name only
        return _enter_limits(home, configured)
    usable, accounts = users.ids_here(), users.account_ids()
    if not any(reserved in part for part in usable):
        instead = users.choose(usable, None, accounts)
        if not instead:
            return _enter_limits(home, configured)  # this is root in a user namespace of an ordinary user
        reserved = instead[-1][-1]
    return _become_reserved(reserved, home, users.choose(usable, configured, accounts | {reserved}))


def _become_reserved(user: int, home: str, ranges: list[range]) -> Standing:
    if not _may_change_user():
        raise PermissionError("it may not become another user")
    broker = broker_module.start(ranges, "too few ids exist in this user namespace", user, _find_cgroup())
    hidden = interpreter.hidden_from(user, home)
    if hidden:
        try:
            _uncover(hidden)
        except OSError as error:
            raise PermissionError(f"other users than root cannot reach the folder of the interpreter ({error})") from None
    os.setgroups([])
    os.setresgid(user, user, user)
    os.setresuid(user, user, user)
    if os.getresuid() + os.getresgid() != (user,) * 6 or os.getgroups():
        raise PermissionError("it cannot give up the privileges of root")
    libc.prctl(libc.PR_SET_DUMPABLE, 1)  # so that /proc/self belongs to the new user
    return Standing(broker, ranges, None)


def _may_change_user() -> bool:
    with open("/proc/self/status") as status:
        effective = next(int(line.split()[1], 16) for line in status if line.startswith("CapEff:"))
    return effective & _CHANGE_USER == _CHANGE_USER


def _enter_limits(home: str, configured: tuple[int, int] | None) -> Standing:
    ranges, why = _subordinate_ranges(home, configured)
    uid, gid = os.getuid(), os.getgid()
    cgroup = _find_cgroup()
    mapper = subordinate_ids.Mapper(ranges) if ranges else None
    limits.keep_pending_signals()
    try:
        libc.unshare(libc.CLONE_NEWUSER)
        if mapper is not None:
            why = mapper.map_ids()
        if why is not None:
            ranges = []
            namespaces.map_self(uid, gid)
    except OSError as error:
        return Standing(None, [], error.strerror)  # a sandbox cannot be made either, and says what to change
    try:
        namespaces.set_counts(limits.counts_of_all_sandboxes())
    except OSError as error:  # /proc/sys is read-only in some containers
        ranges, why = [], f"their sum cannot be limited ({error.strerror})"
    broker = broker_module.start(ranges, why or "", None, cgroup) if ranges or cgroup else None
    namespaces.drop_capabilities()
    return Standing(broker, ranges, why)


def _find_cgroup() -> cgroups.Parent | None:
    return cgroups.find({os.getpid(), os.getppid()})


def _subordinate_ranges(home: str, configured: tuple[int, int] | None) -> tuple[list[range], str | None]:
    allotted, why = subordinate_ids.allotted()
    if configured is not None:
        return users.choose(allotted, configured, users.account_ids()), None
    if why is None and interpreter.hidden_from(-1, home):
        why = "other users cannot reach the folder of the interpreter"
    if why is not None:
        return [], why
    ranges = users.without(subordinate_ids.upper_half(allotted), users.account_ids())
    if users.count(ranges) < users.FEWEST:
        return [], "too few subordinate ids are allotted to this user"
    return ranges, None


def _uncover(paths: list[str]) -> None:
    """In a private mount namespace, replaces inaccessible parents of what is needed by folders that contain only that."""
    libc.unshare(libc.CLONE_NEWNS)
    libc.mount(None, b"/", None, 16384 | (1 << 18))
    mounts = [Mount(path, write=False) for path in paths]
    trees = [(mount, clone_tree(mount)) for mount in mounts]
    for closed in sorted({_closed_parent(path) for path in paths}):
        libc.mount(b"tmpfs", os.fsencode(closed), b"tmpfs", 6, b"size=1m,mode=0755")
    for mount, tree in trees:
        make_target(tree, mount.path)
        attach_tree(mount, tree, mount.path)


def _closed_parent(path: str) -> str:
    parts = path.split("/")
    for depth in range(2, len(parts)):
        parent = "/".join(parts[:depth])
        if not os.stat(parent).st_mode & 0o001:
            return parent
    return os.path.dirname(path)
