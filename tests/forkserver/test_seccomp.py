"""The system call filter for both architectures, run by a small interpreter of its instructions."""

import errno
import importlib
import os
import struct
import sys
import types
import unittest
from unittest import mock

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "python"))

KILLED, ALLOWED, ASKED = "killed", "allowed", "asked"
AUDIT = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}


class Filter:
    """The filter that a machine of this kind would have."""

    def __init__(self, machine, build=lambda package, options: package("sandbox.seccomp").build(**options), **options):
        self._arch = AUDIT[machine]
        with mock.patch.object(os, "uname", lambda: types.SimpleNamespace(machine=machine)):
            with mock.patch.dict(sys.modules):
                for name in [name for name in sys.modules if name.startswith("forkserver")]:
                    del sys.modules[name]
                program = build(lambda name: importlib.import_module(f"forkserver.{name}"), options)
                self._code = list(struct.iter_unpack("=HBBI", program))

    def outcome(self, number, *arguments):
        """KILLED, ALLOWED, or the number of an error; 0 for a call that does nothing and succeeds."""
        data = struct.pack("=iIQ6Q", number, self._arch, 0, *(a & (1 << 64) - 1 for a in (*arguments, 0, 0, 0, 0, 0, 0)[:6]))
        at, word, kept = 0, 0, 0
        while True:
            op, if_true, if_false, value = self._code[at]
            at += 1
            if op == 0x20:
                (word,) = struct.unpack_from("=I", data, value)
            elif op == 0x54:
                word &= value
            elif op == 0x07:
                kept = word
            elif op == 0x06:
                return {0x80000000: KILLED, 0x7FFF0000: ALLOWED, 0x7FC00000: ASKED}.get(value, value & 0xFFFF)
            else:
                is_true = {0x15: word == value, 0x1D: word == kept, 0x25: word > value, 0x45: word & value}[op]
                at += if_true if is_true else if_false


X64, ARM64 = Filter("x86_64", has_cgroup=True), Filter("aarch64", has_cgroup=True)


