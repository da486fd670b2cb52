"""The number of processes where the kernel does not limit it: the init counts, and no barrier holds."""

import os
import sys
import unittest
from unittest import mock

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "python"))

from forkserver.processes import kernel_objects, process_barrier  # noqa: E402
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
                mock.patch.object(kernel_objects, "threads_of", side_effect=lambda pid: threads), \
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
        self.assertEqual(kernel_objects._count_threads([os.getpid()]), len(os.listdir("/proc/self/task")))


class Barrier(unittest.TestCase):
    def test_one_that_cannot_hold_ends_the_sandbox(self):
        with mock.patch.object(process_barrier, "_can_hold", True):
            process_barrier.cannot_hold()
            with self.assertRaises(RuntimeError), process_barrier.no_new_processes(4):
                pass


if __name__ == "__main__":
    unittest.main()
