"""The system call filter: a classic BPF program, installed once per sandbox by its init.

Another architecture (int 0x80) or the x32 ABI kills the process. Calls newer than LAST_REVIEWED fail with ENOSYS, those in a table
as it says there, and a few are restricted by their arguments. Everything else is allowed without running the filter, because the
kernel caches calls that a filter always allows.
"""
from __future__ import annotations

import ctypes
import errno
from typing import Iterator

from .. import libc
from .bpf import (
    ALLOW, AND, ARCH_AT, ARG0, EACCES, EINVAL, ENOMEM, ENOSYS, EOPNOTSUPP, EPERM, JEQ, JGT, JSET, KILL, NR, SUCCESS, Code, answer, argument,
    deny_all_but, deny_bits, deny_values, load, pack, unless, when)

# name: (x86-64, arm64); None where the architecture has no such call.
DENIED: dict[str, tuple[int | None, int | None]] = {
    # namespaces and mounts
    "unshare": (272, 97), "setns": (308, 268), "mount": (165, 40), "umount2": (166, 39), "pivot_root": (155, 41),
    "chroot": (161, 51), "open_tree": (428, 428), "move_mount": (429, 429), "fsopen": (430, 430),
    "fsconfig": (431, 431), "fsmount": (432, 432), "fspick": (433, 433), "mount_setattr": (442, 442),
    "statmount": (457, 457), "listmount": (458, 458),
    # large kernel attack surface that programs in a session do not need
    "bpf": (321, 280), "perf_event_open": (298, 241), "userfaultfd": (323, 282), "io_uring_setup": (425, 425),
    "io_uring_enter": (426, 426), "io_uring_register": (427, 427), "add_key": (248, 217), "request_key": (249, 218),
    "keyctl": (250, 219), "fanotify_init": (300, 262), "fanotify_mark": (301, 263), "modify_ldt": (154, None),
    "iopl": (172, None), "ioperm": (173, None), "uselib": (134, None), "ustat": (136, None), "sysfs": (139, None),
    "_sysctl": (156, None), "nfsservctl": (180, 42), "lookup_dcookie": (212, 18), "uretprobe": (335, None),
    # other processes
    "ptrace": (101, 117), "process_vm_readv": (310, 270), "process_vm_writev": (311, 271),
    "process_madvise": (440, 440), "process_mrelease": (448, 448), "kcmp": (312, 272), "pidfd_getfd": (438, 438),
    # the machine
    "kexec_load": (246, 104), "kexec_file_load": (320, 294), "init_module": (175, 105), "finit_module": (313, 273),
    "delete_module": (176, 106), "reboot": (169, 142), "swapon": (167, 224), "swapoff": (168, 225),
    "acct": (163, 89), "quotactl": (179, 60), "quotactl_fd": (443, 443), "vhangup": (153, 58),
    "settimeofday": (164, 170), "clock_settime": (227, 112), "clock_adjtime": (305, 266), "adjtimex": (159, 171),
    "sethostname": (170, 161), "setdomainname": (171, 162), "syslog": (103, 116),
    "open_by_handle_at": (304, 265), "name_to_handle_at": (303, 264),
    "mbind": (237, 235), "migrate_pages": (256, 238), "move_pages": (279, 239), "set_mempolicy": (238, 237),
    "set_mempolicy_home_node": (450, 450),
    # memory that no limit of ours counts
    "memfd_create": (319, 279), "memfd_secret": (447, 447), "shmget": (29, 194), "shmat": (30, 196),
    "shmctl": (31, 195), "msgget": (68, 186), "semget": (64, 190), "mq_open": (240, 180),
}
# These fail with ENOSYS, as in a kernel that was built without them, and programs do without.
ABSENT: dict[str, tuple[int | None, int | None]] = {
    # what they may do is behind a pointer; the C library falls back to clone and openat
    "clone3": (435, 435), "openat2": (437, 437),
    # the disks of the host would be busy
    "syncfs": (306, 267),
    # requests are counted for the whole machine, fs.aio-max-nr
    "io_setup": (206, 0), "io_destroy": (207, 1), "io_getevents": (208, 4), "io_submit": (209, 2), "io_cancel": (210, 3),
    "io_pgetevents": (333, 292),
    # compiled filters are counted for the whole machine, net.core.bpf_jit_limit; the init uses prctl (build_last)
    "seccomp": (317, 277),
    # rules are memory of the kernel without a limit; the init has set its own by then
    "landlock_create_ruleset": (444, 444), "landlock_add_rule": (445, 445), "landlock_restrict_self": (446, 446),
}
# These fail with EINVAL, as for files that cannot do this, and programs copy by reading and writing; or by copy_file_range.
UNSUITABLE: dict[str, tuple[int | None, int | None]] = {
    # a pipe or a socket would keep whole pages for single bytes, also after their file was truncated
    "vmsplice": (278, 75), "splice": (275, 76), "tee": (276, 77), "sendfile": (40, 71),
}
# These fail with EOPNOTSUPP, as on a file system without extended attributes, and programs that copy files go on.
UNSUPPORTED: dict[str, tuple[int | None, int | None]] = {
    # a tmpfs keeps access control lists of 64 KiB for each file, in memory that its quota does not count
    "setxattr": (188, 5), "lsetxattr": (189, 6), "fsetxattr": (190, 7),
}
# These do nothing and succeed.
IGNORED: dict[str, tuple[int | None, int | None]] = {
    "sync": (162, 81),  # it cannot fail, and promises no more than that writing has begun
}
# Allowed after a look, because a limit or the kernel's own rules hold them: fallocate (quota of the tmpfs), timer_create (pending
# signals), mlock (RLIMIT_MEMLOCK is 0), futex_waitv, rseq and mseal (the calling process),
# membarrier (waits for other processors, hardly disturbs them), fsync, sync_file_range and readahead (the files of a mount, as
# reading them does), cachestat and mincore (the owner of a file only), pidfd_send_signal (the init ignores signals).
LAST_REVIEWED = 462

