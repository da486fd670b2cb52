"""Pipes that the host opens by name: macOS shows no descriptors of other processes. A name exists until the host has opened it."""
from __future__ import annotations

import os
from typing import Iterable

from ..descriptors import close_all


class Fifos:
    def __init__(self, folder: str) -> None:
        os.mkdir(folder, 0o700)
        self._folder = folder
        self._last = 0
        # Our descriptor of the host's end, by number. It keeps the pipe open until the host has its own.
        self._kept: dict[int, int] = {}

    def make(self, kinds: list[bool]) -> tuple[list[int], list[int]]:
        """Pipes as (the numbers that the host opens, the ends of the other process). `kinds`: whether the other process reads it."""
        made: list[int] = []
        theirs: list[int] = []
        try:
            for other_reads in kinds:
                self._last += 1
                path = self._path(self._last)
                os.mkfifo(path, 0o600)
                made.append(self._last)
                reading = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
                writing = os.open(path, os.O_WRONLY | os.O_CLOEXEC)  # does not wait: there is a reader
                os.set_blocking(reading, True)
                self._kept[self._last] = writing if other_reads else reading
                theirs.append(reading if other_reads else writing)
        except OSError:
            close_all(theirs)
            self.taken(made)
            raise
        return made, theirs

    def taken(self, numbers: Iterable[int]) -> None:
        """The host has opened its ends, or will not."""
        for number in numbers:
            close_all([fd] if (fd := self._kept.pop(number, None)) is not None else [])
            try:
                os.unlink(self._path(number))
            except OSError:
                continue

    def _path(self, number: int) -> str:
        return f"{self._folder}/{number}"
