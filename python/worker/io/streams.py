"""stdout and stderr: text streams, buffered in C, directly on fd 1 and 2.

The two objects stay the same for the life of the session, so a logging handler that holds one keeps working. A
*generation* is the pair of pipes behind them. While threads of an earlier generation live, ``write`` looks at the calling
thread: text of an old thread goes to its old pipe, never into a later execution. Private duplicates of the pipes are used
to find out what is unread, and to repair fd 1 and 2 after user code changed them.
"""

import _thread
import fcntl
import io
import os
import sys
import termios
from typing import Any, List, Optional, Set, Tuple

from .channel import Writer
from .descriptors import LARGE_PIPE, close_all, duplicate, pipe_size, resize_pipe, unread
from .order import Order
from .threads import Threads

BUFFER = 64 * 1024
CROWDED = 16 * 1024  # unread bytes in a pipe: with more, a flush might wait


class Generation:
    """A pair of pipes. A retired one has streams of its own, until its last thread ends."""

    def __init__(self, out: int, err: int) -> None:
        self.fds = (out, err)
        self.threads: Set[object] = set()
        self.retired = False
        self.streams: Tuple[Optional[io.TextIOWrapper], ...] = (None, None)


class Streams:
    """The streams of one worker. Only the main thread calls the methods, except ``flush``, ``enlarge`` and ``shrink``.
    ``writer`` gets the marks of their order."""

    def __init__(self, writer: Writer) -> None:
        self._lock = _thread.allocate_lock()
        self._sizes = (-1, -1)
        self._counts = (bytearray(4), bytearray(4))
        self._retired: List[Generation] = []
        self._lines = False  # line buffered while threads may print after the end of an execution
        self._broken = False
        # The last retired generation, whose threads may have been inside ``write`` when it was retired, and those that since came out.
        self._late: Optional[Generation] = None
        self._out_of_write: Set[int] = set()
        self.current = self._adopt(1, 2)
        self.threads = Threads(self.current, self._thread_ended)
        self._order = Order(writer, self._room)
        self.out = self._open(1, False)
        self.err = self._open(2, True)
        self._order.attach([self.out, self.err])

    def begin(self) -> None:
        """Before an execution: puts the session's own streams and pipes back in place."""
        if self._late is not None:
            with self._lock:
                self._flush_late()
                self._late = None
            self._order.end()
        if self._broken or (pipe_size(1), pipe_size(2)) != self._sizes:
            self._repair()
        if self._lines and not self.current.threads:
            self._lines = False
            self.out.reconfigure(line_buffering=False)
        self._order.begin()
        sys.stdout = sys.__stdout__ = self.out
        sys.stderr = sys.__stderr__ = self.err
        sys.stdin = sys.__stdin__

    def finish(self) -> None:
        """After the code, as part of it: flushes the streams, and those that user code put in their place."""
        out, err = sys.stdout, sys.stderr
        try:
            self.out.flush()
            self.err.flush()
        except (ValueError, OSError, RuntimeError):
            self._broken = True
        if out is not self.out or err is not self.err:
            _flush_foreign(out)
            _flush_foreign(err)

    def end(self) -> bool:
        """After an execution: whether bytes may be unread. From now on output of its threads is flushed line by line."""
        self.flush()
        self._order.end()
        if self.current.threads and not self._lines and not self._broken:
            self._lines = True
            self.out.reconfigure(line_buffering=True)
        out, err = self.current.fds
        count_out, count_err = self._counts
        try:
            fcntl.ioctl(out, termios.FIONREAD, count_out)
            fcntl.ioctl(err, termios.FIONREAD, count_err)
        except OSError:
            return True
        return count_out != NOTHING or count_err != NOTHING

    def flush(self) -> None:
        """Safe from any thread. Broken streams are repaired before the next execution."""
        try:
            self.out.flush()
            self.err.flush()
        except (ValueError, OSError, RuntimeError):
            self._broken = True

    def set_apart(self) -> None:
        """For this execution: one stream may be read while the other is not."""
        self._order.is_apart = True

    def share(self) -> None:
        """Before a process is started that may write to the pipes."""
        self.flush()
        self._order.share()

    def enlarge(self) -> None:
        """Enlarges the pipe of stdout if it is filling up. Called by the listener, in long executions."""
        size = self._sizes[0]
        if size < LARGE_PIPE and unread(self.current.fds[0]) >= size // 2:
            self._resize_out(LARGE_PIPE)

    def shrink(self) -> None:
        """Returns the memory of a large pipe. Called by the listener after an execution."""
        if self._sizes[0] >= LARGE_PIPE:
            self._resize_out(BUFFER)

    def _room(self, index: int) -> int:
        """How much a stream can write without waiting for its reader, besides what it has buffered. Enlarges the pipe of stdout for
        that."""
        waiting = unread(index + 1)
        if waiting < CROWDED:
            return CROWDED - waiting
        if index == 0 and self._sizes[0] < LARGE_PIPE:
            self._resize_out(LARGE_PIPE)
        return self._sizes[index] - waiting - 2 * BUFFER

    def has_threads(self) -> bool:
        """Whether threads that user code started still live."""
        return bool(self.current.threads or self._retired)

    def replace(self, out: int, err: int) -> None:
        """Makes two new pipes stdout and stderr. Takes over both descriptors."""
        old = self.current
        self.flush()
        with self._lock:
            self.current = self.threads.generation = self._adopt(out, err)
            old.retired = True
            if old.threads:
                old.streams = tuple(_text(fd, True) for fd in old.fds)
                self._retired.append(old)
                self._late = old
                self._out_of_write.clear()
                self._route()
                self.flush()
            else:
                close_all(old.fds)
            os.dup2(out, 1)
            os.dup2(err, 2)
        self._order.end()
        close_all((out, err))
        self._thread_ended(old)

    def rebase(self, out: int, err: int) -> None:
        """For a copy of the process: puts new pipes under the same streams. Nothing is buffered and no thread lives."""
        self._sizes = (pipe_size(out), pipe_size(err))
        for new, own, standard in zip((out, err), self.current.fds, (1, 2)):
            os.dup2(new, own, False)
            os.dup2(new, standard)
        self._order.end()

    def old_pipes(self) -> Optional[Tuple[int, int]]:
        """The pipes of the calling thread, if they are no longer the current ones."""
        generation = self.threads.tag().generation
        return generation.fds if generation.retired else None

    def forget(self) -> None:
        """For the child of a fork: closes the private pipes of the parent."""
        self._lock = _thread.allocate_lock()
        self._order.forget()
        kept = self.threads.tag().generation
        if kept.retired:
            os.dup2(kept.fds[0], 1)
            os.dup2(kept.fds[1], 2)
        for generation in [self.current, *self._retired]:
            if generation is not kept or not generation.retired:
                close_all(generation.fds)

    def _resize_out(self, size: int) -> None:
        size = resize_pipe(self.current.fds[0], size)
        if size >= 0:
            self._sizes = (size, self._sizes[1])

    def _adopt(self, out: int, err: int) -> Generation:
        self._sizes = (pipe_size(out), pipe_size(err))
        return Generation(duplicate(out), duplicate(err))

    def _open(self, fd: int, lines: bool) -> io.TextIOWrapper:
        stream = _text(fd, lines)
        stream.mode = "w"
        return stream

    def _repair(self) -> None:
        """Restores fd 1 and 2 and the objects on them, after user code closed or redirected them."""
        self._broken = False
        for fd, own in zip((1, 2), self.current.fds):
            if _identity(fd) != _identity(own):
                os.dup2(own, fd)
        if not _usable(self.out):
            self.out = self._open(1, False)
        if not _usable(self.err):
            self.err = self._open(2, True)
        self._order.attach([self.out, self.err])
        if self._retired:
            self._route()

    def check(self) -> None:
        """Detects a redirected fd 1 or 2 that ``begin`` misses; too slow for every execution."""
        if any(_identity(fd) != _identity(own) for fd, own in zip((1, 2), self.current.fds)):
            self._broken = True

    def _route(self) -> None:
        for index, stream in enumerate((self.out, self.err)):
            for target, part in ((stream, _itself), (stream.buffer, _buffer_of)):
                for name in ("write", "flush", "writelines"):
                    setattr(target, name, self._routed(target, name, index, part))

    def _routed(self, target: Any, name: str, index: int, part: Any) -> Any:
        plain = getattr(type(target), name).__get__(target)
        if name == "write" and part is _buffer_of:
            plain = self._order.writes[index]

        def routed(*args: Any) -> Any:
            generation = self.threads.tag().generation
            if generation.retired:
                if self._late is generation and _thread.get_ident() not in self._out_of_write:
                    self._left_write(generation)
                return getattr(part(generation.streams[index]), name)(*args)
            return plain(*args)

        return routed

    def _left_write(self, generation: Generation) -> None:
        """A thread of a retired generation uses its old pipe for the first time, and so left a ``write`` that began before."""
        with self._lock:
            if self._late is generation:
                self._out_of_write.add(_thread.get_ident())
                self._flush_late()

    def _flush_late(self) -> None:
        """Sends what such a ``write`` left in the streams to the old pipe. Called with the lock, and while no execution runs."""
        try:
            for fd, own in zip(self._late.fds, (1, 2)):
                os.dup2(fd, own)
            try:
                for stream in (self.out, self.err):
                    io.BufferedWriter.flush(stream.buffer)
                    io.TextIOWrapper.flush(stream)
            finally:
                for fd, own in zip(self.current.fds, (1, 2)):
                    os.dup2(fd, own)
        except (ValueError, OSError, RuntimeError):
            self._broken = True

    def _unroute(self) -> None:
        for stream in (self.out, self.err):
            try:
                targets = (stream, stream.buffer)
            except ValueError:  # detached
                targets = (stream,)
            for target in targets:
                for name in ("write", "flush", "writelines"):
                    target.__dict__.pop(name, None)
        self._order.hook()

    def _thread_ended(self, generation: Generation) -> None:
        """Called in a thread that ends. The last thread of a retired generation closes its pipes."""
        if generation.threads:
            return
        with self._lock:
            if not generation.retired:
                self.flush()
            elif generation in self._retired and not generation.threads:
                if self._late is generation:
                    self._flush_late()
                    self._late = None
                self._retired.remove(generation)
                for stream in generation.streams:
                    _flush_foreign(stream)
                close_all(generation.fds)
                if not self._retired:
                    self._unroute()


NOTHING = bytearray(4)


def _text(fd: int, lines: bool) -> io.TextIOWrapper:
    raw = io.FileIO(fd, "wb", closefd=False)
    stream = io.TextIOWrapper(io.BufferedWriter(raw, BUFFER), "utf-8", "backslashreplace", "\n", lines)
    stream._CHUNK_SIZE = BUFFER  # text is encoded in pieces of this size
    return stream


def _itself(stream: Any) -> Any:
    return stream


def _buffer_of(stream: Any) -> Any:
    return stream.buffer


def _identity(fd: int) -> Optional[Tuple[int, int]]:
    try:
        stat = os.fstat(fd)
    except OSError:
        return None
    return stat.st_dev, stat.st_ino


def _usable(stream: io.TextIOWrapper) -> bool:
    try:
        return not stream.closed
    except ValueError:  # detached
        return False


def _flush_foreign(stream: Any) -> None:
    try:
        stream.flush()
    except Exception:
        pass