_ARCH = 0xC000003E if libc.X86_64 else 0xC00000B7
COLUMN = 0 if libc.X86_64 else 1
_CLONE = 56 if libc.X86_64 else 220
_MMAP, _PRCTL, _CLOSE_RANGE = (9, 157, 436) if libc.X86_64 else (222, 167, 436)
_SOCKET, _SOCKETPAIR, _SETSOCKOPT = (41, 53, 54) if libc.X86_64 else (198, 199, 208)
IOCTL, _PERSONALITY, PRLIMIT = (16, 135, 302) if libc.X86_64 else (29, 92, 261)
SETRLIMIT = 160 if libc.X86_64 else 164
FCNTL = 72 if libc.X86_64 else 25
SETPRIORITY, IOPRIO_SET = (141, 251) if libc.X86_64 else (140, 30)
# The first argument is a process or a thread.
SCHED_SETPARAM, SCHED_SETSCHEDULER, SCHED_SETAFFINITY, SCHED_SETATTR = (
    (142, 144, 203, 314) if libc.X86_64 else (118, 119, 122, 274))
_POLICY, _SCHED_IDLE, _LOWEST_NICE, _NEGATIVE = 0xFF, 5, 5, 0x7FFFFFFF
# Calls that set the mode of a file: (number, index of the mode argument).
_MODES = ((90, 1), (91, 1), (268, 2), (452, 2), (85, 1), (133, 1), (259, 2)) if libc.X86_64 else (
    (52, 1), (53, 2), (452, 2), (33, 2))
# Calls that take a mode only if they create a file: (number, index of the flags); the mode is the next argument.
OPENS = ((2, 1), (257, 2)) if libc.X86_64 else ((56, 2),)

