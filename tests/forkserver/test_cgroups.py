"""Where memory cgroups of sandboxes are made: by the kernel's texts, and in a tree of files that stands for version 2."""

import errno
import os
import sys
import tempfile
import unittest
from unittest import mock

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "python"))

from forkserver.sandbox.privileged import cgroups  # noqa: E402

V1_MOUNT = "36 30 0:32 {root} {at} rw,relatime - cgroup cgroup rw,memory\n"
V2_MOUNT = "37 30 0:33 {root} {at} rw,relatime - cgroup2 cgroup2 rw\n"


class Locate(unittest.TestCase):
    def test_version_1(self):
        mounts = V1_MOUNT.format(root="/", at="/sys/fs/cgroup/memory")
        found = cgroups.locate("5:cpu:/\n4:memory:/service/a\n0::/\n", mounts, "memory")
        self.assertEqual(found, [(1, "/sys/fs/cgroup/memory/service/a")])

    def test_version_2(self):
        mounts = V2_MOUNT.format(root="/", at="/sys/fs/cgroup")
        self.assertEqual(cgroups.locate("0::/user.slice/a.scope\n", mounts, "memory"), [(2, "/sys/fs/cgroup/user.slice/a.scope")])

    def test_a_container_sees_only_its_own_part(self):
        mounts = V1_MOUNT.format(root="/docker/abc", at="/sys/fs/cgroup/memory")
        self.assertEqual(cgroups.locate("4:memory:/docker/abc\n", mounts, "memory"), [(1, "/sys/fs/cgroup/memory")])
        self.assertEqual(cgroups.locate("4:memory:/docker/abcdef\n", mounts, "memory"), [])
        mounts = V2_MOUNT.format(root="/", at="/sys/fs/cgroup")
        self.assertEqual(cgroups.locate("0::/../other\n", mounts, "memory"), [])

    def test_other_controllers_and_file_systems(self):
        self.assertEqual(cgroups.locate("3:cpu:/\n", "36 30 0:32 / /c rw - cgroup cgroup rw,cpu\n", "memory"), [])
        self.assertEqual(cgroups.locate("0::/\n", "36 30 0:32 / /tmp rw - tmpfs tmpfs rw\n", "memory"), [])

    def test_escaped_path(self):
        self.assertEqual(cgroups.locate("0::/\n", V2_MOUNT.format(root="/", at=r"/a\040b"), "memory"), [(2, "/a b")])


