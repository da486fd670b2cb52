"""What the worker changes in Python's own modules, so that user code and its children behave as at a prompt."""

import _posixsubprocess
import builtins
import functools
import os
import sys
import warnings
from typing import Any, Callable, NoReturn, Optional, Tuple


class Quitter:
    """``exit`` and ``quit``: raise SystemExit, and leave stdin open, which site's own do not."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __repr__(self) -> str:
        return f"Use {self._name}() to end the execution; the session goes on"

    def __call__(self, code: Any = None) -> NoReturn:
        raise SystemExit(code)


# Where fork_exec takes the descriptors that become the child's stdout and stderr; -1 lets it inherit ours.
CHILD_OUT, CHILD_ERR = 9, 11


def install(
    flush: Callable[[], None], in_child: Callable[[], None], old_pipes: Callable[[], Optional[Tuple[int, int]]]
) -> None:
    """``flush`` runs before any child process is made, so that output keeps its order; ``in_child`` after a fork.
    ``old_pipes`` tells where a child of the calling thread prints, when that is not fd 1 and 2."""
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
        # True of every worker, because of its listener thread, which a fork does not harm.
        warnings.filterwarnings("ignore", r"This process .* is multi-threaded", DeprecationWarning)


def _inheriting(fork_exec: Callable[..., Any], old_pipes: Callable[[], Optional[Tuple[int, int]]]) -> Callable[..., Any]:
    """A child of a thread that outlived its execution prints where that thread prints."""

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
