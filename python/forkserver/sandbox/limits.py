"""Resource limits of a worker and its descendants, by setrlimit. They apply to each process; the init watches the sum.

Some resources the kernel counts for a user or a user namespace instead: pending signals, and what /proc/sys/user lists.
"""
from __future__ import annotations

import errno
import os
import re
import resource
import time
from dataclasses import dataclass

# Of what a user may have, all sandboxes of a fork server that is this user get a quarter, so that the user keeps the rest.
_SHARE = 4
# Of one sandbox. Eight watches of files at once have an instance each.
_INOTIFY_INSTANCES, _INOTIFY_WATCHES = 12, 16_384
_PENDING_SIGNALS = 1_024
_SESSION_NICE = 5
_TRIES = 10
# What the kernel needs for the processes of a sandbox, within its cgroup.
_KERNEL_BYTES = 64 * 1024 * 1024


@dataclass(frozen=True)
class Limits:
    memory_bytes: int
    disk_bytes: int
    processes: int
    open_files: int
    # Processes outside of the sandbox that the kernel counts for it as well.
    other_processes: int = 0
    # What each process may map privately beyond its memory. If set, its address space has no limit: it is mostly reserved.
    mapped_bytes: int = 0

    def cgroup_bytes(self, branches: int) -> int:
        """What all processes of a sandbox with this many workers and checkpoints may hold, its files and the kernel's own memory
        included. The init stops a session at its limit before the kernel has to."""
        return self.memory_bytes * branches + self.disk_bytes + _KERNEL_BYTES


def apply(limits: Limits) -> None:
    # The address space limit is generous, because threads and libraries reserve far more than they use. It is there for
    # shared anonymous memory, which RLIMIT_DATA does not count.
    if not limits.mapped_bytes:
        set_limits((resource.RLIMIT_AS, limits.memory_bytes * 4))
    set_limits(
        (resource.RLIMIT_DATA, limits.memory_bytes + limits.mapped_bytes),
        (resource.RLIMIT_NOFILE, limits.open_files),
        (resource.RLIMIT_FSIZE, limits.disk_bytes),
        (resource.RLIMIT_MEMLOCK, 0),
        (resource.RLIMIT_MSGQUEUE, 0),
        (resource.RLIMIT_SIGPENDING, _PENDING_SIGNALS),
        # The host's user may have more; code with a real-time priority would run before everything else on the machine.
        (resource.RLIMIT_RTPRIO, 0),
        (resource.RLIMIT_NICE, 0),
    )


def limit_processes(most: int) -> None:
    """The kernel counts all processes and threads of the user, in its user namespace."""
    set_limits((resource.RLIMIT_NPROC, most))


def forbid_core_dumps() -> None:
    """At a limit of 1 the kernel dumps nothing. At 0 it still starts the program that /proc/sys/kernel/core_pattern names, as root of
    the machine. The filter keeps code from setting another limit."""
    set_limits((resource.RLIMIT_CORE, 1))


def lower_share_of_processors() -> None:
    """For the calling process, which leads a session, and its children.

    Some kernels divide the processors evenly among sessions, and a priority counts only within one (autogroups). This lowers the
    share of the session in which all sandboxes are, so that the host runs in time however many threads they have.
    """
    for _ in range(_TRIES):
        try:
            fd = os.open("/proc/self/autogroup", os.O_WRONLY | os.O_CLOEXEC)
        except OSError:
            return  # this kernel has none
        try:
            os.write(fd, b"%d" % _SESSION_NICE)
            return
        except BlockingIOError:
            time.sleep(0.02)  # the kernel allows an ordinary user one change in a tenth of a second
        except OSError:
            return
        finally:
            os.close(fd)


def set_limits(*limits: tuple[int, int]) -> None:
    """Sets soft and hard limits of the calling process, never above the hard limits it has."""
    for what, value in limits:
        hard = resource.getrlimit(what)[1]
        if hard != resource.RLIM_INFINITY:
            value = min(value, hard)
        resource.setrlimit(what, (value, value))
        if resource.getrlimit(what) != (value, value):
            raise OSError(errno.EPERM, f"limit {what} cannot be set")


def counts_of_all_sandboxes() -> list[tuple[str, int]]:
    """What all sandboxes together may have, as files in /proc/sys/user and their content."""
    return [(f"max_inotify_{name}", allowed // _SHARE) for name, allowed in _inotify().items()]


def counts_of_a_sandbox() -> list[tuple[str, int]]:
    """What one sandbox may have. No user namespace: in a new one, code would have privileges."""
    own = [("max_user_namespaces", 0)]
    if os.path.exists("/proc/sys/user/max_fanotify_groups"):  # since Linux 5.13
        own.append(("max_fanotify_groups", 0))
    most = {"instances": _INOTIFY_INSTANCES, "watches": _INOTIFY_WATCHES}
    return own + [(f"max_inotify_{name}", min(most[name], allowed // _SHARE)) for name, allowed in _inotify().items()]


def other_processes(shares_namespace: bool = False) -> int:
    """The processes and threads that this user has, where the kernel counts them all for a sandbox of this user: before Linux 5.14, and
    where it has no user namespace of its own."""
    if not (shares_namespace or counts_per_user(os.uname().release)):
        return 0
    own, total = _status("self")[0], 0
    for name in os.listdir("/proc"):
        if name.isdigit():
            user, threads = _status(name)
            total += threads if user == own else 0
    return total


def holds_processes() -> bool:
    """Whether the kernel holds this user to its limit of processes. It does not do so with root of the machine, in whatever namespace."""
    pid = os.fork()
    if pid == 0:
        try:
            resource.setrlimit(resource.RLIMIT_NPROC, (0, 0))
            if os.fork() == 0:
                os._exit(0)
            os._exit(1)
        except BlockingIOError:
            os._exit(0)
        finally:
            os._exit(1)
    return os.waitpid(pid, 0)[1] == 0


def counts_per_user(release: str) -> bool:
    found = re.match(r"(\d+)\.(\d+)", release)
    return found is not None and (int(found[1]), int(found[2])) < (5, 14)


def _status(name: str) -> tuple[str, int]:
    """The real user of a process, and its threads. Nobody's for one that is gone."""
    try:
        with open(f"/proc/{name}/status", errors="replace") as file:
            fields = dict(line.split(":", 1) for line in file if ":" in line)
        return fields["Uid"].split()[0], int(fields["Threads"])
    except (OSError, KeyError):
        return "", 0


def keep_pending_signals() -> None:
    """Leaves three quarters of the user's pending signals to other processes: new user namespaces are held to this limit."""
    soft, hard = resource.getrlimit(resource.RLIMIT_SIGPENDING)
    if soft != resource.RLIM_INFINITY:
        resource.setrlimit(resource.RLIMIT_SIGPENDING, (soft // _SHARE, hard))


def _inotify() -> dict[str, int]:
    """What the kernel allows a user, in whatever user namespace."""
    allowed = {}
    for name in ("instances", "watches"):
        try:
            with open(f"/proc/sys/fs/inotify/max_user_{name}") as setting:
                allowed[name] = int(setting.read())
        except FileNotFoundError:
            continue  # the kernel has no inotify
    return allowed