class Delegated(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.give("cgroup.subtree_control", "")
        self.give("cgroup.controllers", "cpu memory pids")
        self.give("cgroup.procs", "11\n12\n")
        os.mkdir(f"{self.folder}/{cgroups.LEAF}")
        self.give(f"{cgroups.LEAF}/cgroup.procs", "")

    def give(self, name, content):
        with open(f"{self.folder}/{name}", "w") as file:
            file.write(content)

    def read(self, name):
        with open(f"{self.folder}/{name}") as file:
            return file.read()

    def find(self, pids, delegated=True):
        with mock.patch.object(cgroups, "_is_delegated", lambda folder: delegated):
            return cgroups._delegated(self.folder, pids)

    def test_own_processes_move_to_a_leaf(self):
        self.assertEqual(self.find({11, 12, 13}), cgroups.Parent(2, self.folder))
        self.assertEqual(self.read("cgroup.subtree_control"), "+memory +cpu")
        self.assertIn("12", self.read(f"{cgroups.LEAF}/cgroup.procs"))

    def test_processes_of_others_are_not_moved(self):
        self.assertIsNone(self.find({11}))
        self.assertEqual(self.read("cgroup.subtree_control"), "")

    def test_a_cgroup_of_somebody_else_is_left_alone(self):
        self.assertIsNone(self.find({11, 12}, delegated=False))

    def test_without_a_memory_controller(self):
        self.give("cgroup.controllers", "cpu pids")
        self.assertIsNone(self.find({11, 12}))

    def test_without_a_cpu_controller(self):
        self.give("cgroup.controllers", "memory pids")
        self.assertIsNotNone(self.find({11, 12}))
        self.assertEqual(self.read("cgroup.subtree_control"), "+memory")

    def test_a_second_fork_server_starts_in_the_leaf(self):
        self.give("cgroup.subtree_control", "memory")
        leaf = f"{self.folder}/{cgroups.LEAF}"
        self.assertEqual(cgroups._delegated(leaf, set()), cgroups.Parent(2, self.folder))


class FakeKernel:
    """A tree of files that behaves like a cgroup2 mount where it matters: a new cgroup has its files, a process is in one cgroup,
    controllers are enabled in a cgroup without processes only, and a cgroup with processes cannot be removed."""

    FILES = {"cgroup.procs": "", "cgroup.controllers": "", "cgroup.subtree_control": ""}
    OF_MEMORY = {"memory.max": "max", "memory.swap.max": "max", "memory.events": "oom 0\noom_kill 0\n"}

    def __init__(self, root):
        self.root = root
        self.real = {"mkdir": os.mkdir, "rmdir": os.rmdir, "_write": cgroups._write}

    def make(self, path, controllers=None):
        self.real["mkdir"](path)
        parent = os.path.dirname(path)
        enabled = self.read(f"{parent}/cgroup.subtree_control").split() if controllers is None else controllers
        files = {**self.FILES, "cgroup.controllers": " ".join(enabled)}
        files.update(self.OF_MEMORY if "memory" in enabled else {})
        files.update({"cpu.weight": "100"} if "cpu" in enabled else {})
        for name, content in files.items():
            with open(f"{path}/{name}", "w") as file:
                file.write(content)

    def remove(self, path):
        if self.read(f"{path}/cgroup.procs").split():
            raise OSError(errno.EBUSY, "it has processes")
        for name in os.listdir(path):
            os.unlink(f"{path}/{name}")
        self.real["rmdir"](path)

    def write(self, path, text):
        folder, name = os.path.split(path)
        if name == "cgroup.procs":
            if self.read(f"{folder}/cgroup.subtree_control").split():
                raise OSError(errno.EBUSY, "it is no leaf")
            self.move(text, folder)
        elif name == "cgroup.subtree_control":
            if self.read(f"{folder}/cgroup.procs").split():
                raise OSError(errno.EBUSY, "it has processes")
            self.real["_write"](path, " ".join(part.lstrip("+") for part in text.split()))
        else:
            os.truncate(path, 0)  # the kernel keeps a value, not bytes
            self.real["_write"](path, text)

    def move(self, pid, folder):
        for parent, _, names in os.walk(self.root):
            if "cgroup.procs" in names:
                pids = [other for other in self.read(f"{parent}/cgroup.procs").split() if other != pid]
                with open(f"{parent}/cgroup.procs", "w") as file:
                    file.write("".join(f"{other}\n" for other in pids + [pid] * (parent == folder)))

    def read(self, path):
        with open(path) as file:
            return file.read()


class Version2(unittest.TestCase):
    """From the texts of the kernel to the cgroup of a sandbox, on a tree that stands for a cgroup delegated to an ordinary user."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.mount = f"{folder.name}/cgroup"
        self.own = f"{self.mount}/service"
        self.kernel = FakeKernel(self.mount)
        self.kernel.make(self.mount, ["cpu", "memory"])
        self.kernel.make(self.own, ["cpu", "memory", "pids"])
        for pid in ("11", "12"):
            self.kernel.move(pid, self.own)
        self.proc = f"{folder.name}/proc"
        os.mkdir(self.proc)
        for name, text in (("cgroup", "0::/service\n"), ("mountinfo", V2_MOUNT.format(root="/", at=self.mount))):
            with open(f"{self.proc}/{name}", "w") as file:
                file.write(text)
        for patch in (mock.patch.object(cgroups.os, "mkdir", lambda path, mode=0o777: self.kernel.make(path)),
                      mock.patch.object(cgroups.os, "rmdir", self.kernel.remove),
                      mock.patch.object(cgroups, "_write", self.kernel.write),
                      mock.patch.object(cgroups, "_is_delegated", lambda folder: folder == self.own)):
            patch.start()
            self.addCleanup(patch.stop)

    def members(self, folder):
        return self.kernel.read(f"{folder}/cgroup.procs").split()

    def test_a_sandbox_is_born_in_a_cgroup_with_its_limit(self):
        parent = cgroups.find({11, 12}, self.proc)
        self.assertEqual(parent, cgroups.Parent(2, self.own))
        self.assertEqual((self.members(self.own), self.members(f"{self.own}/{cgroups.LEAF}")), ([], ["11", "12"]))
        nursery = cgroups.Nursery(parent, 12)
        waiting = next(f"{self.own}/{name}" for name in os.listdir(self.own) if name.startswith("rlm-") and name != cgroups.LEAF)
        self.assertEqual(self.members(waiting), ["12"])
        self.kernel.move("12", waiting)
        with open(f"{waiting}/cgroup.procs", "a") as file:
            file.write("13\n")  # a child is born where its parent is
        cgroup = nursery.take_in(13, 1 << 26)
        nursery.prepare()
        self.assertEqual((cgroup.folder, self.members(waiting)), (waiting, ["13"]))
        self.assertEqual([self.kernel.read(f"{waiting}/{name}") for name in ("memory.max", "memory.swap.max", "cpu.weight")],
                         [str(1 << 26), "0", "50"])
        late = nursery.take_in(14, 1 << 26)  # it was born elsewhere, and is moved
        self.assertEqual(self.members(late.folder), ["14"])
        for pid in ("12", "13", "14"):
            self.kernel.move(pid, f"{self.own}/{cgroups.LEAF}")
        nursery.end()
        self.assertEqual([name for name in os.listdir(self.own) if os.path.isdir(f"{self.own}/{name}")], [cgroups.LEAF])

    def test_a_process_makes_and_joins_its_own(self):
        cgroup = cgroups.find({11, 12}, self.proc).place(1)
        cgroup.join(1 << 26)
        self.assertEqual(self.kernel.read(f"{cgroup.folder}/memory.max"), str(1 << 26))
        self.assertEqual(self.members(cgroup.folder), ["0"])  # which is the calling process

    def test_what_makers_left_behind_is_removed(self):
        here = os.stat("/proc/self/ns/pid").st_ino
        gone = 2 ** 22 + 1  # no process has this number
        old, new = (f"{self.own}/rlm-{here + 1}-{gone}-{number}" for number in (1, 2))
        dead, own = f"{self.own}/rlm-{here}-{gone}-1", f"{self.own}/rlm-{here}-{os.getpid()}-7"
        for folder in (old, new, dead, own):
            os.mkdir(folder)
            with open(f"{folder}/cgroup.procs", "w"):
                pass
        os.utime(old, (0, 0))
        cgroups._remove_stale(self.own)
        # An init in another process namespace may be about to enter the new one.
        self.assertEqual([os.path.exists(folder) for folder in (old, new, dead, own)], [False, True, False, True])

    def test_without_a_delegated_cgroup_there_is_none(self):
        self.assertIsNone(cgroups.find({11}, self.proc))  # 12 is somebody else's
        with open(f"{self.own}/cgroup.controllers", "w") as file:
            file.write("pids")
        self.assertIsNone(cgroups.find({11, 12}, self.proc))
        self.assertEqual(self.members(self.own), ["11", "12"])


class Processors(unittest.TestCase):
    def test_version_1_may_have_both_in_one_mount(self):
        mounts = "36 30 0:32 / /c rw - cgroup cgroup rw,cpu,cpuacct\n"
        self.assertEqual(cgroups.locate("3:cpu,cpuacct:/\n", mounts, "cpu"), [(1, "/c")])

    def test_what_cannot_be_made_is_done_without(self):
        with tempfile.TemporaryDirectory() as folder:
            self.assertIsNone(cgroups.Parent(1, folder, f"{folder}/absent").share_processors(os.getpid()))
            self.assertIsNone(cgroups.Parent(1, folder, folder).share_processors(os.getpid()))  # files instead of a cgroup


class Limits(unittest.TestCase):
    def test_version_2_allows_no_swap(self):
        with tempfile.TemporaryDirectory() as folder:
            for name in ("memory.max", "memory.swap.max"):
                open(f"{folder}/{name}", "w").close()
            cgroups.Cgroup(2, folder).set_limit(4096)
            with open(f"{folder}/memory.max") as limit, open(f"{folder}/memory.swap.max") as swap:
                self.assertEqual((limit.read(), swap.read()), ("4096", "0"))

    def test_kills_are_counted(self):
        with tempfile.TemporaryFile() as events:
            events.write(b"low 0\nhigh 0\nmax 7\noom 2\noom_kill 3\noom_group_kill 0\n")
            events.flush()
            self.assertEqual(cgroups.oom_kills(events.fileno()), 3)


if __name__ == "__main__":
    unittest.main()