class Both(unittest.TestCase):
    def check(self, expected, numbers, *arguments):
        for name, program, number in (("x86_64", X64, numbers[0]), ("aarch64", ARM64, numbers[1])):
            with self.subTest(name, number=number, arguments=arguments):
                self.assertEqual(program.outcome(number, *arguments), expected)

    def test_ordinary_calls(self):
        for numbers in ((0, 63), (1, 64), (3, 57), (202, 98), (59, 221), (326, 285)):  # copy_file_range is the last
            self.check(ALLOWED, numbers)

    def test_other_worlds(self):
        self.assertEqual(X64.outcome(0x40000000 | 1), KILLED)
        self.check(errno.ENOSYS, (463, 463))

    def test_scheduling(self):
        for numbers, outcome in (((142, 118), ALLOWED), ((144, 119), ALLOWED), ((203, 122), ALLOWED), ((314, 274), errno.ENOSYS)):
            self.check(errno.EPERM, numbers, 1)
            for pid in (0, 2, 4711):
                self.check(outcome, numbers, pid)
        for policy, outcome in ((0, ALLOWED), (3, ALLOWED), (5, 0), (5 | 1 << 30, 0)):
            self.check(outcome, (144, 119), 0, policy)
        for nice, outcome in ((5, ALLOWED), (-1, ALLOWED), (6, 0), (19, 0)):
            self.check(outcome, (141, 140), 0, 0, nice)
        for numbers, process, others in (((141, 140), 0, (1, 2)), ((251, 30), 1, (2, 3))):
            self.check(errno.EPERM, numbers, process, 1)
            self.check(ALLOWED, numbers, process, 0)
            self.check(ALLOWED, numbers, process, 17)
            for other in others:
                self.check(errno.EPERM, numbers, other, 0)

    def test_leases_and_locks(self):
        for command in (1024, 1026, 37, 38):
            self.check(errno.EINVAL, (72, 25), 5, command)
        for command in (0, 1, 2, 3, 4, 5, 6, 7, 1030, 1031, 1032):
            self.check(ALLOWED, (72, 25), 5, command)

    def test_pairs_of_sockets(self):
        for kind in (1, 5, 1 | 0o4000, 5 | 0o2000000):
            self.check(ALLOWED, (53, 199), 1, kind)
        for family, kind in ((1, 2), (1, 3), (1, 4), (1, 2 | 0o2000000), (2, 1), (16, 3)):
            self.check(errno.EPERM, (53, 199), family, kind)
        self.check(errno.EACCES, (41, 198), 1, 1)

    def test_disks(self):
        self.check(0, (162, 81))
        self.check(errno.ENOSYS, (306, 267))
        for numbers in ((206, 0), (207, 1), (208, 4), (209, 2), (210, 3), (333, 292)):
            self.check(errno.ENOSYS, numbers)
        for numbers in ((74, 82), (75, 83), (277, 84)):  # fsync, fdatasync, sync_file_range
            self.check(ALLOWED, numbers, 3)

    def test_pages_in_pipes_and_sockets(self):
        for numbers in ((278, 75), (275, 76), (276, 77), (40, 71)):
            self.check(errno.EINVAL, numbers)

    def test_memory_of_the_kernel(self):
        for number in (444, 445, 446):
            self.check(errno.ENOSYS, (number, number))
        for option in (62, 78):
            self.check(errno.EINVAL, (157, 167), option)
        for option in (1, 3, 15, 22, 38):
            self.check(ALLOWED, (157, 167), option)
        for dumpable, outcome in ((0, 0), (1, ALLOWED), (2, 0)):
            self.check(outcome, (157, 167), 4, dumpable)
        for name, outcome in ((7, 0), (8, 0), (26, errno.EPERM), (50, errno.EPERM), (16, ALLOWED), (2, ALLOWED)):
            self.check(outcome, (54, 208), 3, 1, name)
        self.check(ALLOWED, (54, 208), 3, 6, 7)
        self.check(errno.ENOMEM, (9, 222), 0, 4096, 3, 0x40022, -1, 0)
        self.check(ALLOWED, (9, 222), 0, 4096, 3, 0x22, -1, 0)

    def test_extended_attributes(self):
        for numbers in ((188, 5), (189, 6), (190, 7)):
            self.check(errno.EOPNOTSUPP, numbers)
        for numbers in ((191, 8), (194, 11), (197, 14)):  # getxattr, listxattr, removexattr
            self.check(ALLOWED, numbers)

    def test_core_dumps(self):
        pointer, high = 0x1000, 1 << 32
        self.check(0, (160, 164), 4, pointer)
        self.check(ALLOWED, (160, 164), 7, pointer)
        for new in (pointer, high):
            self.check(0, (302, 261), 0, 4, new, 0)
            self.check(ALLOWED, (302, 261), 0, 7, new, 0)
        self.check(ALLOWED, (302, 261), 0, 4, 0, pointer)
        self.check(errno.EPERM, (302, 261), 1, 4, 0, pointer)

    def test_threads_and_their_descriptors(self):
        thread = 0x3D0F00  # as the C library makes one
        self.check(ALLOWED, (56, 220), thread)
        self.check(ALLOWED, (56, 220), 17)
        self.check(ALLOWED, (56, 220), 0x4111)  # vfork
        self.check(errno.EPERM, (56, 220), thread & ~0x400)
        self.check(errno.EPERM, (56, 220), 0x411)
        self.check(errno.EPERM, (56, 220), 0x511)
        self.check(errno.EPERM, (56, 220), thread | 0x10000000)
        self.check(errno.EINVAL, (436, 436), 3, 4, 2)
        self.check(errno.EINVAL, (436, 436), 3, 4, 6)
        self.check(ALLOWED, (436, 436), 3, 4, 4)

    def test_shared_memory_without_a_name(self):
        both = (Filter("x86_64", has_cgroup=False), 9), (Filter("aarch64", has_cgroup=False), 222)
        for program, number in both:
            for flags in (0x21, 0x23, 0x8021):
                self.assertEqual(program.outcome(number, 0, 4096, 3, flags, -1, 0), errno.EPERM)
            for flags in (0x22, 0x28, 0x01, 0x03, 0x02, 0x4022):
                self.assertEqual(program.outcome(number, 0, 4096, 3, flags, -1, 0), ALLOWED)
            self.assertEqual(program.outcome(number, 0, 4096, 3, 0x40021, -1, 0), errno.ENOMEM)
        self.check(ALLOWED, (9, 222), 0, 4096, 3, 0x21, -1, 0)


