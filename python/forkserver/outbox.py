"""A queue of orders to one init, so that sending never blocks the fork server.

An init that is busy reads late, and one that is itself blocked in a send reads nothing. Blocking on it could block every
sandbox. What does not fit into the socket is queued in order and sent when the socket is writable.
"""
from __future__ import annotations

import array
import collections
import errno
import json
import select
import socket

from .descriptors import close_all


class Outbox:
    """`epoll` already watches the socket for reading. Its owner calls `flush` when the socket is writable."""

    def __init__(self, peer: socket.socket, epoll: select.epoll) -> None:
        self._peer = peer
        self._epoll = epoll
        self._unsent: collections.deque[tuple[bytes, list[int]]] = collections.deque()

    def send(self, order: dict, fds: list[int] | None = None) -> None:
        """The descriptors are closed once they are sent."""
        self._unsent.append((json.dumps(order).encode(), fds or []))
        if len(self._unsent) == 1 and not self.flush():
            self._epoll.modify(self._peer, select.EPOLLIN | select.EPOLLOUT)

    def flush(self) -> bool:
        """Whether the queue is empty. Raises OSError if the init cannot be reached: what it was told to do, such as to kill or
        to watch, is not done."""
        while self._unsent:
            message, fds = self._unsent[0]
            carried = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", fds))] if fds else []
            try:
                self._peer.sendmsg([message], carried, socket.MSG_DONTWAIT)
            except OSError as error:
                if error.errno in (errno.EAGAIN, errno.ETOOMANYREFS):  # too many descriptors in flight: temporary
                    return False
                self._drop_first()
                if error.errno not in (errno.EPIPE, errno.ECONNRESET):  # else the sandbox is ending; its `closed` event follows
                    raise
                continue
            self._drop_first()
        return True

    def _drop_first(self) -> None:
        _, fds = self._unsent.popleft()
        close_all(fds)

    def close(self) -> None:
        for _, fds in self._unsent:
            close_all(fds)
        self._unsent.clear()
