"""The broker: one small process that keeps privileges for the fork server, which has none.

It gives each sandbox a user and a memory cgroup of its own, and makes mounts in which the owner of a folder appears as that user.
Where a file system cannot do that, the sandbox gets the ids of the owner.
It talks only to the fork server, never forks a sandbox, and does nothing for a process that is not a child of the fork server. Where the host
is root, the broker is root. An ordinary user with subordinate ids has one too; it has its privileges in a user namespace in
which these ids exist, and makes no mounts.
"""
from __future__ import annotations

import errno
import json
import os
import select
import socket

from ..namespaces import USER
from ..reports import DONE
from ..trees import Mount
from .cgroups import Nursery, Parent
from .owned_mounts import Ids, OwnerNeeded, owned_tree, user_namespace
from .users import Users, open_init, open_lock_file


_NOT_A_CHILD = "the process is not a child of the fork server"


class BrokerGone(BaseException):
    """The broker has ended. No handler of a failed order may stop this: without its broker the fork server leaves."""


class Broker:
    """The fork server's end. Methods raise OSError with the reason why a request failed, or BrokerGone."""

    def __init__(self, peer: socket.socket, makes_mounts: bool, cgroups: Parent | None) -> None:
        self.socket = peer
        self.makes_mounts = makes_mounts
        self.cgroups = cgroups
        self.has_users = False

    def wait_until_ready(self) -> str | None:
        """None if sandboxes get users of their own, else why not."""
        answer, _ = self._receive()
        self.has_users = answer["why"] is None
        if not answer["has_cgroups"]:
            self.cgroups = None
        return answer["why"]

    def has_ended(self) -> bool:
        poll = select.poll()
        poll.register(self.socket, 0)  # an end that is closed is reported always
        return bool(poll.poll(0))

    def take_user(self) -> int:
        """A user for a sandbox that is not forked yet."""
        return self._ask({"op": "take"})[0]["user"]

    def put_back(self, user: int) -> None:
        """The sandbox was not forked."""
        self._tell({"op": "put-back", "user": user})

    def adopt(self, pid: int, wants_user: bool, user: int | Ids | None, memory_bytes: int, report: int) -> None:
        """For a child that was just forked: maps a user, or the next one, into its user namespace if it wants one, and moves it to
        a memory cgroup of its own. Does not wait: the broker reports to the child on the socket `report` (reports.py). Ids are those
        that the last OwnerNeeded named."""
        self._tell({"op": "adopt", "pid": pid, "wants_user": wants_user, "user": user, "memory": memory_bytes}, report)

    def set_memory_limit(self, pid: int, memory_bytes: int) -> None:
        """Of the cgroup of an adopted child. Does nothing if it has none."""
        self._tell({"op": "limit", "pid": pid, "memory": memory_bytes})

    def give_back(self, pid: int) -> None:
        """The child was reaped. An init outlives every process of its sandbox."""
        self._tell({"op": "give-back", "pid": pid})

    def make_tree(self, mount: Mount, user: int | Ids) -> int:
        """Raises OwnerNeeded. Ids are those that an OwnerNeeded named."""
        try:
            answer, fds = self._ask({"op": "mount", "path": mount.path, "write": mount.write, "user": user})
        except OSError as error:
            raise OSError(error.errno, error.strerror, mount.path) from None
        if "owner" in answer:
            raise OwnerNeeded(Ids(*answer["owner"]))
        return fds[0]

    def _tell(self, request: dict, *fds: int) -> None:
        try:
            socket.send_fds(self.socket, [json.dumps(request).encode()], fds)
        except OSError:
            raise BrokerGone from None

    def _ask(self, request: dict) -> tuple[dict, list[int]]:
        self._tell(request)
        answer, fds = self._receive()
        if "errno" in answer:
            raise OSError(answer["errno"], answer["message"])
        return answer, fds

    def _receive(self) -> tuple[dict, list[int]]:
        try:
            reply, fds, _, _ = socket.recv_fds(self.socket, 4096, 1)
        except OSError:
            reply, fds = b"", []
        if not reply:
            raise BrokerGone
        return json.loads(reply), fds