_NAMESPACE_FLAGS = 0x7E020080  # every CLONE_NEW* flag, the time namespace included
_CLONE_FILES, _CLONE_THREAD, _CLOSE_RANGE_UNSHARE = 0x400, 0x10000, 2
_MAP_SHARED, _MAP_ANONYMOUS, _MAP_HUGETLB = 1, 0x20, 0x40000
_PR_SCHED_CORE, _PR_FUTEX_HASH = 62, 78
_SOL_SOCKET, _SO_SNDBUF, _SO_RCVBUF = 1, 7, 8
_SO_ATTACH = (26, 50, 51, 52)  # filters, classic and extended
_TIOCSTI, _TIOCLINUX, _TIOCSETD = 0x5412, 0x541C, 0x5423
_BTRFS_IOC_SYNC = 0x9408
_AF_UNIX, _AF_INET, _AF_INET6 = 1, 2, 10
_SOCK_STREAM, _SOCK_SEQPACKET, _SOCK_TYPE = 1, 5, 0xF
_F_OFD_SETLK, _F_OFD_SETLKW, _F_SETLEASE, _F_NOTIFY = 37, 38, 1024, 1026
_INIT = 1
_PRIO_PROCESS, _IOPRIO_WHO_PROCESS = 0, 1
_CORE_LIMIT = 4
_MARK_LIMIT = 10  # RLIMIT_LOCKS: see proc.py
_SET_ID_BITS = 0o6000
_MAKES_FILE = 0o100 | 0o20000000  # O_CREAT and the bit of O_TMPFILE


def build(has_cgroup: bool, is_supervisor: bool = False, has_network: bool = False) -> bytes:
    """The filter as an array of `struct sock_filter`, for a sandbox with a memory cgroup or without. Calls with rules for their
    arguments come first, because the kernel runs the filter for each of them. `is_supervisor`: members install another filter by a
    call that is denied otherwise; that filter denies it (member_filter.py). `has_network`: its container has one, and it may use it."""
    code = [load(ARCH_AT), *unless(JEQ, _ARCH, KILL), load(NR)]
    if libc.X86_64:
        code += when(JSET, 0x40000000, KILL)
    for number, rules in _argument_rules(has_cgroup):
        code += [(JEQ, 0, len(rules) + 1, number), *rules, answer(ALLOW)]
    code += when(JGT, LAST_REVIEWED, ENOSYS)
    if has_network:
        of_network = deny_all_but(0, _AF_INET, _AF_INET6, action=EACCES)
        code += [(JEQ, 0, len(of_network) + 1, _SOCKET), *of_network, answer(ALLOW)]
    else:
        code += when(JEQ, _SOCKET, EACCES)
    for calls, action in ((DENIED, EPERM), (ABSENT, ENOSYS), (UNSUITABLE, EINVAL), (UNSUPPORTED, EOPNOTSUPP),
                          (IGNORED, SUCCESS)):
        for name, numbers in calls.items():
            number = numbers[COLUMN]
            if number is not None and not (is_supervisor and name == "seccomp"):
                code += when(JEQ, number, action)
    return pack([*code, answer(ALLOW)])


