"""The root of a sandbox as arguments of bubblewrap: the same as namespaces.py builds.

What differs: each writable folder has a quota of its own, because bubblewrap cannot mount a folder of the new root again, or none where
bubblewrap is set-user-ID root; the init watches their sum, and the number of files (plan.py). /proc is always read-only.
"""
from __future__ import annotations

import os
import stat
from dataclasses import dataclass, field
from typing import Iterable

from ..sandbox import checks, classic_mounts, trees
from ..sandbox.namespaces import FORKS, HOST_NAME, READ_ONLY, USER, WORK, WRITABLE, Plan, accounts, is_in
from ..sandbox.trees import Mount

_FOLDERS = ("/etc", "/run", "/var", "/dev")
_DEVICE_LINKS = (("fd", "/proc/self/fd"), ("stdin", "/proc/self/fd/0"), ("stdout", "/proc/self/fd/1"), ("stderr", "/proc/self/fd/2"))
_MODES = {WORK: b"0700", FORKS: b"0700", "/tmp": b"1777", "/dev/shm": b"1777"}


@dataclass
class Layout:
    """`shown` is what must be mounted then, `identities` the device and inode of what must be at a path, `files` descriptors
    that bubblewrap reads."""

    arguments: list[bytes] = field(default_factory=list)
    shown: list[checks.Shown] = field(default_factory=list)
    identities: list[tuple[bytes, int, int]] = field(default_factory=list)
    files: list[int] = field(default_factory=list)

    def add(self, *arguments: str | bytes) -> None:
        self.arguments += [os.fsencode(argument) for argument in arguments]


def namespaces(has_user_namespace: bool, can_disable: bool) -> list[bytes]:
    """`can_disable`: this bubblewrap can forbid further user namespaces. The system call filter does it in any case."""
    wanted = ["--unshare-pid", "--unshare-ipc", "--unshare-net", "--unshare-uts", "--unshare-cgroup-try", "--hostname", HOST_NAME,
              "--as-pid-1"]
    if has_user_namespace:
        wanted += ["--unshare-user", "--uid", str(USER), "--gid", str(USER)]
        if can_disable:
            wanted.append("--disable-userns")
    return [argument.encode() for argument in wanted]


def build(plan: Plan, quota: int | None, user: int, group: int) -> Layout:
    """`plan.mounts` are in the order of `add_to_plan`. `quota` is for each writable folder. Raises OSError if one cannot be mounted. The caller closes `files`."""
    layout = Layout()
    try:
        _build(layout, plan, quota, user, group)
    except BaseException:
        for fd in layout.files:
            os.close(fd)
        raise
    return layout


def _build(layout: Layout, plan: Plan, quota: int | None, user: int, group: int) -> None:
    for folder in _FOLDERS:
        layout.add("--dir", folder)
    for target, path in plan.links:
        layout.add("--symlink", target, path)
    for path, content in accounts(user, group):
        file = os.memfd_create("file")
        layout.files.append(file)
        os.write(file, content)
        os.lseek(file, 0, os.SEEK_SET)
        layout.add("--perms", "0644", "--file", str(file), path)
    for name, target in _DEVICE_LINKS:
        layout.add("--symlink", target, f"/dev/{name}")
    layout.add("--proc", "/proc", "--remount-ro", "/proc")
    for folder in WRITABLE:
        size = () if quota is None else ("--size", str(quota))
        layout.add("--perms", _MODES[folder], *size, "--tmpfs", folder)
    layout.shown += [checks.Shown("/", write=False), checks.Shown("/proc", write=False),
                     *(checks.Shown(path, write=True) for path in WRITABLE)]
    moved: list[str] = []
    for index, mount in enumerate(plan.mounts):
        if not any(is_in(mount.path, later.path) for later in plan.mounts[index + 1:]):  # else it would be covered
            _add_mount(layout, mount, _place(layout, mount, plan.mounts, moved))
    layout.add("--remount-ro", "/", "--chdir", WORK)


def _add_mount(layout: Layout, mount: Mount, path: str) -> None:
    is_device = mount.path.startswith("/dev/")
    layout.add("--dev-bind" if is_device else "--bind" if mount.write else "--ro-bind", mount.path, path)
    layout.shown.append(checks.Shown(path, mount.write, is_device))
    if not mount.exact:
        return
    try:
        source = open_exact(mount.path)
        try:
            status = os.fstat(source)
            layout.identities.append((os.fsencode(path), status.st_dev, status.st_ino))
            _hide(layout, source, path, mount.hidden)
        finally:
            os.close(source)
    except OSError as error:
        raise OSError(error.errno, error.strerror, mount.path) from None


def _hide(layout: Layout, source: int, path: str, hidden: Iterable[bytes]) -> None:
    """A device cannot be opened on a mount that allows none, and nobody can enter a folder without permissions."""
    for name in hidden:
        try:
            found = open_exact(name, source)
        except (FileNotFoundError, NotADirectoryError):
            continue  # it has been removed
        is_folder = stat.S_ISDIR(os.fstat(found).st_mode)
        os.close(found)
        target = os.fsencode(path) + b"/" + name
        if is_folder:
            layout.add("--perms", "0000", "--tmpfs", target, "--remount-ro", target)
        else:
            layout.add("--ro-bind", "/dev/null", target)
        layout.shown.append(checks.Shown(os.fsdecode(target), write=False))


def open_exact(path: str | bytes, folder: int | None = None) -> int:
    """Opens a path, or one below a folder. Fails if it has a symbolic link."""
    if trees.HAS_ONLY_CLASSIC_MOUNTS:
        return classic_mounts.open_exact(os.fsencode(path), folder)
    return trees.open_exact(os.fsdecode(path)) if folder is None else trees.open_below(folder, os.fsencode(path))


def _place(layout: Layout, mount: Mount, mounts: Iterable[Mount], moved: list[str]) -> str:
    """As in namespaces.py: a read-only mount is never attached below a folder that is writable in every sandbox."""
    path = mount.path
    if any(is_in(path, other) for other in moved):
        return READ_ONLY + path
    others = (other.path for other in mounts if other.write)
    if mount.write or not any(is_in(path, folder) for folder in WRITABLE) or any(is_in(path, other) for other in others):
        return path
    moved.append(path)
    layout.add("--symlink", READ_ONLY + path, path)
    return READ_ONLY + path
