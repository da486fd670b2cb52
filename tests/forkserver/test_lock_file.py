"""The file whose locks keep two runtimes from giving the same user to two sandboxes."""

import os
import stat
import sys
import tempfile
import unittest
from unittest import mock

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "python"))

from forkserver.sandbox.privileged import users  # noqa: E402

OTHER = 64_125


class LockFile(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = os.path.join(temporary.name, "rlm-runtime")
        self.elsewhere = os.path.join(temporary.name, "elsewhere")

    def open(self):
        os.close(users._open_in_own_folder(self.folder, os.geteuid()))

    def test_is_for_its_user_only_whatever_the_umask_is(self):
        before = os.umask(0)
        self.addCleanup(os.umask, before)
        self.open()
        for path, mode in ((self.folder, 0o700), (os.path.join(self.folder, "users.lock"), 0o600)):
            self.assertEqual(stat.S_IMODE(os.stat(path).st_mode), mode)
        self.open()  # the same again

    def test_a_link_in_place_of_the_folder_or_of_the_file_is_not_followed(self):
        os.mkdir(self.elsewhere, 0o700)
        os.symlink(self.elsewhere, self.folder)
        self.assertRaises(OSError, self.open)
        os.unlink(self.folder)
        os.mkdir(self.folder, 0o700)
        os.symlink(os.path.join(self.elsewhere, "file"), os.path.join(self.folder, "users.lock"))
        self.assertRaises(OSError, self.open)
        self.assertEqual(os.listdir(self.elsewhere), [])

    def test_a_folder_that_others_can_enter_is_refused(self):
        for mode in (0o777, 0o755, 0o710):
            os.mkdir(self.folder)
            os.chmod(self.folder, mode)
            self.assertRaises(PermissionError, self.open)
            os.rmdir(self.folder)

    @unittest.skipUnless(os.geteuid() == 0, "only root can make a folder of another user")
    def test_a_folder_of_another_user_is_refused(self):
        os.mkdir(self.folder, 0o700)
        os.chown(self.folder, OTHER, OTHER)
        self.assertRaises(PermissionError, self.open)

    def test_where_every_place_is_taken_the_reason_is_told(self):
        with mock.patch.object(users, "_open_in_own_folder", side_effect=PermissionError(13, "it belongs to others")):
            with self.assertRaisesRegex(OSError, "no folder can hold the lock file of users"):
                users.open_lock_file()


if __name__ == "__main__":
    unittest.main()
