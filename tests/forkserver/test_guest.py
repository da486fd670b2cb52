"""The image that sandboxes of WebAssembly share: a copy in memory that nobody can change."""
import errno
import mmap
import os
import sys
import tempfile
import threading
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "..", "python"))
from forkserver.processes import guest  # noqa: E402

BUSY_S = 0.2


@unittest.skipUnless(sys.platform == "linux", "needs memfd_create")
class Seal(unittest.TestCase):
    def setUp(self) -> None:
        self.file = tempfile.TemporaryFile()
        self.addCleanup(self.file.close)
        self.file.write(b"image" * 10_000)
        self.file.flush()

    def test_the_copy_has_the_same_bytes_and_cannot_be_written(self) -> None:
        guest.seal(self.file.fileno())
        self.assertEqual(os.pread(self.file.fileno(), 100_000, 0), b"image" * 10_000)
        with self.assertRaises(PermissionError):
            os.pwrite(self.file.fileno(), b"x", 0)

    def test_seals_are_added_when_the_kernel_has_let_go_of_the_pages(self) -> None:
        copy = os.memfd_create("copy", os.MFD_ALLOW_SEALING)
        self.addCleanup(os.close, copy)
        os.write(copy, b"x" * 4096)
        mapped = mmap.mmap(copy, 4096)  # a writable mapping is refused in the same way
        letting_go = threading.Timer(BUSY_S, mapped.close)
        letting_go.start()
        guest._add_seals(copy)
        self.assertTrue(mapped.closed)
        with self.assertRaises(PermissionError):
            os.pwrite(copy, b"y", 0)

    def test_other_errors_are_raised_at_once(self) -> None:
        plain = os.memfd_create("plain")  # without seals
        self.addCleanup(os.close, plain)
        with self.assertRaises(OSError) as raised:
            guest._add_seals(plain)
        self.assertEqual(raised.exception.errno, errno.EPERM)


if __name__ == "__main__":
    unittest.main()
