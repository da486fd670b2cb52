"""Standard input: ``input()``, ``getpass.getpass()`` and ``sys.stdin`` ask the host.

The host is asked only when code reads. A reply is a line or bytes; ``None`` is the end of input, and so is an error reply.
fd 0 stays empty: child processes read nothing.
"""

import builtins
import io
import sys
from typing import Any, Dict, Union

from .calls import Calls, HostCallError
from .channel import ChannelClosed

CALL = "rlm:input"
ENDED = "EOF when reading a line"
MAX_PROMPT = 16_000
PIECE = 64 * 1024


class HostInput(io.RawIOBase):
    """The bytes of the replies. ``why`` is the reason for the end of input, for EOFError."""

    name = "<stdin>"
    mode = "rb"

    def __init__(self, calls: Calls) -> None:
        super().__init__()
        self._calls = calls
        self._rest = memoryview(b"")
        self.prompt = ""
        self.why = ENDED

    def readable(self) -> bool:
        return True

    def fileno(self) -> int:
        return 0

    def readinto(self, target: Any) -> int:
        if not self._rest:
            self._rest = memoryview(self.ask(False))
        count = min(len(target), len(self._rest))
        target[:count] = self._rest[:count]
        self._rest = self._rest[count:]
        return count

    def readall(self) -> bytes:
        parts = [bytes(self._rest)]
        self._rest = memoryview(b"")
        while True:
            part = self.ask(False)
            if not part:
                return b"".join(parts)
            parts.append(part)

    def ask(self, password: bool) -> bytes:
        """The next reply; empty at the end of input. Safe from any thread; a KeyboardInterrupt ends the wait."""
        prompt, self.prompt = self.prompt, ""
        self.why = ENDED
        try:
            answer = self._calls.call(CALL, prompt=prompt, password=password)
        except HostCallError as error:
            self.why = error.value
            return b""
        except ChannelClosed:  # the child of a fork: only its parent talks to the host
            return b""
        return _bytes_of(answer)


def install(calls: Calls) -> None:
    """Replaces stdin with the host."""
    raw = HostInput(calls)
    stream = io.TextIOWrapper(io.BufferedReader(raw, PIECE), "utf-8", "replace")
    stream.mode = "r"
    sys.stdin = sys.__stdin__ = stream

    def input(prompt: object = "", /) -> str:
        """Reads a line, without its newline. The prompt is printed first. Raises EOFError at the end of input."""
        text = str(prompt)
        if text:
            sys.stdout.write(text)
        sys.stdout.flush()
        raw.prompt = text[:MAX_PROMPT]
        return _line(sys.stdin, raw)

    def getpass(prompt: str = "Password: ", stream: Any = None) -> str:
        """Reads a line without echo. Raises EOFError at the end of input.

        The host prints the prompt, because it must turn off echo first.
        """
        if sys.stdin is not sys.__stdin__:
            return input(prompt)
        if stream is not None:
            stream.write(prompt)
            stream.flush()
        sys.stdout.flush()
        raw.prompt = "" if stream is not None else str(prompt)[:MAX_PROMPT]
        line = str(raw.ask(True), "utf-8", "replace")
        if not line:
            raise EOFError(raw.why) from None
        return line.rstrip("\r\n")

    builtins.input = input
    module = sys.modules.get("getpass")
    if module is not None:
        module.getpass = getpass


def _line(stream: Any, raw: HostInput) -> str:
    raw.why = ENDED
    try:
        line = stream.readline()
    finally:
        raw.prompt = ""
    if not line:
        raise EOFError(raw.why)
    return line[:-1] if line.endswith("\n") else line


def _bytes_of(answer: Union[None, str, Dict[str, str]]) -> bytes:
    if isinstance(answer, str):
        return answer.encode("utf-8", "replace") + b"\n"
    if isinstance(answer, dict):
        import binascii

        return binascii.a2b_base64(answer.get("base64", ""))
    return b""
