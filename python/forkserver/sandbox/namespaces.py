"""Confines a sandbox: its own root, processes, users and host name, and no network.

The init of a sandbox, the first process of its namespaces, runs this before any worker exists. A step that fails raises; the
caller ends the sandbox and reports the step. No step is ever skipped.
"""
from __future__ import annotations

import errno
import os
from dataclasses import dataclass, replace
from typing import Callable, Iterable, NamedTuple

from .. import libc
from . import checks, interpreter, landlock, limits, reports, seccomp
from .trees import Mount, attach, clone_tree, hide, make_parents, write_file

# A cgroup namespace follows when the sandbox is in its own cgroup.
NAMESPACES = (libc.CLONE_NEWUSER | libc.CLONE_NEWNS | libc.CLONE_NEWPID | libc.CLONE_NEWNET | libc.CLONE_NEWIPC
              | libc.CLONE_NEWUTS)
USER = 1000
WORK = "/work"
FORKS = "/forks"  # the working folders of forked sessions
READ_ONLY = "/read-only"  # see _place
INODES = 65536

HOST_NAME = "sandbox"
OOM_SCORE = "/proc/self/oom_score_adj"
_CGROUP_NAMESPACE = "/proc/self/ns/cgroup"
_DEVICES = ("null", "zero", "full", "random", "urandom")
# Not zero: what is open for writing can be mapped shared, which is shared memory without a name (seccomp.py).
WRITABLE_DEVICES = ("null", "full", "random", "urandom")
# Where there is no Landlock to allow only reading, /dev/zero is a file of this length without content.
_ZERO_BYTES = 1 << 60
WRITABLE = (WORK, FORKS, "/tmp", "/dev/shm")

_BIND, _REC, _PRIVATE, _NOSUID, _NODEV, _NOEXEC, _RDONLY, _REMOUNT = 4096, 16384, 1 << 18, 2, 4, 8, 1, 32


@dataclass(frozen=True)
class Plan:
    """Everything that is decided before the fork, so that the init only has to carry it out."""

    links: tuple[tuple[str, str], ...]
    mounts: tuple[Mount, ...]
    disk_bytes: int
    # The kernel's version of Landlock. None: it is not used, and /proc is read-only instead.
    landlock: int | None
    # System call filters for a sandbox without and with a memory cgroup.
    filters: tuple[bytes, bytes]
    uid: int
    gid: int
    # What the user namespace limits: files in /proc/sys/user and their content.
    counts: tuple[tuple[str, int], ...]
    # A socket on which the broker reports what it has done for this sandbox. None: there is no broker.
    report: int | None = None
    # Whether the broker maps a user. If not, the init maps its own.
    has_own_user: bool = False
    # Whether the user or the group that the broker maps is root's (as_root.py).
    is_root: bool = False
    hidden_in_proc: tuple[bytes, ...] = ()
    # Whether the kernel does not limit its processes, because it shares the user of root of the machine.
    counts_processes: bool = False
    # Its folders, as the session sees them, and variables that keep caches out of its files.
    work: str = WORK
    forks: str = FORKS
    # A namespace has what these are for in container/plan.py.
    supervisor: None = None
    kept: tuple[int, ...] = ()

    @property
    def descriptors(self) -> list[int]:
        """What the init needs, besides its own socket and the pipes of its first worker."""
        return [fd for fd in (self.report, *(mount.tree for mount in self.mounts)) if fd is not None]

    @property
    def environment(self) -> dict[str, str]:
        return file_variables()

    def disk_bytes_used(self) -> int:
        store = os.statvfs(WORK)
        return (store.f_blocks - store.f_bfree) * store.f_frsize

    def overflows(self, session_limits: limits.Limits) -> bool:
        return False

    def confine(self, stage: Callable[[str], None]) -> Confined:
        return confine(self, stage)

    def become_member(self, session_limits: limits.Limits) -> None:
        """For a worker or a command of the sandbox."""
        limits.apply(session_limits)
        limits.limit_processes(session_limits.processes + session_limits.other_processes)


