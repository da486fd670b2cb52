"""The control socket: the worker's socket to the init of its sandbox, which passes descriptors (SCM_RIGHTS)."""

import _socket
import array
from typing import List, Optional, Tuple

MAX_FDS = 6
_CLOSE_ON_EXEC = getattr(_socket, "MSG_CMSG_CLOEXEC", 0)  # macOS has none


class ControlSocket:
    def __init__(self, fd: int) -> None:
        self._socket = _socket.socket(_socket.AF_UNIX, _socket.SOCK_SEQPACKET, 0, fd)

    @property
    def fd(self) -> int:
        return self._socket.fileno()

    def receive(self, seconds: Optional[float] = None) -> Tuple[bytes, List[int]]:
        """The next message and its descriptors; an empty message at the end. Raises TimeoutError."""
        self._socket.settimeout(seconds)
        fds = array.array("i")
        space = _socket.CMSG_SPACE(MAX_FDS * fds.itemsize)
        message, ancillary, _, _ = self._socket.recvmsg(16384, space, _CLOSE_ON_EXEC)
        for level, kind, data in ancillary:
            if level == _socket.SOL_SOCKET and kind == _socket.SCM_RIGHTS:
                fds.frombytes(data[: len(data) - len(data) % fds.itemsize])
        return message, list(fds)

    def send(self, message: bytes) -> None:
        self._socket.send(message)

    def close(self) -> None:
        self._socket.close()
