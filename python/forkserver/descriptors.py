"""Closing descriptors."""
from __future__ import annotations

import os
import sys
from typing import Iterable

from . import libc


def _is_range_fast() -> bool:
    """Whether Python closes a range by one call, which Linux has since 5.9, and not by one for each number."""
    if sys.platform != "linux":
        return False
    try:
        libc.syscall(libc.CLOSE_RANGE, 0xFFFFFFFF, 0xFFFFFFFF, 0)
        return sys.version_info >= (3, 11)
    except OSError:
        return False


_IS_RANGE_FAST = _is_range_fast()


def close_all(fds: Iterable[int]) -> None:
    """Also if one reports an error: Linux closes it all the same."""
    for fd in fds:
        try:
            os.close(fd)
        except OSError:
            continue


def close_all_but(keep: set[int]) -> None:
    low = 0
    for fd in sorted(keep):
        if low < fd:  # closerange takes an empty range for one without end
            os.closerange(low, fd)
        low = fd + 1
    if _IS_RANGE_FAST:
        os.closerange(low, 1 << 20)
    else:
        close_all(fd for fd in map(int, os.listdir("/proc/self/fd")) if fd >= low)
