"""Descriptors that a new process must not keep."""
from __future__ import annotations

import os
import sys


def close_all_but(keep: set[int]) -> None:
    low = 0
    for fd in sorted(keep):
        if low < fd:  # an empty range would be read as a range without end
            os.closerange(low, fd)
        low = fd + 1
    os.closerange(low, 1 << 20 if sys.version_info >= (3, 11) else os.sysconf("SC_OPEN_MAX"))