def _argument_rules(has_cgroup: bool) -> Iterator[tuple[int, Code]]:
    """A system call and what it may not do; all else is allowed to it."""
    # Huge pages come from a pool of the machine and count for no process. Nor do pages of shared memory without a name that no process
    # has mapped at the moment, and they stay until all of the mapping is gone; only a cgroup counts them. Bit 0 is in both types of
    # shared mappings, and in no other.
    is_anonymous = [] if has_cgroup else [*unless(JSET, _MAP_ANONYMOUS, ALLOW), *when(JSET, _MAP_SHARED, EPERM)]
    yield _MMAP, [*deny_bits(3, _MAP_HUGETLB, action=ENOMEM), *is_anonymous]
    # In a writable folder of the host, another user of the host could run a set-user-ID file.
    for number, flags in OPENS:
        yield number, [argument(flags), *unless(JSET, _MAKES_FILE, ALLOW), *deny_bits(flags + 1, _SET_ID_BITS)]
    for number, mode in _MODES:
        yield number, deny_bits(mode, _SET_ID_BITS)
    # A lease on a file of the host, mounted for reading or part of the system, makes whoever writes to it wait. Locks of an open file
    # belong to no process, so they could not be counted for one. Database servers use them, and take EINVAL for an old kernel;
    # record locks, which SQLite and Python's `fcntl.lockf` use, and `flock` are allowed.
    yield FCNTL, deny_values(1, _F_SETLEASE, _F_NOTIFY, _F_OFD_SETLK, _F_OFD_SETLKW, action=EINVAL)
    yield IOCTL, deny_values(1, _TIOCSTI, _TIOCLINUX, _TIOCSETD, _BTRFS_IOC_SYNC)
    # A thread with descriptors of its own would hide them from a count over the processes. A process that has those of another could
    # leave it record locks of which the kernel shows no owner.
    thread = [*unless(JSET, _CLONE_FILES, EPERM), answer(ALLOW)]
    yield _CLONE, [*deny_bits(0, _NAMESPACE_FLAGS), (JSET, 0, len(thread), _CLONE_THREAD), *thread,
                   *when(JSET, _CLONE_FILES, EPERM)]
    yield _CLOSE_RANGE, deny_bits(2, _CLOSE_RANGE_UNSHARE, action=EINVAL)
    # A socket for datagrams (SOCK_RAW is one, too) may leave its pair for another of the host, behind a mount even for reading.
    yield _SOCKETPAIR, [*deny_all_but(0, _AF_UNIX), *deny_all_but(1, _SOCK_STREAM, _SOCK_SEQPACKET, mask=_SOCK_TYPE)]
    # The kernel bounds the size of a buffer silently, so it may as well stay what it is.
    yield _SETSOCKOPT, [argument(1), *unless(JEQ, _SOL_SOCKET, ALLOW),
                        *deny_values(2, _SO_SNDBUF, _SO_RCVBUF, action=SUCCESS), *deny_values(2, *_SO_ATTACH)]
    # A table of futexes of any size is memory of the kernel; core scheduling keeps others off the processor.
    # A process that is not dumpable hides its descriptors; agents for keys insist on being so, in a sandbox for no gain.
    yield _PRCTL, [*deny_values(0, _PR_SCHED_CORE, _PR_FUTEX_HASH, action=EINVAL), *unless(JEQ, libc.PR_SET_DUMPABLE, ALLOW),
                   *deny_all_but(1, 1, action=SUCCESS)]
    yield _PERSONALITY, deny_all_but(0, 0, 0xFFFFFFFF)
    # Limits of the calling process, not of the init. The limit of core dumps stays (limits.py); a null pointer only reads it.
    yield PRLIMIT, [*deny_all_but(0, 0), argument(1), *unless(JEQ, _CORE_LIMIT, ALLOW), *deny_all_but(2, 0, action=SUCCESS),
                     load(ARG0 + 8 * 2 + 4), *unless(JEQ, 0, SUCCESS)]
    yield SETRLIMIT, deny_values(0, _CORE_LIMIT, action=SUCCESS)
    # How the init is scheduled decides how soon a limit is enforced. All other processes may be named: the C library never passes 0
    # for a thread of its own, nor do `renice -p $$` and psutil. Groups and users of processes may include the init.
    for number in (SCHED_SETPARAM, SCHED_SETAFFINITY):
        yield number, deny_values(0, _INIT)
    # A process of lower priority than others of its session may hold a lock of the kernel, as of all mounts, for as long as these
    # keep it from the processor. So it stays as it is. What sched_setattr does is behind a pointer.
    yield SCHED_SETSCHEDULER, [*deny_values(0, _INIT), argument(1), (AND, 0, 0, _POLICY), *when(JEQ, _SCHED_IDLE, SUCCESS)]
    yield SCHED_SETATTR, [*deny_values(0, _INIT), answer(ENOSYS)]
    yield SETPRIORITY, [*deny_all_but(0, _PRIO_PROCESS), *deny_values(1, _INIT), argument(2), *when(JGT, _NEGATIVE, ALLOW),
                         *when(JGT, _LOWEST_NICE, SUCCESS)]
    yield IOPRIO_SET, [*deny_all_but(0, _IOPRIO_WHO_PROCESS), *deny_values(1, _INIT)]