class Members(unittest.TestCase):
    """The filter of workers and commands where there are no namespaces. Their init is process 70."""

    def check(self, expected, numbers, *arguments, is_supervised=True, **member):
        member = {"shares_user": True, "truncates": True, "contains_signals": False, **member}
        build = lambda package, _: (lambda filters: filters.build(filters.Member(70, **member), is_supervised))(  # noqa: E731
            package("container.member_filter"))
        for machine, number in (("x86_64", numbers[0]), ("aarch64", numbers[1])):
            with self.subTest(machine, number=number, arguments=arguments):
                self.assertEqual(Filter(machine, build).outcome(number, *arguments), expected)

    def test_signals(self):
        kill, tgkill = (62, 129), (234, 131)
        for pid in (70, -70, -1):
            self.check(errno.EPERM, kill, pid, 9)
            self.check(errno.EPERM, kill, pid, 9, contains_signals=True)
        self.check(ALLOWED, kill, 0, 9)
        for pid in (71, -71, 1):
            self.check(ASKED, kill, pid, 9)
            self.check(errno.EPERM, kill, pid, 9, is_supervised=False)
            self.check(ALLOWED, kill, pid, 9, contains_signals=True)
        self.check(ASKED, tgkill, 71, 71, 9)
        self.check(errno.EPERM, tgkill, 70, 70, 9)
        for numbers in ((129, 138), (297, 240)):
            self.check(errno.EPERM, numbers, 71)
        for numbers in ((200, 130), (424, 424), (317, 277)):
            self.check(errno.ENOSYS, numbers, 71)

    def test_new_processes(self):
        for number, flags in ((57, 17), (58, 17), (56, 0x4111), (56, 0x10F00)):
            self.check(ASKED, (number, 220), flags)
            self.check(ALLOWED, (number, 220), flags, is_supervised=False)

    def test_files_of_the_user(self):
        for numbers in ((91, 52), (280, 88), (268, 53), (452, 452)):
            self.check(ASKED, numbers, 3, 0)
            self.check(0, numbers, 3, 0, is_supervised=False)
            self.check(ALLOWED, numbers, 3, 0, shares_user=False)
        self.check(0, (93, 55), 3, 0)
        self.check(ALLOWED, (93, 55), 3, 0, shares_user=False)

    def test_names_of_sockets(self):
        self.check(errno.EPERM, (49, 200), 3, 1, 20)

    def test_groups(self):
        for pid, group, outcome in ((0, 0, ALLOWED), (71, 71, ALLOWED), (71, 0, ALLOWED), (0, 71, errno.EPERM), (71, 72, errno.EPERM)):
            self.check(outcome, (109, 154), pid, group)
        self.check(ALLOWED, (109, 154), 71, 72, contains_signals=True)
        self.check(errno.EPERM, (109, 154), 71, 70, contains_signals=True)

    def test_scheduling(self):
        for numbers in ((142, 118), (144, 119), (203, 122), (314, 274)):
            for pid, outcome in ((70, errno.EPERM), (0, ALLOWED), (71, ASKED)):
                self.check(outcome, numbers, pid)
            self.check(ALLOWED, numbers, 71, shares_user=False)
        for numbers in ((141, 140), (251, 30)):
            for pid, outcome in ((70, errno.EPERM), (0, ALLOWED), (71, ASKED)):
                self.check(outcome, numbers, 0, pid)

    def test_opening(self):
        openat = 257, 56
        for flags in (0, 1, 2, 0o1001, 0o1002, 0o101):
            self.check(ALLOWED, openat, 0, 0, flags, truncates=False)
        for flags in (3, 0o1003):
            self.check(errno.EACCES, openat, 0, 0, flags)
            self.check(errno.EACCES, openat, 0, 0, flags, shares_user=False)
        self.check(ALLOWED, openat, 0, 0, 0o1000)
        self.check(errno.EACCES, openat, 0, 0, 0o1000, truncates=False)


if __name__ == "__main__":
    unittest.main()