class Confined(NamedTuple):
    """Descriptors of an init: for `cgroups.oom_kills`, None if there is no memory cgroup, and of /proc/locks where nobody can open it
    any more. `has_own_cgroup`: the limit of the cgroup is that of the sandbox."""

    events: int | None
    locks: int | None
    has_own_cgroup: bool


def system_plan(landlock_abi: int | None, home: str) -> Plan:
    """What every sandbox of this fork server sees; computed once."""
    links: list[tuple[str, str]] = []
    shown: list[Mount] = []
    for path in (*interpreter.SYSTEM, *(f"/etc/{name}" for name in interpreter.ETC)):
        if os.path.islink(path) and os.path.realpath(path).startswith("/usr/"):
            links.append((os.readlink(path), path))
        elif os.path.exists(path):
            shown.append(Mount(path, write=False))
    shown += [Mount(path, write=False) for path in interpreter.paths(home)]
    devices = _DEVICES if landlock_abi is not None else WRITABLE_DEVICES
    shown += [Mount(f"/dev/{name}", write=True) for name in devices]
    filters = seccomp.build(has_cgroup=False), seccomp.build(has_cgroup=True)
    return Plan(tuple(links), tuple(shown), 0, landlock_abi, filters, os.getuid(), os.getgid(),
                tuple(limits.counts_of_a_sandbox()))


def file_variables() -> dict[str, str]:
    return {"MPLCONFIGDIR": "/tmp/.matplotlib", "XDG_CACHE_HOME": "/tmp/.cache"}


def accounts(user: int, group: int) -> tuple[tuple[str, bytes], ...]:
    """The files that name users and hosts, and their content."""
    passwd = f"root:x:0:0:root:/:/usr/sbin/nologin\nuser:x:{user}:{group}:user:{WORK}:/bin/sh\n"
    return (("/etc/passwd", passwd.encode()), ("/etc/group", f"root:x:0:\nuser:x:{group}:\n".encode()),
            ("/etc/hosts", b"127.0.0.1 localhost sandbox\n"))


def add_to_plan(plan: Plan, mounts: list[Mount], disk_bytes: int, report: int | None, has_own_user: bool,
                is_root: bool) -> Plan:
    """The plan of one sandbox, with its own mounts, outer folders first."""
    ordered = sorted(mounts, key=lambda mount: mount.path)
    return replace(plan, mounts=(*plan.mounts, *ordered), disk_bytes=disk_bytes, report=report, has_own_user=has_own_user,
                   is_root=is_root)


