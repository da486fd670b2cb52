"""What the worker changes in Python's own modules, so that user code and its children behave as at a prompt."""

import _posixsubprocess
import builtins
import functools
import os
import sys
import warnings
from typing import Any, Callable, NoReturn


class Quitter:
    """``exit`` and ``quit``: raise SystemExit, and leave stdin open, which site's own do not."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __repr__(self) -> str:
        return f"Use {self._name}() to end the execution; the session goes on"

    def __call__(self, code: Any = None) -> NoReturn:
        raise SystemExit(code)


def install(flush: Callable[[], None], in_child: Callable[[], None]) -> None:
    """``flush`` runs before any child process is made, so that output keeps its order; ``in_child`` after a fork."""
    builtins.exit, builtins.quit = Quitter("exit"), Quitter("quit")
    sys.argv = [""]
    if sys.path[:1] != [""]:
        sys.path.insert(0, "")
    os.register_at_fork(before=flush, after_in_child=in_child)
    fork_exec = _flushing(_posixsubprocess.fork_exec, flush)
    _posixsubprocess.fork_exec = fork_exec
    subprocess = sys.modules.get("subprocess")
    if hasattr(subprocess, "_fork_exec"):
        subprocess._fork_exec = fork_exec
    for name in ("system", "posix_spawn", "posix_spawnp"):
        setattr(os, name, _flushing(getattr(os, name), flush))
    if sys.version_info >= (3, 12):
        # True of every worker, because of its listener thread, which a fork does not harm.
        warnings.filterwarnings("ignore", r"This process .* is multi-threaded", DeprecationWarning)


def _flushing(function: Callable[..., Any], flush: Callable[[], None]) -> Callable[..., Any]:
    @functools.wraps(function)
    def flushing(*args: Any, **kwargs: Any) -> Any:
        flush()
        return function(*args, **kwargs)

    return flushing
