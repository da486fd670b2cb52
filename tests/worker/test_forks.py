"""Forks by user code."""

import unittest

from harness import WorkerCase


class ForksOfUserCode(WorkerCase):
    def test_a_child_that_forks_again_prints_nothing(self):
        code = "import os\nif os.fork() == 0:\n    if os.fork() == 0: os._exit(0)\n    os.wait(); os._exit(0)\nos.wait()[1]"
        status, out, err = self.worker.printed(code)
        self.assertEqual((status["value"]["text/plain"], out, err), ("0", "", ""))


if __name__ == "__main__":
    unittest.main()
