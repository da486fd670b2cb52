"""What the init does for a member that changes the mode or times of a file."""

import ctypes
import errno
import os
import struct
import sys
import tempfile
import threading
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "python"))

from forkserver.container.file_changes import FileChanges  # noqa: E402
from forkserver.container.member_filter import FCHMOD, FCHMODAT, UTIMENSAT  # noqa: E402

_HERE = 2 ** 64 - 100  # AT_FDCWD
_NOWHERE = 8


@unittest.skipUnless(sys.platform == "linux", "needs /proc")
class Descriptors(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.changes = FileChanges((os.path.realpath(self.folder.name),))
        self.path = os.path.join(self.folder.name, "file")
        open(self.path, "w").close()

    def left_open(self, call, path, *others):
        """How many more descriptors there are after a call of this thread."""
        name = ctypes.create_string_buffer(os.fsencode(path))
        before = len(os.listdir("/proc/self/fd"))
        try:
            self.changes.carry_out(
                threading.get_native_id(), call, [_HERE, ctypes.addressof(name), *others, 0, 0], lambda: True)
        except OSError:
            pass
        return len(os.listdir("/proc/self/fd")) - before

    def test_none_is_left_open_whatever_fails(self):
        no_times = ctypes.create_string_buffer(struct.pack("=4q", 0, -1, 0, -1))
        for call, path, *others in (
                (FCHMODAT, self.path, 0o600, 0),
                (FCHMODAT, "/", 0o600, 0),
                (FCHMODAT, f"{self.path}-missing", 0o600, 0),
                (UTIMENSAT, self.path, 0, 0),
                (UTIMENSAT, self.path, ctypes.addressof(no_times), 0),
                (UTIMENSAT, self.path, _NOWHERE, 0),
                (UTIMENSAT, os.path.relpath(self.path), _NOWHERE, 0)):
            with self.subTest(call=call, path=path, others=others):
                self.assertEqual(self.left_open(call, path, *others), 0)

    def test_the_working_folder_is_no_descriptor(self):
        for call, arguments in ((FCHMOD, [_HERE, 0o700, 0, 0, 0, 0]), (UTIMENSAT, [_HERE, 0, 0, 0, 0, 0])):
            with self.subTest(call=call), self.assertRaises(OSError) as raised:
                self.changes.carry_out(threading.get_native_id(), call, arguments, lambda: True)
            self.assertEqual(raised.exception.errno, errno.EBADF)


if __name__ == "__main__":
    unittest.main()
