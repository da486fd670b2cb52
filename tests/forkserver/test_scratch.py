"""What is taken for the folders of a runtime that was killed."""
import os
import resource
import subprocess
import sys
import tempfile
import unittest
from unittest import mock

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../../python"))

from forkserver.container import scratch  # noqa: E402

_MARK = 7 << 40


class Stale(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = temporary.name
        self.base = f"{self.folder}/rlm-sandboxes-{os.getuid()}-0123456789ab"
        os.mkdir(self.base)

    def make_lock(self, first_mark):
        with open(f"{self.base}/lock", "w") as lock:
            lock.write(str(first_mark))

    def test_a_mark_of_no_sandbox_ends_no_process(self):
        other = subprocess.Popen(["sleep", "60"], preexec_fn=lambda: resource.setrlimit(15, (_MARK + 1, _MARK + 1)))
        try:
            self.make_lock(_MARK)
            scratch.remove_stale(self.folder)
            self.assertIsNone(other.poll())
            self.assertTrue(os.path.exists(self.base))
        finally:
            other.kill()
        self.assertEqual(other.wait(), -9)

    def test_what_could_not_be_removed_is_removed_at_the_next_start(self):
        os.makedirs(f"{self.base}/1/work")
        self.make_lock(1 << 61)
        fails = [sys.executable, "-c", "raise SystemExit(1)"]
        with mock.patch.object(scratch, "start_cleaner", lambda *_: os.spawnv(os.P_NOWAIT, sys.executable, fails)):
            scratch.remove_stale(self.folder)
        self.assertTrue(os.path.exists(f"{self.base}/1/work"))
        scratch.remove_stale(self.folder)
        self.assertFalse(os.path.exists(self.base))

    def test_links_are_not_followed(self):
        outside = f"{self.folder}/outside"
        os.mkdir(outside)
        open(f"{outside}/file", "w").close()
        os.symlink(outside, f"{self.base}/1")
        self.make_lock(1 << 61)
        scratch.remove_stale(self.folder)
        self.assertEqual(os.listdir(outside), ["file"])


if __name__ == "__main__":
    unittest.main()
