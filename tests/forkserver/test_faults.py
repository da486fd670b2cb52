"""What the trusted processes do when the kernel refuses something: nothing is taken for done, or for gone, that is not."""

import errno
import os
import select
import socket
import sys
import unittest
from unittest import mock

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "python"))

from forkserver import descriptors  # noqa: E402
from forkserver.outbox import Outbox  # noqa: E402
from forkserver.processes import proc  # noqa: E402
from forkserver.sandbox import checks, limits  # noqa: E402
from forkserver.sandbox.privileged import cgroups, users  # noqa: E402

GONE = 2**22 + 1  # above every pid


def failing(number):
    return mock.Mock(side_effect=OSError(number, os.strerror(number)))


class Orders(unittest.TestCase):
    def send(self, number):
        peer = mock.Mock(spec=socket.socket)
        peer.sendmsg = failing(number)
        outbox = Outbox(peer, mock.Mock(spec=select.epoll))
        read, write = os.pipe()
        self.addCleanup(os.close, read)
        outbox.send({"op": "watch"}, [write])
        return outbox, write

    def test_one_that_cannot_be_sent_is_an_error(self):
        for number in (errno.ENOBUFS, errno.ENOMEM):
            with self.assertRaises(OSError):
                self.send(number)

    def test_one_to_a_sandbox_that_is_ending_is_dropped(self):
        _, fd = self.send(errno.EPIPE)
        self.assertRaises(OSError, os.fstat, fd)

    def test_one_that_does_not_fit_is_kept(self):
        outbox, fd = self.send(errno.EAGAIN)
        os.fstat(fd)
        outbox.close()


class Processes(unittest.TestCase):
    def test_one_that_cannot_be_read_is_not_gone(self):
        for number in (errno.EMFILE, errno.ENFILE, errno.ENOMEM):
            with mock.patch.object(os, "open", failing(number)):
                for look in (proc.mark_of, proc.state_of, proc.parent_of):
                    self.assertRaises(OSError, look, os.getpid())

    def test_one_that_is_gone(self):
        self.assertEqual((proc.mark_of(GONE), proc.state_of(GONE), proc.parent_of(GONE)), (-1, proc.GONE, 0))

    def test_a_signal_that_is_refused_is_an_error(self):
        proc.kill(GONE)
        with mock.patch.object(os, "kill", failing(errno.EPERM)):
            self.assertRaises(PermissionError, proc.kill, os.getpid())


class Descriptors(unittest.TestCase):
    def test_all_are_closed_although_one_is_not_open(self):
        read, write = os.pipe()
        descriptors.close_all([read, -1, write])
        self.assertRaises(OSError, os.fstat, write)


class Settings(unittest.TestCase):
    def test_what_cannot_be_read_is_not_absent(self):
        with mock.patch("builtins.open", failing(errno.EMFILE)):
            self.assertRaises(OSError, users.account_ids)
            self.assertRaises(OSError, limits.counts_of_a_sandbox)


class Cgroups(unittest.TestCase):
    def test_one_that_cannot_be_joined_is_removed_with_its_init(self):
        parent = mock.Mock(spec=cgroups.Parent, version=2)
        nursery = cgroups.Nursery(parent, 1)
        parent.make.return_value.has.return_value = False
        parent.make.return_value = refusing = mock.Mock(spec=cgroups.Cgroup)
        refusing.add = failing(errno.EIO)
        nursery._next = None
        self.assertRaises(OSError, nursery.take_in, 7, 4096)
        nursery.remove(7)
        refusing.remove.assert_called_once()

    def test_in_version_1_nobody_moves_another_process(self):
        parent = mock.Mock(spec=cgroups.Parent, version=1)
        nursery = cgroups.Nursery(parent, 1)
        cgroup = nursery.take_in(7, 4096)
        nursery.prepare()
        cgroup.add.assert_not_called()
        nursery.remove(7)
        cgroup.remove.assert_called_once()

    def test_one_that_the_fork_server_could_not_leave_is_removed_later(self):
        parent = mock.Mock(spec=cgroups.Parent, version=2)
        nursery = cgroups.Nursery(parent, 1)
        first = parent.make.return_value
        nursery.take_in(7, 4096)
        first.remove.return_value = False
        nursery.remove(7)
        first.remove.return_value = True
        first.remove.reset_mock()
        parent.make.return_value = mock.Mock(spec=cgroups.Cgroup)
        nursery.prepare()
        first.remove.assert_called_once()

    def test_one_that_the_fork_server_cannot_join_is_removed(self):
        parent = mock.Mock(spec=cgroups.Parent, version=2)
        refusing = parent.make.return_value = mock.Mock(spec=cgroups.Cgroup)
        refusing.add = failing(errno.EIO)
        self.assertRaises(OSError, cgroups.Nursery, parent, 1)
        refusing.remove.assert_called_once()


