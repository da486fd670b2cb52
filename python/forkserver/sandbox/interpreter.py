"""What the running interpreter needs of the host, and the program of a guest. It is visible, read-only, in every sandbox."""
from __future__ import annotations

import os
import sys

# Visible as a whole, at their own path. On a merged /usr the others are links into it and are copied as links.
SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32")
# The few parts of /etc that programs need and that reveal nothing about the users of the machine.
ETC = ("alternatives", "ld.so.cache", "ssl/certs", "ssl/openssl.cnf", "pki/tls/certs", "pki/ca-trust", "localtime",
       "mime.types", "fonts", "matplotlibrc", "os-release")
# Files and folders that the program of a guest needs.
of_guest: tuple[str, ...] = ()


def paths(home: str) -> list[str]:
    """Folders outside SYSTEM that contain this interpreter, its standard library and its packages, and what a guest needs."""
    executable = os.path.realpath(sys.executable)
    wanted = {sys.prefix, sys.base_prefix, sys.exec_prefix, sys.base_exec_prefix, os.path.dirname(executable)}
    wanted.update(path for path in sys.path if path)
    if executable.startswith("/nix/store/"):
        wanted.add("/nix/store")
    found: list[str] = []
    for path in sorted({os.path.abspath(path) for path in (*wanted, *of_guest)}):
        inside = any(path == parent or path.startswith(parent + "/") for parent in (*SYSTEM, *found))
        if inside:
            continue
        if os.path.isdir(path):
            _refuse_if_too_broad(path, home)
            found.append(path)
        elif path in of_guest:
            found.append(path)
    return found


def _refuse_if_too_broad(path: str, home: str) -> None:
    """`home` is passed in, because this process has an environment of its own."""
    contains_home = (home + "/").startswith(path.rstrip("/") + "/")
    if contains_home or path in ("/", "/home", "/root", "/etc", "/var", "/tmp", "/proc", "/sys", "/dev", "/run"):
        raise PermissionError(f"the interpreter's folder is {path}, and showing that to a sandbox would show too much")


def hidden_from(uid: int, home: str) -> list[str]:
    """Those of `paths` that the user cannot reach because a parent is not accessible."""
    hidden = []
    for path in paths(home):
        parts = path.split("/")
        for depth in range(2, len(parts) + 1):
            status = os.stat("/".join(parts[:depth]))
            if status.st_uid != uid and not status.st_mode & 0o001:
                hidden.append(path)
                break
    return hidden
