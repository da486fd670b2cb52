"""Tracks which execution a thread belongs to: the one that started it, directly or through other threads.

All functions that start a thread from Python are wrapped, so the worker knows how many threads live and where the output
of each goes. Threads that a C library starts are not tracked; they do not print.
"""

from __future__ import annotations  # annotations of inner functions would be evaluated in every worker

import _thread
import threading
from typing import Any, Callable, Dict, NamedTuple

start_raw = _thread.start_new_thread  # for the worker's own threads, which are not tracked


class Tag(NamedTuple):
    """``generation`` is the pair of output pipes (streams.py), ``execution`` the id that its calls carry."""

    generation: Any
    execution: str


class Threads:
    """The tags of living threads. ``generation`` and ``execution`` are those of the main thread."""

    def __init__(self, generation: Any, ended: Callable[[Any], None]) -> None:
        self.generation = generation
        self.execution = ""
        self._ended = ended
        self._tags: Dict[int, Tag] = {}

    def install(self) -> None:
        """Wraps the functions that start threads. Once per process."""
        start_new = _thread.start_new_thread

        def start_new_thread(function: Callable[..., Any], args: Any, kwargs: Any = {}, /) -> int:
            return self._start(start_new, ((),), {}, function, args, kwargs)

        _thread.start_new_thread = _thread.start_new = threading._start_new_thread = start_new_thread
        if not hasattr(_thread, "start_joinable_thread"):  # Python 3.13
            return
        start_joinable = _thread.start_joinable_thread

        def start_joinable_thread(function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
            return self._start(start_joinable, args, kwargs, function, (), {})

        _thread.start_joinable_thread = threading._start_joinable_thread = start_joinable_thread

    def tag(self) -> Tag:
        """The tag of the calling thread."""
        return self._tags.get(_thread.get_ident()) or Tag(self.generation, self.execution)

    def forget(self) -> None:
        """For the child of a fork, where only the calling thread lives."""
        self.generation, self.execution = self.tag()
        self._tags.clear()

    def _start(
        self, start: Callable[..., Any], options: Any, named_options: Any, function: Any, args: Any, kwargs: Any
    ) -> Any:
        if not callable(function):
            raise TypeError("first arg must be callable")
        tag = self.tag()
        token = object()
        live = tag.generation.threads

        def body() -> Any:
            ident = _thread.get_ident()
            self._tags[ident] = tag
            try:
                return function(*args, **kwargs)
            finally:
                self._tags.pop(ident, None)
                live.discard(token)
                self._ended(tag.generation)

        live.add(token)
        try:
            return start(body, *options, **named_options)
        except BaseException:
            live.discard(token)
            raise
