"""Questions that the init has answered by a forked process: whatever happens to that, there is an answer in time."""

import os
import signal
import sys
import time
import unittest
from unittest import mock

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "python"))

from forkserver.processes import queries  # noqa: E402


def spin(cpu_s):
    until = time.process_time() + cpu_s
    while time.process_time() < until:
        pass


class Asked(unittest.TestCase):
    def setUp(self):
        self.queries = queries.Queries(set())
        self.answers = []

    def ask(self, question, key="key"):
        return self.queries.ask(key, question, lambda: self.answers.append("yes"), lambda: self.answers.append("no"))

    def reap(self, key="key"):
        _, status = os.waitpid(self.pid(key), 0)
        pid = self.pid(key)
        self.assertTrue(self.queries.reaped(pid, os.waitstatus_to_exitcode(status)))
        self.assertNotIn(pid, self.queries)

    def pid(self, key="key"):
        pid = self.queries._by_key[key].pid
        self.assertIn(pid, self.queries)
        return pid

    def test_answers(self):
        for question, answer in ((lambda: True, "yes"), (lambda: False, "no"), (lambda: 1 // 0, "yes")):
            self.answers.clear()
            self.assertTrue(self.ask(question))
            self.reap()
            self.assertEqual(self.answers, [answer])
        self.assertIsNone(self.queries.until_deadline_ms())

    def test_one_that_is_killed_counts_as_yes(self):
        self.ask(signal.pause)
        os.kill(self.pid(), signal.SIGKILL)
        self.reap()
        self.assertEqual(self.answers, ["yes"])

    def test_one_that_is_stopped_counts_as_yes_at_its_deadline_and_once(self):
        with mock.patch.object(queries, "TIMEOUT_S", 0.1):
            self.ask(signal.pause)
        os.kill(self.pid(), signal.SIGSTOP)
        self.queries.check_deadlines()
        self.assertEqual(self.answers, [])
        time.sleep(self.queries.until_deadline_ms() / 1000)
        self.queries.check_deadlines()
        self.queries.check_deadlines()
        self.assertEqual(self.answers, ["yes"])
        self.assertIsNone(self.queries.until_deadline_ms())
        self.assertFalse(self.ask(lambda: True))  # until its process is gone
        self.reap()
        self.assertEqual(self.answers, ["yes"])
        self.assertTrue(self.ask(lambda: False))
        self.reap()

    def test_one_that_gets_no_processor_is_waited_for(self):
        others, work = self.starve(0.05)
        with mock.patch.object(queries, "TIMEOUT_S", 0.1), mock.patch.object(queries, "processes", lambda: [self.pid()]):
            self.ask(work)
            self.wait_for_answer(lambda: [os.kill(pid, signal.SIGKILL) for pid in others] if self.is_put_off() else None)
        self.assertEqual(self.answers, ["no"])

    def test_one_that_gets_no_processor_because_of_its_own_sandbox_counts_as_yes(self):
        others, work = self.starve(3600)
        with mock.patch.object(queries, "TIMEOUT_S", 0.1), mock.patch.object(queries, "processes", lambda: others):
            self.ask(work)
            self.wait_for_answer()
        self.assertEqual(self.answers, ["yes"])
        self.reap()

    def test_one_that_works_for_too_long_counts_as_yes(self):
        with mock.patch.object(queries, "TIMEOUT_S", 0.1), mock.patch.object(queries, "processes", lambda: [self.pid()]):
            self.ask(lambda: spin(3600))
            self.wait_for_answer()
        self.assertEqual(self.answers, ["yes"])
        self.reap()

    def test_one_that_has_answered_in_time_and_is_not_reaped_yet_is_waited_for(self):
        with mock.patch.object(queries, "TIMEOUT_S", 0):
            self.ask(lambda: False)
        os.waitid(os.P_PID, self.pid(), os.WEXITED | os.WNOWAIT)
        self.queries.check_deadlines()
        self.assertEqual(self.answers, [])
        self.reap()
        self.assertEqual(self.answers, ["no"])

    def is_put_off(self):
        return self.queries._by_key["key"].most_cpu_s is not None

    def wait_for_answer(self, each_round=lambda: None):
        """As the init does, which also learns when a child has ended."""
        while not self.answers:
            if os.waitid(os.P_PID, self.pid(), os.WEXITED | os.WNOWAIT | os.WNOHANG):
                self.reap()
            else:
                time.sleep(min(0.01, self.queries.until_deadline_ms() / 1000))
                self.queries.check_deadlines()
                each_round()

    def starve(self, cpu_s):
        """Four processes that keep a processor busy, and a question that needs so much of it and hardly gets any."""
        processor = min(os.sched_getaffinity(0))

        def work():
            os.nice(19)
            os.sched_setaffinity(0, {processor})
            spin(cpu_s)

        return [self.spin(processor) for _ in range(4)], work

    def spin(self, processor):
        """A process that keeps a processor busy until the test ends."""
        pid = os.fork()
        if pid == 0:
            os.sched_setaffinity(0, {processor})
            spin(3600)
            os._exit(0)
        self.addCleanup(os.waitpid, pid, 0)
        self.addCleanup(os.kill, pid, signal.SIGKILL)
        return pid

    def test_one_at_a_time_for_each_key(self):
        self.assertTrue(self.ask(lambda: True, 1))
        self.assertFalse(self.ask(lambda: True, 1))
        self.assertTrue(self.ask(lambda: True, 2))
        self.reap(2)
        self.reap(1)
        self.assertEqual(self.answers, ["yes", "yes"])

    def test_one_that_cannot_be_forked_is_tried_again_until_its_deadline(self):
        refused = mock.patch.object(os, "fork", side_effect=BlockingIOError)
        with refused:
            self.ask(lambda: False)
            self.queries.check_deadlines()
        self.queries.check_deadlines()
        self.reap()
        self.assertEqual(self.answers, ["no"])
        with refused, mock.patch.object(queries, "TIMEOUT_S", 0):
            self.ask(lambda: False)
            self.queries.check_deadlines()
        self.assertEqual(self.answers, ["no", "yes"])
        self.assertTrue(self.ask(lambda: False))
        self.reap()


if __name__ == "__main__":
    unittest.main()
