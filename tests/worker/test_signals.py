"""When the listener sends an interrupt again, and when it must not."""

import os
import select
import sys
import unittest
from unittest import mock

from harness import ROOT

sys.path.insert(0, os.path.join(ROOT, "python"))

from worker.process import signals  # noqa: E402
from worker.process.signals import SIGINT, Interrupts  # noqa: E402


class RepeatMissed(unittest.TestCase):
    def setUp(self):
        self.interrupts = Interrupts()
        self.repeats = 0
        patch = mock.patch.object(signals._signal, "pthread_kill", self.repeat)
        patch.start()
        self.addCleanup(patch.stop)
        for fd in self.interrupts.fds:
            self.addCleanup(os.close, fd)
        self.arrive()

    def arrive(self):
        os.write(self.interrupts.fds[1], bytes([SIGINT]))

    def repeat(self, _thread, _number):
        self.repeats += 1
        self.interrupts.count += 1
        self.arrive()

    def test_a_repeat_is_not_taken_for_another_signal(self):
        self.assertEqual(self.interrupts.repeat_missed(0), 1)
        self.assertEqual(self.repeats, 1)
        self.assertEqual(select.select([self.interrupts.wake_fd], [], [], 0)[0], [])

    def test_a_signal_that_has_its_effect_at_the_last_moment_is_not_repeated(self):
        read = self.interrupts._signals

        def read_late():
            self.interrupts.count = 1
            return read()

        with mock.patch.object(self.interrupts, "_signals", read_late):
            self.assertEqual(self.interrupts.repeat_missed(0), 1)
        self.assertEqual(self.repeats, 0)

    def test_an_interrupt_that_was_swallowed_is_not_repeated_in_the_next_step(self):
        self.interrupts._swallowed = True
        self.assertEqual(self.interrupts.guard(lambda: 1), (1, None))
        self.interrupts.count = 1
        self.assertEqual(self.interrupts.repeat_missed(0), 1)
        self.assertEqual(self.repeats, 0)


if __name__ == "__main__":
    unittest.main()