def build_last(is_mark_fixed: bool) -> bytes:
    """A second filter on top of the first, for code: no further filter can be installed. `is_mark_fixed`: the limit that serves as a
    mark can be read but not changed."""
    more = [*deny_values(0, libc.PR_SET_SECCOMP, action=EINVAL), answer(ALLOW)]
    code = [load(NR), (JEQ, 0, len(more), _PRCTL), *more]
    if not is_mark_fixed:
        return pack([*code, answer(ALLOW)])
    setting = [*deny_values(0, _MARK_LIMIT), answer(ALLOW)]
    # prlimit changes nothing where its third argument, a pointer, is zero in both halves.
    both = [argument(1), *unless(JEQ, _MARK_LIMIT, ALLOW), *deny_all_but(2, 0), load(ARG0 + 8 * 2 + 4),
            *unless(JEQ, 0, EPERM), answer(ALLOW)]
    return pack([*code, (JEQ, 0, len(setting), SETRLIMIT), *setting, (JEQ, 0, len(both), PRLIMIT), *both, answer(ALLOW)])


# Built once, in the fork server.
_LAST = (build_last(is_mark_fixed=False), build_last(is_mark_fixed=True))

_INOTIFY: dict[str, tuple[int | None, int | None]] = {"inotify_init": (253, None), "inotify_init1": (294, 26)}


def build_without_inotify() -> bytes:
    """A second filter, for workers and commands of a sandbox in which no count of the kernel limits inotify."""
    numbers = [number for numbers in _INOTIFY.values() if (number := numbers[COLUMN]) is not None]
    return pack([load(NR), *(step for number in numbers for step in when(JEQ, number, ENOSYS)), answer(ALLOW)])


# With a listener; after its question only SIGKILL wakes the caller (Linux 5.19).
_FLAGS = (1 << 3 | 1 << 5, 1 << 3)


class _Program(ctypes.Structure):
    _fields_ = [("length", ctypes.c_ushort), ("filter", ctypes.c_char_p)]


def install(program: bytes) -> None:
    """Installs the filter for the calling process, which must have no_new_privs and one thread, and its descendants."""
    argument = _Program(len(program) // 8, program)
    libc.prctl(libc.PR_SET_SECCOMP, 2, ctypes.addressof(argument))


def install_supervised(program: bytes) -> int | None:
    """The same; returns a descriptor on which questions of the filter arrive. None: another program has such a filter on this container."""
    argument = _Program(len(program) // 8, program)
    number = ABSENT["seccomp"][COLUMN]
    for flags in _FLAGS:
        try:
            return libc.syscall(number, 1, flags, ctypes.byref(argument))
        except OSError as error:
            if error.errno == errno.EBUSY:
                return None
            if error.errno != errno.EINVAL or flags == _FLAGS[-1]:
                raise
    return None


def install_last(is_mark_fixed: bool) -> None:
    """Before code runs. Raises OSError if another filter could be installed after it."""
    install(_LAST[is_mark_fixed])
    try:
        libc.prctl(libc.PR_SET_SECCOMP, 2, 0)  # without the filter a null pointer is another error
    except OSError as error:
        if error.errno == errno.EINVAL:
            return
    raise OSError(errno.EPERM, "it could install system call filters")
