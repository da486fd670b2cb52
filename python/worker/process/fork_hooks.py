"""Patches of Python's own modules around fork and exec, so that output keeps its order; ``exit`` and ``quit``."""

import _posixsubprocess
import builtins
import functools
import os
import sys
import warnings
from typing import Any, Callable, NoReturn, Optional, Tuple


class Quitter:
    """``exit`` and ``quit``: raise SystemExit. Unlike those of ``site`` they do not close stdin."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __repr__(self) -> str:
        return f"Use {self._name}() to end the execution; the session goes on"

    def __call__(self, code: Any = None) -> NoReturn:
        raise SystemExit(code)


# The arguments of fork_exec that become the child's stdout and stderr; -1 means that it inherits ours.
CHILD_OUT, CHILD_ERR = 9, 11


def install(
    flush: Callable[[], None], in_child: Callable[[], None], old_pipes: Callable[[], Optional[Tuple[int, int]]]
) -> None:
    """``flush`` runs before a child process is made, ``in_child`` in the child of a fork. ``old_pipes`` returns the output
    pipes of the calling thread, if they are not fd 1 and 2."""
    builtins.exit, builtins.quit = Quitter("exit"), Quitter("quit")
    sys.argv = [""]
    if sys.path[:1] != [""]:
        sys.path.insert(0, "")
    os.register_at_fork(before=flush, after_in_child=in_child)
    fork_exec = _flushing(_inheriting(_posixsubprocess.fork_exec, old_pipes), flush)
    _posixsubprocess.fork_exec = fork_exec
    subprocess = sys.modules.get("subprocess")
    if hasattr(subprocess, "_fork_exec"):
        subprocess._fork_exec = fork_exec
    for name in ("system", "posix_spawn", "posix_spawnp"):
        setattr(os, name, _flushing(getattr(os, name), flush))
    if sys.version_info >= (3, 12):
        # Every worker has a listener thread, for which a fork is harmless.
        warnings.filterwarnings("ignore", r"This process .* is multi-threaded", DeprecationWarning)


def _inheriting(fork_exec: Callable[..., Any], old_pipes: Callable[[], Optional[Tuple[int, int]]]) -> Callable[..., Any]:
    """A child started by a thread that outlived its execution inherits the pipes of that thread."""

    def inheriting(*args: Any) -> Any:
        pipes = old_pipes()
        if pipes is not None:
            changed = list(args)
            for place, fd in zip((CHILD_OUT, CHILD_ERR), pipes):
                if changed[place] == -1:
                    changed[place] = fd
            return fork_exec(*changed)
        return fork_exec(*args)

    return inheriting


def _flushing(function: Callable[..., Any], flush: Callable[[], None]) -> Callable[..., Any]:
    @functools.wraps(function)
    def flushing(*args: Any, **kwargs: Any) -> Any:
        flush()
        return function(*args, **kwargs)

    return flushing
