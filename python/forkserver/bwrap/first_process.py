"""What the first process of a sandbox does before it is the init (init.py). It is trusted, and bubblewrap has confined it already."""
from __future__ import annotations

import functools
import gc
import marshal
import os
import signal
import socket
import sys
from typing import Callable, NoReturn

from .. import libc
from ..processes.guest import unpack
from ..sandbox import checks, limits
from .plan import Plan


def pack(plan: Plan, session_limits: limits.Limits, descriptors: dict[str, object]) -> int:
    """A descriptor of what it needs, for `start`."""
    facts = {name: getattr(plan, name) for name in ("landlock", "filter", "user", "group", "identities")}
    facts["shown"] = [tuple(shown) for shown in plan.shown]
    fd = os.memfd_create("plan")
    with open(fd, "wb", closefd=False) as file:
        marshal.dump((facts, vars(session_limits), descriptors), file)
    return fd


def start(packed: int, start_init: Callable[..., NoReturn], run_worker: Callable[..., NoReturn]) -> NoReturn:
    libc.prctl(libc.PR_SET_PDEATHSIG, signal.SIGKILL)  # its parent is bubblewrap
    facts, numbers, descriptors = marshal.loads(os.pread(packed, os.fstat(packed).st_size, 0))
    facts["shown"] = tuple(checks.Shown(*each) for each in facts["shown"])
    plan = Plan(**facts)
    # Each worker replaces these: see server.py.
    sys.stdin = sys.__stdin__ = sys.stdout = sys.__stdout__ = None  # type: ignore[assignment,misc]
    sys.argv[1:] = []
    gc.collect()
    gc.freeze()
    os.dup2(descriptors["errors"], 2)  # from here on the fork server learns of a failure by a message
    control = socket.socket(fileno=descriptors["control"])
    guest = descriptors["guest"]
    worker_main = functools.partial(run_worker, alone=True) if guest is None else unpack(guest)
    start_init(control, descriptors["pipes"], plan, limits.Limits(**numbers), worker_main)
