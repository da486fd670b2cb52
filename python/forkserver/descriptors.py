"""Closing descriptors."""
from __future__ import annotations

import os
import sys
from typing import Iterable


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
    os.closerange(low, 1 << 20 if sys.version_info >= (3, 11) else os.sysconf("SC_OPEN_MAX"))
