"""A program that takes the place of the Python worker in a confined process: Node, with Python in WebAssembly.

It is started as the last step of becoming a worker, so every wall of the tier is around it. It gets the same pipes. What it needs is
in one open file, the image. Beyond what every sandbox shows of the host, this one shows the program itself (interpreter.py).
"""
from __future__ import annotations

import _signal
import errno
import fcntl
import json
import os
import time
from dataclasses import asdict, dataclass, replace
from typing import Any, NoReturn

from ..sandbox import limits as limits_module

# Memory of the program itself, which is not Python's: code, compiled code, the heap of JavaScript.
_OWN_BYTES = 192 * 1024 * 1024
_LEAST_BYTES = 64 * 1024 * 1024
_PAGE = 65536
_MAX_PAGES = 65536
# Private memory that it may map beyond the limit of the session: Node 24 maps 512 MiB for compiled code in each of its two threads, and
# the stack of the Python thread takes 256 MiB. What it uses of all this is watched.
_MAPPED_BYTES = 2 * 1024 * 1024 * 1024
_MFD_NOEXEC_SEAL = 8
_F_ADD_SEALS = 1033
# F_SEAL_SEAL, F_SEAL_SHRINK, F_SEAL_GROW, F_SEAL_WRITE
_SEALS = 1 | 2 | 4 | 8
# The kernel itself waits a fraction of a second each time.
_SEAL_ATTEMPTS = 50
_SEAL_PAUSE = 0.05


@dataclass(frozen=True)
class Guest:
    """`boot` is its source, `image` a descriptor, `mounts` what the session can use beside its own folders."""

    node: str
    flags: tuple[str, ...]
    boot: str
    image: int
    wheels: str | None = None
    mounts: tuple[str, ...] = ()
    memory_bytes: int = 0

    def with_mounts(self, requested: list[dict]) -> Guest:
        return replace(self, mounts=tuple(each["path"] for each in requested))

    def pack(self) -> dict[str, Any]:
        return asdict(self)

    def __call__(self, commands: int, aside: int, events: int, control: int) -> NoReturn:
        """Becomes the program. `control` is for forks, which it cannot make."""
        os.close(control)
        _signal.signal(_signal.SIGINT, _signal.SIG_IGN)  # until the program has a handler
        for fd in (commands, aside, events, self.image):
            os.set_inheritable(fd, True)
        for fd in (1, 2, events):
            os.set_blocking(fd, False)  # it waits itself, so that an interrupt ends the wait
        pages = min(max(self.memory_bytes - _OWN_BYTES, _LEAST_BYTES) // _PAGE, _MAX_PAGES)
        settings = {"commands": commands, "aside": aside, "events": events, "image": self.image, "folder": os.getcwd(),
                    "temporary": os.environ.get("TMPDIR", "/tmp"), "mounts": self.mounts, "wheels": self.wheels, "pages": pages,
                    "env": {name: os.environ[name] for name in ("HOME", "TMPDIR", "USER", "LANG") if name in os.environ}}
        arguments = [self.node, *self.flags, "-e", self.boot, "--", json.dumps(settings)]
        os.execve(self.node, arguments, {})


def seal(image: int) -> None:
    """Replaces the descriptor of the image by one of a copy in memory that nobody can change. All sessions share it, and sessions of an
    ordinary user own the file, so they could change its content or its mode. Where the system has no such copies the file remains."""
    copy = _sealable()
    if copy is None:
        return
    size = os.fstat(image).st_size
    at = 0
    while at < size:
        at += os.sendfile(copy, image, at, size - at)
    _add_seals(copy)
    os.dup2(copy, image, inheritable=False)
    os.close(copy)


def _add_seals(copy: int) -> None:
    """On a busy machine the kernel may still hold pages that were just written. It refuses the seals as long as it does."""
    for attempt in range(_SEAL_ATTEMPTS):
        try:
            fcntl.fcntl(copy, _F_ADD_SEALS, _SEALS)
            return
        except OSError as error:
            if error.errno != errno.EBUSY or attempt == _SEAL_ATTEMPTS - 1:
                raise
        time.sleep(_SEAL_PAUSE)


def _sealable() -> int | None:
    if not hasattr(os, "memfd_create"):
        return None
    for flags in (_MFD_NOEXEC_SEAL, 0):  # before Linux 6.3 there is no such flag, and after it a system may demand it
        try:
            return os.memfd_create("rlm-image", flags | os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
        except OSError:
            pass
    return None


def unpack(packed: dict[str, Any]) -> Guest:
    return Guest(**{**packed, "flags": tuple(packed["flags"]), "mounts": tuple(packed.get("mounts", ()))})


def limited(limits: limits_module.Limits, worker_main: Any) -> tuple[limits_module.Limits, Any]:
    """The program limits the memory of Python. Its own address space is mostly reserved, and has no limit."""
    if not isinstance(worker_main, Guest):
        return limits, worker_main
    return replace(limits, mapped_bytes=_MAPPED_BYTES), replace(worker_main, memory_bytes=limits.memory_bytes)


def kept_by(worker_main: object) -> tuple[int, ...]:
    """The descriptors that a worker needs beside its pipes."""
    return (worker_main.image,) if isinstance(worker_main, Guest) else ()