def confine(plan: Plan, stage: Callable[[str], None]) -> Confined:
    """Confines the calling process, which has just been forked by `libc.fork_into(NAMESPACES)`.

    `stage(name)` is called before each step, so that a failure can be reported with its step.
    """
    if not plan.has_own_user:
        stage("map the user")
        write_file("/proc/self/setgroups", b"deny")
        write_file("/proc/self/uid_map", b"%d %d 1" % (USER, plan.uid))
        write_file("/proc/self/gid_map", b"%d %d 1" % (USER, plan.gid))
    stage("set the host name")
    libc.sethostname(HOST_NAME.encode())
    stage("build the root")
    libc.mount(None, b"/", None, _REC | _PRIVATE)
    trees = [(mount, clone_tree(mount) if mount.tree is None else mount.tree) for mount in plan.mounts]  # before the new root hides them
    if plan.has_own_user:
        stage("map the user")  # by now the broker has done it
        assert plan.report is not None
        _become_mapped_user(plan.report)
        stage("build the root")
    shown, locks = _build_root(plan, trees)
    stage("offer itself to the kernel when memory runs out")
    write_file(OOM_SCORE, b"800")
    stage("limit what is counted for its user")
    set_counts(plan.counts)
    if plan.is_root or plan.landlock is None:
        stage("make /proc read-only")
        libc.mount(None, b"/proc", None, _REMOUNT | _BIND | _RDONLY | _NOSUID | _NODEV | _NOEXEC)
    stage("join a cgroup")
    events: int | None = None
    if plan.report is not None:
        events = reports.join_cgroup(plan.report)
        os.close(plan.report)
    _hide_cgroups()
    stage("forbid core dumps")
    limits.forbid_core_dumps()
    stage("drop privileges")
    drop_capabilities()
    libc.prctl(libc.PR_SET_NO_NEW_PRIVS, 1)
    if plan.landlock is not None:
        stage("restrict with Landlock")
        writable = [*WRITABLE, *(m.path for m in plan.mounts if m.write and not m.path.startswith("/dev/"))]
        landlock.restrict(plan.landlock, [os.fsencode(p) for p in writable], [b"/dev/" + d.encode() for d in WRITABLE_DEVICES])
    # Now, because its files belong to root once nobody may look into this process.
    checks.check_unwritable("/dev/zero" if plan.is_root and plan.landlock is not None else OOM_SCORE)
    stage("keep other processes from looking into it")
    libc.forbid_tracing()  # the filter ignores this from now on
    stage("install the system call filter")
    seccomp.install(plan.filters[events is not None])
    stage("find itself confined")
    checks.check(USER, HOST_NAME, shown)
    return Confined(events, locks, events is not None)


def map_self(uid: int, gid: int) -> None:
    """Keeps the user and group of the calling process in its new user namespace, as far as nobody has mapped them yet.
    Id 0 gets another number, because a process without privileges cannot map it further."""
    for name, own in (("uid_map", uid), ("gid_map", gid)):
        with open(f"/proc/self/{name}") as map_file:
            if map_file.read():
                continue
        if name == "gid_map":
            write_file("/proc/self/setgroups", b"deny")
        write_file(f"/proc/self/{name}", b"%d %d 1" % (own or USER, own))


def set_counts(counts: Iterable[tuple[str, int]]) -> None:
    """Limits what is counted for each user of the calling process's user namespace."""
    for name, most in counts:
        write_file(f"/proc/sys/user/{name}", b"%d" % most)


def _hide_cgroups() -> None:
    """The names of its cgroups, of which its own is the root from now on."""
    before = os.stat(_CGROUP_NAMESPACE).st_ino
    libc.unshare(libc.CLONE_NEWCGROUP)
    if os.stat(_CGROUP_NAMESPACE).st_ino == before:
        raise OSError(errno.EPERM, "it sees the cgroups of the host")


def _become_mapped_user(report: int) -> None:
    """Waits until the broker has mapped a user that is not the fork server's, and becomes that user."""
    reports.wait_for_user(report)
    os.setresgid(USER, USER, USER)
    os.setresuid(USER, USER, USER)
    libc.prctl(libc.PR_SET_DUMPABLE, 1)  # so that /proc/self belongs to the new user


