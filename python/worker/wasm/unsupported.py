"""What Python in WebAssembly does not have: it fails with the reason, the capability, and what to use instead."""

import os
import socket
import subprocess
import sys
import _thread
import threading
import zoneinfo._common as zones
from importlib.machinery import ModuleSpec
from typing import Any, Callable, NoReturn, Optional

WHERE = "the 'wasm' environment"
# Modules of the standard library that Pyodide leaves out.
ABSENT = ("curses", "dbm.gnu", "dbm.ndbm", "ensurepip", "grp", "idlelib", "lib2to3", "nis", "ossaudiodev",
          "pwd", "readline", "resource", "spwd", "syslog", "test", "tkinter", "turtle", "turtledemo", "venv")
# Imported before the snapshot is made.
PRELOADED = ("collections", "dataclasses", "datetime", "decimal", "functools", "itertools", "json", "math", "pickle", "random", "re",
             "statistics", "string", "tempfile", "traceback", "uuid")
_NO_PROCESS = f"{WHERE} cannot start processes: it does not have the capability 'processes'. Use Python, or a session in the 'local' environment"
_NEED_PROCESSES = ("_multiprocessing", "_posixshmem")
_NO_THREAD = f"{WHERE} cannot start threads: it does not have the capability 'threads'. Use asyncio, which works here, or a session in the 'local' environment"
_NO_SOCKET = f"{WHERE} has no network: its capability 'network' is 'none'. Let the host fetch what the session needs, as a file or a tool"


def install() -> None:
    for name in ("fork", "forkpty", "posix_spawn", "posix_spawnp", "system", "popen", *(n for n in dir(os) if n.startswith(("exec", "spawn")))):
        setattr(os, name, _refuse(OSError, _NO_PROCESS))
    subprocess.Popen.__init__ = _refuse(OSError, _NO_PROCESS)  # type: ignore[method-assign]
    refuse_thread = _refuse(RuntimeError, _NO_THREAD)
    _thread.start_new_thread = _thread.start_new = threading._start_new_thread = refuse_thread  # type: ignore[attr-defined]
    _thread.start_joinable_thread = threading._start_joinable_thread = refuse_thread  # type: ignore[attr-defined]
    for name in ("connect", "connect_ex", "bind", "listen", "sendto"):
        setattr(socket.socket, name, _refuse(OSError, _NO_SOCKET))
    for name in ("getaddrinfo", "gethostbyname", "create_connection", "socketpair"):
        setattr(socket, name, _refuse(OSError, _NO_SOCKET))
    zones.load_tzdata = _load_zone  # type: ignore[assignment]
    sys.meta_path.append(AbsentFinder())  # type: ignore[arg-type]


class AbsentFinder:
    """Comes last: nobody else has found the module."""

    def find_spec(self, name: str, _path: Any = None, _target: Any = None) -> Optional[ModuleSpec]:
        if name in _NEED_PROCESSES:
            raise ModuleNotFoundError(f"No module named '{name}': {_NO_PROCESS}", name=name)
        if name in ABSENT or name.partition(".")[0] in ABSENT:
            raise ModuleNotFoundError(f"No module named '{name}': {WHERE} does not have this module of the standard library", name=name)
        return None


_load_usual_zone = zones.load_tzdata


def _load_zone(key: str) -> Any:
    try:
        return _load_usual_zone(key)
    except zones.ZoneInfoNotFoundError:
        why = f"{WHERE} has no time zones. Use fixed offsets of datetime, or put the wheel of the package 'tzdata' into the folder of wheels"
        raise zones.ZoneInfoNotFoundError(f"No time zone found with key {key}: {why}") from None


def _refuse(kind: type, why: str) -> Callable[..., NoReturn]:
    def refuse(*_args: Any, **_options: Any) -> NoReturn:
        raise kind(why)

    return refuse