def start(ranges: list[range], why_none: str, shared: int | None, cgroups: Parent | None) -> Broker:
    """Forks the broker, which keeps the privileges of the caller.

    `why_none` is the reason if there are no ranges; `shared` is the user of all sandboxes then. None: it makes no mounts.
    """
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    fork_server = os.getpid()
    if os.fork() == 0:
        try:
            ours.close()
            peer = socket.socket(fileno=os.dup2(theirs.detach(), 3))
            os.closerange(4, 1024)
            os.dup2(os.open("/dev/null", os.O_RDWR), 0)
            os.dup2(0, 1)
            process = _Process(peer, fork_server, ranges, why_none, shared, cgroups)
            try:
                process.serve()
            finally:
                process.end()
        finally:
            os._exit(0)
    theirs.close()
    return Broker(ours, shared is not None, cgroups)


class _Process:
    def __init__(self, peer: socket.socket, fork_server: int, ranges: list[range], why_none: str, shared: int | None,
                 cgroups: Parent | None) -> None:
        self._peer = peer
        self._nursery = _open_nursery(cgroups, fork_server)
        self._fork_server = fork_server
        self._shared = shared
        # The owner of a folder that was asked for, and whose file system cannot show another one.
        self._owner: Ids | None = None
        self._users: Users | None = None
        why: str | None = why_none
        if ranges:
            try:
                users = Users(ranges, open_lock_file())
                os.close(user_namespace((USER, ranges[0].start), (USER, ranges[0].start)))
                self._users = users
                why = None
            except OSError as error:
                why = error.strerror
        self._answer({"why": why, "has_cgroups": self._nursery is not None})

    def serve(self) -> None:
        """`take` and `mount` are answered on the socket, `adopt` on the one that comes with it, the others not at all."""
        while True:
            request, fds, _, _ = socket.recv_fds(self._peer, 65536, 1)
            if not request:
                return
            order = json.loads(request)
            op = order["op"]
            if op == "adopt":
                with socket.socket(fileno=fds[0]) as report:
                    self._adopt(order, report)
            elif op == "limit":
                self._set_limit(order["pid"], order["memory"])
            elif op == "give-back":
                self._give_back(order["pid"])
            elif op == "put-back":
                self._own_users().put_back(order["user"])
            else:
                try:
                    self._take() if op == "take" else self._mount(order)
                except OSError as error:
                    self._answer({"errno": error.errno, "message": error.strerror})

    def end(self) -> None:
        if self._users is not None:
            self._users.end()
        if self._nursery is not None:
            self._nursery.end()

    def _take(self) -> None:
        self._answer({"user": self._own_users().take()})

    def _adopt(self, order: dict, report: socket.socket) -> None:
        try:
            if order["wants_user"]:
                why = self._map(order)
                report.send(why.encode() or DONE)
                if why:
                    return
            self._report_cgroup(order["pid"], order["memory"], report)
        except OSError:
            pass  # the init has ended
        if self._nursery is not None:
            try:
                self._nursery.prepare()
            except OSError:
                pass  # the next init is moved instead

    def _report_cgroup(self, pid: int, memory_bytes: int, report: socket.socket) -> None:
        """Where sandboxes have cgroups, one that cannot have its own does not start."""
        if self._nursery is None:
            report.send(DONE)
            return
        fds: list[int] = []
        try:
            self._check_child(pid)
            cgroup = self._nursery.take_in(pid, memory_bytes)
            fds.append(cgroup.open_events())
            if cgroup.version == 1:
                fds.append(cgroup.open_entrance())
            socket.send_fds(report, [DONE], fds)
        except OSError as error:
            report.send(str(error).encode())
        finally:
            for fd in fds:
                os.close(fd)

    def _set_limit(self, pid: int, memory_bytes: int) -> None:
        if self._nursery is not None:
            try:
                self._nursery.set_limit(pid, memory_bytes)
            except OSError:
                pass  # the limit stays as it was

    def _give_back(self, pid: int) -> None:
        if self._users is not None:
            self._users.give_back(pid)
        if self._nursery is not None:
            self._nursery.remove(pid)

    def _map(self, order: dict) -> str:
        """Why it failed, or an empty text."""
        if isinstance(order["user"], list):
            return self._map_owner(order)
        users, user = self._own_users(), order["user"]
        try:
            if user is None:
                user = users.take()
            elif not users.is_taken(user):
                raise OSError(errno.EINVAL, "the user was not taken")
            self._map_into(order["pid"], user, users)
            return ""
        except OSError as error:
            if user is not None:
                users.put_back(user)  # does nothing if the process has it already
            return str(error)

    def _map_owner(self, order: dict) -> str:
        """For the owner of a folder that this process has found, and nobody else."""
        try:
            owner = self._found_owner(order["user"])
            process = self._open_child(order["pid"])
            try:
                _map_ids(process, owner)
            finally:
                os.close(process)
            return ""
        except OSError as error:
            return f"the owner of the mounted folder cannot be mapped: {error.strerror}"

    def _found_owner(self, ids: list[int]) -> Ids:
        if self._owner is None or Ids(*ids) != self._owner:
            raise OSError(errno.EPERM, "the owner was not asked for")
        return self._owner

    def _map_into(self, pid: int, user: int, users: Users) -> None:
        process = os.open(f"/proc/{pid}", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            init = open_init(pid, process)
            try:
                # If the child has ended, its number is nobody's, or at worst that of a younger child, which is mapped only once.
                if _parent(process) != self._fork_server:
                    raise OSError(errno.EPERM, _NOT_A_CHILD)
            except OSError:
                os.close(init)
                raise
            users.bind(user, pid, init)
            _map_ids(process, Ids(user, user))
        finally:
            os.close(process)

    def _check_child(self, pid: int) -> None:
        os.close(self._open_child(pid))

    def _open_child(self, pid: int) -> int:
        process = os.open(f"/proc/{pid}", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            if _parent(process) != self._fork_server:
                raise OSError(errno.EPERM, _NOT_A_CHILD)
        except OSError:
            os.close(process)
            raise
        return process

    def _mount(self, order: dict) -> None:
        user = order["user"]
        if isinstance(user, list):
            ids = self._found_owner(user)
        elif user != self._shared if self._users is None else not self._users.is_taken(user):
            raise OSError(errno.EPERM, "the user was not taken")
        else:
            ids = Ids(user, user)
        try:
            tree = owned_tree(Mount(order["path"], order["write"], exact=True), ids)
        except OwnerNeeded as needed:
            if not isinstance(user, list):
                self._owner = needed.owner
            self._answer({"owner": needed.owner})
            return
        try:
            socket.send_fds(self._peer, [b"{}"], [tree])
        finally:
            os.close(tree)

    def _own_users(self) -> Users:
        if self._users is None:
            raise OSError(errno.ENOSYS, "there are no users for sandboxes")
        return self._users

    def _answer(self, answer: dict) -> None:
        self._peer.send(json.dumps(answer).encode())


def _open_nursery(parent: Parent | None, fork_server: int) -> Nursery | None:
    try:
        return None if parent is None else Nursery(parent, fork_server)
    except OSError:
        return None


def _map_ids(process: int, ids: Ids) -> None:
    for name, content in (("setgroups", "deny"), ("uid_map", f"{USER} {ids.user} 1"), ("gid_map", f"{USER} {ids.group} 1")):
        _write(process, name, content)


def _parent(process: int) -> int:
    fd = os.open("stat", os.O_RDONLY | os.O_CLOEXEC, dir_fd=process)
    try:
        return int(os.read(fd, 4096).rpartition(b")")[2].split()[1])
    finally:
        os.close(fd)


def _write(folder: int, name: str, content: str) -> None:
    fd = os.open(name, os.O_WRONLY | os.O_CLOEXEC, dir_fd=folder)
    try:
        if os.write(fd, content.encode()) != len(content):
            raise OSError(errno.EIO, "it was not written whole", name)
    finally:
        os.close(fd)
