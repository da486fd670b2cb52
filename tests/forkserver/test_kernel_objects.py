"""What processes hold of the kernel, counted over /proc: of a child that has made it."""

import fcntl
import mmap
import os
import select
import signal
import socket
import subprocess
import sys
import tempfile
import unittest
from unittest import mock

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "python"))

from forkserver import descriptors  # noqa: E402
from forkserver.processes import kernel_objects  # noqa: E402

LINUX = tuple(int(part) for part in os.uname().release.split(".")[:2])


def watch(keys):
    """An epoll instance that watches one file by this many numbers."""
    epoll, (reader, _) = select.epoll(), os.pipe()
    for key in range(600, 600 + keys):
        os.dup2(reader, key)
        epoll.register(key)
        os.close(key)
    return epoll


class Counted(unittest.TestCase):
    def child(self, make, *keep):
        """A process that keeps what `make` returns, and of the descriptors of this one those in `keep`."""
        ready, done = os.pipe()
        pid = os.fork()
        if pid == 0:
            try:
                descriptors.close_all_but({0, 1, 2, done, *keep})
                kept = make()
                os.write(done, b"x")
                signal.pause()
                del kept
            finally:
                os._exit(1)
        os.close(done)
        self.addCleanup(self.end, pid, ready)
        self.assertEqual(os.read(ready, 1), b"x")
        return pid

    def end(self, pid, ready):
        os.close(ready)
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)

    def count(self, *pids):
        return kernel_objects.count(list(pids), set())

    def test_a_small_process(self):
        pid = self.child(lambda: watch(20))
        with mock.patch.object(kernel_objects, "_are_few_locks", lambda pids: True):
            self.assertTrue(kernel_objects.is_small([pid]))
        self.assertEqual(self.count(pid), kernel_objects.Count(watches=20))
        self.assertFalse(kernel_objects.is_over([pid], set()))

    def test_watches(self):
        pids = [self.child(lambda: watch(300)) for _ in range(2)]
        self.assertFalse(kernel_objects.is_small(pids))
        self.assertEqual(self.count(*pids).watches, 600)
        for most, is_over in ((600, False), (599, True)):
            with mock.patch.object(kernel_objects, "MAX_WATCHES", most):
                self.assertEqual(kernel_objects.is_over(pids, set()), is_over)

    def test_many_processes_or_descriptors(self):
        many = self.child(lambda: [os.pipe() for _ in range(30)])
        self.assertFalse(kernel_objects.is_small([many]))
        self.assertFalse(kernel_objects.is_over([many], set()))
        self.assertFalse(kernel_objects.is_small([os.getpid()] * 17))

    def test_locks(self):
        file = tempfile.NamedTemporaryFile()
        self.addCleanup(file.close)
        other = self.child(lambda: fcntl.lockf(file, fcntl.LOCK_EX, 1, 100_000), file.fileno())

        def lock():
            for at in range(200):
                fcntl.lockf(file, fcntl.LOCK_EX, 1, 2 * at)

        pid = self.child(lock, file.fileno())
        self.assertFalse(kernel_objects.is_small([pid]))
        self.assertEqual((self.count(pid).locks, self.count(other).locks), (200, 1))
        with mock.patch.object(kernel_objects, "MAX_LOCKS", 199):
            self.assertTrue(kernel_objects.is_over([pid], set()))
            self.assertFalse(kernel_objects.is_over([other], set()))

    def test_locks_of_others_are_not_counted(self):
        line = b"%d: %s  ADVISORY  WRITE %d fe:00:1509694 2008980266 2008980266\n"
        for lines, is_few in (([line % (1, b"OFDLCK", -1)] * 200, True), ([line % (1, b"POSIX", 7)] * 65, False),
                              ([line % (1, b"POSIX", 8)] * 65 + [line % (1, b"-> POSIX", 7)] * 64, True),
                              ([line % (1, b"OFDLCK", -1)] * 5000, False), ([], True)):
            with tempfile.NamedTemporaryFile() as file:
                file.write(b"".join(lines))
                file.flush()
                real = os.open
                with mock.patch.object(os, "open", lambda path, *rest: real(file.name if path == "/proc/locks" else path, *rest)):
                    self.assertEqual(kernel_objects._are_few_locks({7}), is_few)

    @unittest.skipIf(LINUX < (5, 6), "the kernel does not show descriptors in flight")
    def test_descriptors_in_flight(self):
        def send(descriptors):
            pair = socket.socketpair()
            socket.send_fds(pair[0], [b"x"], descriptors)
            return pair

        few, many = self.child(lambda: send([0] * 4)), self.child(lambda: send([0] * 5))
        self.assertEqual((self.count(few).in_flight, self.count(many).in_flight), (4, 5))
        with mock.patch.object(kernel_objects, "_BETWEEN_SAMPLES_S", 0.01):
            for pid, is_over in ((few, False), (many, True)):
                self.assertFalse(kernel_objects.is_small([pid]))
                with mock.patch.object(kernel_objects, "_all_sockets", set):  # those of the machine that are in flight are none of ours
                    self.assertEqual(kernel_objects.is_over([pid], set()), is_over)

    @unittest.skipIf(LINUX < (5, 6), "the kernel does not show descriptors in flight")
    def test_a_socket_in_flight_hides_others(self):
        def nest():
            outer, inner = socket.socketpair(), socket.socketpair()
            socket.send_fds(inner[0], [b"x"], [0] * 100)
            socket.send_fds(outer[0], [b"x"], [inner[1].fileno()])
            inode = os.fstat(inner[1].fileno()).st_ino
            inner[1].close()
            os.write(sending, str(inode).encode())
            return outer, inner

        receiving, sending = os.pipe()
        pid = self.child(nest, sending)
        hidden = f"socket:[{os.read(receiving, 20).decode()}]"
        self.assertIn(hidden, self.count(pid).flying_sockets)
        with mock.patch.object(kernel_objects, "_BETWEEN_SAMPLES_S", 0.01):
            self.assertTrue(kernel_objects.is_over([pid], set()))
        self.assertNotIn(hidden, kernel_objects.count([pid], {hidden}).flying_sockets)

    def test_a_process_that_hides_its_descriptors(self):
        with mock.patch.object(kernel_objects, "_list", mock.Mock(side_effect=PermissionError)):
            self.assertFalse(kernel_objects.is_small([os.getpid()]))
            with mock.patch.object(kernel_objects, "_BETWEEN_SAMPLES_S", 0.01):
                self.assertTrue(kernel_objects.is_over([os.getpid()], set()))

    def test_a_child_of_the_init_that_is_not_yet_a_command(self):
        pid = self.child(lambda: None)
        with subprocess.Popen(["sleep", "60"]) as other:
            with mock.patch.object(kernel_objects, "_list", mock.Mock(side_effect=PermissionError)):
                self.assertEqual([kernel_objects.is_starting(each) for each in (pid, other.pid, 2**22 + 1)], [True, False, False])
            self.assertFalse(kernel_objects.is_starting(pid))  # a worker, which can be read
            other.kill()

    def test_a_process_that_does_so_for_a_moment(self):
        real, calls = kernel_objects._list, iter(range(100))
        with mock.patch.object(kernel_objects, "_list", lambda path: real(path) if next(calls) > 1 else self.deny()):
            with mock.patch.object(kernel_objects, "_BETWEEN_SAMPLES_S", 0.01):
                self.assertFalse(kernel_objects.is_over([os.getpid()], set()))

    def deny(self):
        raise PermissionError

    def test_a_dead_process_that_its_parent_has_not_waited_for(self):
        pid = os.fork()
        if pid == 0:
            os._exit(0)
        os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)
        try:
            # An ordinary user may not read its descriptors.
            with mock.patch.object(kernel_objects, "_list", mock.Mock(side_effect=PermissionError)):
                self.assertFalse(kernel_objects.is_over([pid], set()))
        finally:
            os.waitpid(pid, 0)

    def test_bytes(self):
        def sockets():
            return [socket.socketpair() for _ in range(50)]

        plain, full = self.child(lambda: None), self.child(sockets)
        before, after = kernel_objects.kernel_bytes([plain], 10_000), kernel_objects.kernel_bytes([full], 10_000)
        self.assertGreater(before, 0)
        self.assertGreater(after - before, 100 * 10_000)
        self.assertEqual(kernel_objects.kernel_bytes([2**22 + 1], 10_000), 0)

    def test_page_tables_and_mappings(self):
        def read(size):
            pages = mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, prot=mmap.PROT_READ)
            for at in range(0, size, 2 << 20):
                pages[at]
            return pages

        def parts():
            return [mmap.mmap(-1, 4096, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, prot=1 + at % 2 * 2) for at in range(4000)]

        plain = kernel_objects.kernel_bytes([self.child(lambda: None)], 0)
        self.assertGreater(kernel_objects.kernel_bytes([self.child(lambda: read(1 << 30))], 0) - plain, 400 * 4096)
        self.assertGreater(kernel_objects.kernel_bytes([self.child(parts)], 0) - plain, 3000 * 250)

    def test_processes_that_are_gone(self):
        with mock.patch.object(kernel_objects, "_are_few_locks", lambda pids: True):
            self.assertTrue(kernel_objects.is_small([2**22 + 1]))
        self.assertEqual(self.count(2**22 + 1), kernel_objects.Count())


if __name__ == "__main__":
    unittest.main()