class Mounts(unittest.TestCase):
    EXPECTED = [checks.Shown("/", False), checks.Shown("/tmp", True), checks.Shown("/usr", False), checks.Shown("/tmp/a b", False),
                checks.Shown("/dev/null", True, has_devices=True)]
    LINES = ["1 0 0:1 / / ro,nosuid,nodev - tmpfs tmpfs rw", "2 1 0:2 / /tmp rw,nosuid,nodev - tmpfs tmpfs rw",
             "3 1 0:3 /usr /usr ro,nosuid,nodev - ext4 /dev/vda rw", "4 2 0:3 /x /tmp/a\\040b ro,nosuid,nodev - ext4 /dev/vda rw",
             "5 1 0:5 /null /dev/null rw,nosuid - devtmpfs none rw"]

    def check(self, *lines):
        checks._check_mounts("\n".join(lines).encode(), self.EXPECTED, ())

    def refuse(self, what, *lines):
        with self.assertRaisesRegex(OSError, what):
            self.check(*lines)

    def test_as_expected(self):
        self.check(*self.LINES)
        self.check(*self.LINES, "6 3 0:6 / /usr/local ro,nosuid,nodev - ext4 /dev/vdb rw")

    def test_odd_names(self):
        expected = [checks.Shown("/", False), checks.Shown("/a\r\x0b\n\\\udcff", False)]
        line = b"2 1 0:2 / /a\r\x0b\\012\\134\xff ro,nosuid,nodev - ext4 /dev/vda rw\n"
        checks._check_mounts(self.LINES[0].encode() + b"\n" + line, expected, ())

    def test_what_is_missing(self):
        self.refuse("/tmp is not mounted", self.LINES[0], *self.LINES[2:])

    def test_what_is_there_besides(self):
        self.refuse("/home of the host is there", *self.LINES, "6 1 0:6 / /home ro,nosuid,nodev - ext4 /dev/vdb rw")
        self.refuse("/ of the host is there", *self.LINES, "6 1 0:6 / / ro,nosuid,nodev - ext4 /dev/vdb rw")
        self.refuse("/usrlocal of the host is there", *self.LINES, "6 1 0:6 / /usrlocal ro,nosuid,nodev - ext4 /dev/vdb rw")

    def test_attributes(self):
        first, tmp, usr, inner, null = self.LINES
        self.refuse("/usr can be written", first, tmp, usr.replace("ro,", "rw,"), inner, null)
        self.refuse("/usr/local can be written", *self.LINES, "6 3 0:6 / /usr/local rw,nosuid,nodev - ext4 /dev/vdb rw")
        self.refuse("/tmp/a b can be written", first, tmp, usr, inner.replace("ro,", "rw,"), null)
        self.refuse("/tmp may have devices", first, tmp.replace(",nodev", ""), usr, inner, null)
        self.refuse("/dev/null may have devices", first, tmp, usr, inner, null.replace(",nosuid", ""))
        self.refuse("appear below /usr", first, tmp, usr.replace(" - ", " master:1 - "), inner, null)


if __name__ == "__main__":
    unittest.main()
