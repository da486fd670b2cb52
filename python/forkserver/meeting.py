"""Where the fork server of a container meets the host: a folder that only these two see.

The host listens on a socket in it, and orders and events go through that, in place of stdin and stdout. When the host ends, the connection
does, and the fork server with it. Pipes have their names in a folder beside the socket (pipes.py).
"""
from __future__ import annotations

import os
import socket

from . import pipes


def meet(folder: str) -> None:
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    connection.connect(f"{folder}/control")
    for fd in (0, 1):
        os.dup2(connection.fileno(), fd)
    connection.close()
    pipes.folder = f"{folder}/pipes"
