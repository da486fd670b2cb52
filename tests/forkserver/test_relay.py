"""The relay between a host and the pipes of a container, with this process as the host."""

import os
import select
import signal
import socket
import struct
import sys
import tempfile
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "python"))

if sys.platform == "linux":
    from forkserver.container import relay

_PIPE = 5


@unittest.skipUnless(sys.platform == "linux", "needs epoll")
class Frames(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.path = os.path.join(temporary.name, str(_PIPE))
        os.mkfifo(self.path)
        control, self.server = socket.socketpair()
        control.setblocking(False)
        self.addCleanup(self.server.close)
        from_host, self.to_relay = os.pipe()
        self.from_relay, to_host = os.pipe()
        self.relay = os.fork()
        if self.relay == 0:
            try:
                os.dup2(from_host, 0)
                os.dup2(to_host, 1)
                os.closerange(3, control.fileno())
                os.closerange(control.fileno() + 1, 256)
                relay.Relay(temporary.name, control).run()
            finally:
                os._exit(0)
        for fd in (from_host, to_host):
            os.close(fd)
        control.close()
        self.addCleanup(self.end)

    def end(self):
        os.close(self.to_relay)
        os.close(self.from_relay)
        os.waitpid(self.relay, 0)

    def send(self, kind, channel, data=b""):
        os.write(self.to_relay, struct.pack(">BII", kind, channel, len(data)) + data)

    def receive(self):
        """The next frame that does not end a batch."""
        while True:
            kind, channel, length = struct.unpack(">BII", self.read(9))
            data = self.read(length)
            if kind != relay.BATCH_END:
                return kind, channel, data

    def read(self, length):
        data = b""
        while len(data) < length:
            part = os.read(self.from_relay, length - len(data))
            self.assertNotEqual(part, b"", "the relay has ended")
            data += part
        return data

    def test_what_was_taken_is_acknowledged_before_the_reader_is_gone(self):
        for channel in range(1, 21):
            reader = os.open(self.path, os.O_RDONLY | os.O_NONBLOCK)
            self.send(relay.OPEN_WRITER, channel, struct.pack(">I", _PIPE))
            self.send(relay.DATA, channel, b"line\n")
            os.set_blocking(reader, True)
            taken = b""
            while len(taken) < 5:
                taken += os.read(reader, 5)
            os.close(reader)
            self.assertEqual(self.receive(), (relay.ACK, channel, struct.pack(">I", 5)))
            self.assertEqual(self.receive(), (relay.CLOSE, channel, b""))

    def test_what_was_taken_is_acknowledged_soon_while_more_comes_all_the_time(self):
        reader = os.open(self.path, os.O_RDONLY | os.O_NONBLOCK)
        self.addCleanup(os.close, reader)
        self.send(relay.OPEN_WRITER, 1, struct.pack(">I", _PIPE))
        some = struct.pack(">BII", relay.DATA, 1, 1) + b"x"
        for _ in range(2_000):  # fewer bytes than are acknowledged at once
            os.write(self.to_relay, some * 100)  # waits for the relay, which therefore always has something to do
            while select.select([reader], [], [], 0)[0] and os.read(reader, 65536):
                pass
            if select.select([self.from_relay], [], [], 0)[0]:
                break
        else:
            self.fail("nothing was acknowledged")
        self.assertEqual(self.receive()[:2], (relay.ACK, 1))

    def test_a_reader_that_ends_does_not_end_a_pipe_that_is_opened_at_the_same_time(self):
        other = os.path.join(os.path.dirname(self.path), "6")
        os.mkfifo(other)
        first, second = [os.open(path, os.O_RDONLY | os.O_NONBLOCK) for path in (self.path, other)]
        self.addCleanup(os.close, second)
        self.send(relay.OPEN_WRITER, 1, struct.pack(">I", _PIPE))
        self.send(relay.DATA, 1, b"x")
        self.assertEqual(self.receive()[:2], (relay.ACK, 1))
        os.kill(self.relay, signal.SIGSTOP)
        os.waitpid(self.relay, os.WUNTRACED)
        self.send(relay.CLOSE, 1)
        self.send(relay.OPEN_WRITER, 2, struct.pack(">I", 6))
        os.close(first)
        os.kill(self.relay, signal.SIGCONT)
        for _ in range(2):
            self.send(relay.DATA, 2, b"x")
            frame = self.receive()
            self.assertEqual(self.receive() if frame == (relay.CLOSE, 1, b"") else frame, (relay.ACK, 2, struct.pack(">I", 1)))


if __name__ == "__main__":
    unittest.main()
