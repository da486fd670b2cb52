"""Whether a container has the mounts that the host has checked. The engine resolves their paths again, and somebody may have put a link
there meanwhile. Called by the fork server before it forks an init."""
from __future__ import annotations

import os
import stat

from ..sandbox.trees import open_exact

_NULL = os.makedev(1, 3)


class NotExpected(Exception):
    """The number of the mount comes first, then why it is refused."""


def check(mounts: list[dict]) -> None:
    """Raises NotExpected. A mount without expectations is one that this sandbox opens itself."""
    for index, mount in enumerate(mounts):
        expected = mount.get("expected")
        if expected is None:
            continue
        try:
            _check_one(mount["path"], expected["identity"], expected["covered"])
        except OSError as error:
            raise NotExpected(f"{index} the container cannot look at it: {error.strerror}") from None
        except NotExpected as error:
            raise NotExpected(f"{index} {error}") from None


def _check_one(path: str, identity: str, covered: list[str]) -> None:
    root = open_exact(path)
    try:
        status = os.fstat(root)
        if f"{status.st_dev}:{status.st_ino}" != identity:
            raise NotExpected("it was replaced while the container started, or the engine sees another file system there. Try again")
        for name in covered:
            if not _is_covered(root, name.encode("latin-1"), status.st_dev):
                raise NotExpected("a secret in it was replaced while the container started. Try again")
    finally:
        os.close(root)


def _is_covered(root: int, name: bytes, device: int) -> bool:
    """By /dev/null or an empty file system; or it is gone, or in a folder that the user of the session cannot enter."""
    try:
        status = os.stat(name, dir_fd=root, follow_symlinks=False)
    except (FileNotFoundError, NotADirectoryError, PermissionError):
        return True
    if stat.S_ISCHR(status.st_mode):
        return status.st_rdev == _NULL
    return stat.S_ISDIR(status.st_mode) and status.st_dev != device and not os.listdir(b"/proc/self/fd/%d/%s" % (root, name))
