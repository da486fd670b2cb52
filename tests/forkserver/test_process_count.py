"""The number of processes where the kernel does not limit it well: the init counts, and allows each or ends what has too many."""

import os
import select
import sys
import unittest
from unittest import mock

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "python"))

from forkserver.container import supervisor  # noqa: E402
from forkserver.processes import kernel_objects, proc, process_barrier  # noqa: E402
from forkserver.processes.branches import Branch  # noqa: E402
from forkserver.processes.memory_limits import Group  # noqa: E402
from forkserver.sandbox.limits import Limits  # noqa: E402


class Counted(unittest.TestCase):
    def killed(self, groups, strays, threads):
        """What is killed if these processes have so many threads each, and 8 are allowed."""
        branches = {number: Branch(number, number, mock.Mock(), set(), pid=number) for number in groups}
        memory = mock.Mock()
        memory.groups.return_value = [Group((number, False), branches[number], pids) for number, pids in groups.items()], strays
        kill_branch = mock.Mock()
        objects = kernel_objects.KernelObjects(
            Limits(1, 1, 8, 1), memory, branches, mock.Mock(), mock.Mock(), mock.Mock(), kill_branch)
        every = [pid for pids in (strays, *groups.values()) for pid in pids]
        with mock.patch.object(kernel_objects, "processes", return_value=every), \
                mock.patch.object(proc, "threads_of", side_effect=lambda pid: threads), \
                mock.patch.object(kernel_objects, "kill") as kill:
            objects._limit_processes(8)
        return [call.args[0].number for call in kill_branch.call_args_list], sorted(call.args[0] for call in kill.call_args_list)

    def test_as_many_as_allowed_are_left_alone(self):
        self.assertEqual(self.killed({1: [10, 11]}, [12, 13], 2), ([], []))

    def test_the_largest_branch_is_ended(self):
        self.assertEqual(self.killed({1: [10], 2: [20, 21, 22]}, [30], 2), ([2], []))

    def test_threads_count(self):
        self.assertEqual(self.killed({1: [10]}, [], 9), ([1], []))

    def test_strays_are_ended_where_they_are_the_most(self):
        self.assertEqual(self.killed({1: [10]}, list(range(20, 30)), 1), ([], list(range(20, 30))))

    def test_threads_of_this_process(self):
        self.assertEqual(proc.count_threads([os.getpid()]), len(os.listdir("/proc/self/task")))


class Asked(unittest.TestCase):
    def setUp(self):
        self.supervisor = supervisor.Supervisor(1, 5, mock.Mock())
        self.listener, self.other = os.pipe()
        self.addCleanup(os.close, self.listener)
        self.addCleanup(os.close, self.other)
        self.poll = self.supervisor._poll = select.poll()
        self.poll.register(self.listener, select.POLLIN)
        os.write(self.other, b"question")
        self.now = 100.0
        for target, name, fake in ((supervisor.time, "monotonic", lambda: self.now), (proc, "processes", self.list),
                                   (proc, "threads_of", lambda pid: 2)):
            patch = mock.patch.object(target, name, fake)
            patch.start()
            self.addCleanup(patch.stop)
        self.pids = [10]
        self.counts = 0

    def list(self):
        self.counts += 1
        self.now += 0.01
        return self.pids

    def count_new(self):
        self.supervisor._count_new(self.listener)

    def test_as_many_as_there_is_room_for_are_allowed_without_another_count(self):
        self.count_new()
        self.count_new()
        self.assertEqual(self.counts, 1)

    def test_one_too_many_is_refused(self):
        self.pids = [10, 11]
        self.assertRaises(BlockingIOError, self.count_new)

    def test_those_that_ended_make_room(self):
        self.count_new()
        self.count_new()
        self.pids = [10, 11]
        self.assertRaises(BlockingIOError, self.count_new)
        self.pids = [10]
        self.count_new()

    def test_after_a_refusal_the_next_question_waits_so_that_counts_take_a_part_of_the_time(self):
        self.pids = [10, 11]
        self.assertRaises(BlockingIOError, self.count_new)
        self.assertEqual(self.poll.poll(0), [])
        self.assertAlmostEqual(self.supervisor.until_due_ms(), 40)
        self.supervisor.proceed()
        self.assertEqual(self.poll.poll(0), [])
        self.now += 0.05
        self.supervisor.proceed()
        self.assertEqual(self.poll.poll(0), [(self.listener, select.POLLIN)])
        self.assertIsNone(self.supervisor.until_due_ms())


class Listener(unittest.TestCase):
    def hand_over(self, ioctl):
        """Returns the listener that the init has after a member has handed over its own."""
        means = mock.patch.object(process_barrier, "_means", process_barrier._means)
        means.start()
        self.addCleanup(means.stop)
        asked = supervisor.Supervisor(1, 5, mock.Mock())
        asked.open()
        asked.register(select.poll())
        sent, other = os.pipe()
        self.addCleanup(os.close, other)
        asked.hand_over(sent)
        with mock.patch.object(supervisor.fcntl, "ioctl", ioctl):
            asked.handle(asked._ours.fileno(), select.POLLIN)
        listener, = asked._listeners
        self.addCleanup(os.close, listener)
        self.addCleanup(asked._ours.close)
        return listener

    def test_the_init_is_woken_at_once(self):
        ioctl = mock.Mock()
        listener = self.hand_over(ioctl)
        ioctl.assert_called_once_with(listener, 0x40082104, 1)

    def test_a_kernel_that_cannot_wake_it_at_once_is_used_all_the_same(self):
        self.hand_over(mock.Mock(side_effect=OSError(22, "Invalid argument")))


class Barrier(unittest.TestCase):
    def setUp(self):
        patch = mock.patch.object(process_barrier, "_means", process_barrier._means)
        patch.start()
        self.addCleanup(patch.stop)

    def test_one_that_cannot_hold_ends_the_sandbox(self):
        process_barrier.cannot_hold()
        with self.assertRaises(RuntimeError), process_barrier.no_new_processes(4):
            pass

    def test_no_thread_is_needed_where_new_processes_wait_for_the_init(self):
        process_barrier.cannot_hold()
        process_barrier.hold_by_answers()
        before = len(os.listdir("/proc/self/task"))
        with process_barrier.no_new_processes(4):
            self.assertEqual(len(os.listdir("/proc/self/task")), before)


if __name__ == "__main__":
    unittest.main()
