"""How the fork server of a container is connected to the host.

Either they share a folder that nobody else sees: the host listens on a socket in it, and orders and events go through that, in place of stdin and
stdout. Or they share nothing but the container's stdin and stdout, and a relay carries everything. When the host ends, the connection does,
and the fork server with it.
"""
from __future__ import annotations

import os
import socket
import sys

from .. import libc
from . import relay

# The exit code that tells the host to try the other way: see launcher.ts.
_CANNOT_CONNECT = 75


def connect_by_socket(folder: str) -> str:
    """Connects to the socket in a folder that both see. Returns the folder of the pipes."""
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        connection.connect(f"{folder}/control")
    except OSError:
        sys.exit(_CANNOT_CONNECT)
    _use(connection)
    return f"{folder}/pipes"


def connect_by_stdio(folder: str) -> None:
    """The calling process becomes the relay, and this returns in its child."""
    libc.forbid_tracing()
    connection = relay.serve(folder)
    libc.prctl(libc.PR_SET_DUMPABLE, 1)
    _use(connection)


def _use(connection: socket.socket) -> None:
    for fd in (0, 1):
        os.dup2(connection.fileno(), fd)
    connection.close()
