"""Orders on their way to one init, none of which keeps the sender waiting.

An init that is busy reads late, and one that waits until it is heard reads nothing: whoever waited for it could wait forever, and
every other sandbox with them. What does not fit into the socket is kept here, in order, and goes when there is room.
"""
from __future__ import annotations

import array
import collections
import errno
import json
import os
import select
import socket


class Outbox:
    """`epoll` watches the socket for reading already, and its user calls `flush` when it can be written to."""

    def __init__(self, peer: socket.socket, epoll: select.epoll) -> None:
        self._peer = peer
        self._epoll = epoll
        self._unsent: collections.deque[tuple[bytes, list[int]]] = collections.deque()

    def send(self, order: dict, fds: list[int] | None = None) -> None:
        """The descriptors are closed when they are sent."""
        self._unsent.append((json.dumps(order).encode(), fds or []))
        if len(self._unsent) == 1 and not self.flush():
            self._epoll.modify(self._peer, select.EPOLLIN | select.EPOLLOUT)

    def flush(self) -> bool:
        """Whether all is sent."""
        while self._unsent:
            message, fds = self._unsent[0]
            carried = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", fds))] if fds else []
            try:
                self._peer.sendmsg([message], carried, socket.MSG_DONTWAIT)
            except OSError as error:
                if error.errno in (errno.EAGAIN, errno.ETOOMANYREFS):  # too many descriptors on their way: it passes
                    return False
                # Otherwise the sandbox is ending; `closed` will be told.
            self._unsent.popleft()
            _close(fds)
        return True

    def close(self) -> None:
        for _, fds in self._unsent:
            _close(fds)
        self._unsent.clear()


def _close(fds: list[int]) -> None:
    for fd in fds:
        os.close(fd)