def _build_root(plan: Plan, trees: list[tuple[Mount, int]]) -> tuple[list[checks.Shown], int]:
    """Returns what is mounted then, and a descriptor of /proc/locks."""
    of_the_host = os.stat("/tmp").st_dev
    libc.mount(b"tmpfs", b"/tmp", b"tmpfs", _NOSUID | _NODEV, b"size=1m,nr_inodes=1024,mode=0755")
    os.chdir("/tmp")
    if os.stat(".").st_dev == of_the_host:
        raise OSError(errno.EPERM, "nothing was mounted", "/tmp")  # or the next steps would leave folders there
    for folder in ("dev", "proc", "tmp", "etc", "run", "var", "work", "forks", "store", "dev/shm"):
        os.mkdir(folder, 0o755)
    for target, path in plan.links:
        make_parents(path)
        os.symlink(target, path[1:])
    for path, content in accounts(USER, USER):
        write_file(path[1:], content, create=True)
    for name, target in (("fd", "/proc/self/fd"), ("stdin", "/proc/self/fd/0"), ("stdout", "/proc/self/fd/1"),
                         ("stderr", "/proc/self/fd/2")):
        os.symlink(target, f"dev/{name}")
    if plan.landlock is None:
        write_file("dev/zero", b"", create=True)
        os.truncate("dev/zero", _ZERO_BYTES)
    libc.mount(b"proc", b"proc", b"proc", _NOSUID | _NODEV | _NOEXEC)
    # Whoever reads it keeps all processes of the machine from locking files until it gets the processor again.
    locks = os.open("proc/locks", os.O_RDONLY | os.O_CLOEXEC)
    hide("/proc", (b"locks", *plan.hidden_in_proc))
    # One quota for everything that is writable: the working folder, /tmp and shared memory.
    size = b"size=%d,nr_inodes=%d,mode=0755" % (plan.disk_bytes, INODES)
    libc.mount(b"tmpfs", b"store", b"tmpfs", _NOSUID | _NODEV, size)
    for name, target, mode in (("work", "work", 0o700), ("forks", "forks", 0o700), ("tmp", "tmp", 0o1777), ("shm", "dev/shm", 0o1777)):
        os.mkdir(f"store/{name}")
        os.chmod(f"store/{name}", mode)
        libc.mount(f"store/{name}".encode(), target.encode(), None, _BIND)
    libc.umount_detached(b"store")
    os.rmdir("store")
    shown = [checks.Shown("/", write=False), checks.Shown("/proc", write=plan.landlock is not None and not plan.is_root),
             checks.Shown("/proc/locks", write=False),
             *(checks.Shown(path, write=True) for path in WRITABLE)]
    moved: list[str] = []
    for index, (mount, tree) in enumerate(trees):
        if any(is_in(mount.path, later.path) for later in plan.mounts[index + 1:]):
            os.close(tree)  # it would be covered
        else:
            path = _place(mount, plan.mounts, moved)
            attach(mount, tree, path)
            shown.append(checks.Shown(path, mount.write, mount.path.startswith("/dev/")))
            hide(path, mount.hidden)  # before mounts inside of it, which are not hidden
    libc.syscall(libc.PIVOT_ROOT, b".", b".")
    libc.umount_detached(b".")
    os.chdir("/")
    libc.mount(None, b"/", None, _REMOUNT | _BIND | _RDONLY | _NOSUID | _NODEV)
    os.chdir(WORK)
    return shown, locks


def _place(mount: Mount, mounts: Iterable[Mount], moved: list[str]) -> str:
    """The path at which to attach a mount: its own, or one below READ_ONLY, with a link to it at its own path.

    What Landlock allows below a folder it allows in all mounts there, and a read-only mount does not keep a named pipe from
    being written. So a read-only mount is never attached below a folder that is writable in every sandbox.
    """
    path = mount.path
    if any(is_in(path, other) for other in moved):
        return READ_ONLY + path
    others = (other.path for other in mounts if other.write)
    if mount.write or not any(is_in(path, folder) for folder in WRITABLE) or any(is_in(path, other) for other in others):
        return path
    moved.append(path)
    make_parents(path)
    os.symlink(READ_ONLY + path, path[1:])
    return READ_ONLY + path


def is_in(path: str, folder: str) -> bool:
    return path == folder or path.startswith(folder + "/")


def drop_capabilities() -> None:
    forget_capabilities()
    libc.set_capabilities(0)


def forget_capabilities(is_needed: bool = True) -> None:
    """No program that is started later can have any. `is_needed`: it fails where this process may not do that."""
    libc.prctl(libc.PR_CAP_AMBIENT, 4)
    for capability in range(64):
        try:
            libc.prctl(libc.PR_CAPBSET_DROP, capability)
        except OSError as error:
            if error.errno != errno.EINVAL and is_needed:
                raise
            break
