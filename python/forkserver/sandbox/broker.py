"""The broker: one small process that stays root for the fork server.

If the host runs as root, the fork server first drops to a reserved user. It may then be unable to open folders of the host,
or they have another owner. The broker never forks a sandbox and talks only to the fork server: it makes a detached mount of
such a folder in which the owner appears as the reserved user, and passes its descriptor.
"""
from __future__ import annotations

import errno
import json
import os
import socket
import struct

from .. import libc
from . import interpreter
from .namespaces import Mount, clone_tree

_ATTR_IDMAP = 0x00100000


def drop(uid: int, gid: int, home: str) -> socket.socket:
    """The caller continues as the reserved user. A child that stays root serves on the returned socket."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    if os.fork() == 0:
        ours.close()
        theirs = socket.socket(fileno=os.dup2(theirs.detach(), 3))
        os.closerange(4, 1024)
        os.dup2(os.open("/dev/null", os.O_RDWR), 0)
        os.dup2(0, 1)
        _serve(theirs, uid, gid)
        os._exit(0)
    theirs.close()
    hidden = interpreter.hidden_from(uid, home)
    if hidden:
        _uncover(hidden)
    os.setgroups([])
    os.setresgid(gid, gid, gid)
    os.setresuid(uid, uid, uid)
    libc.prctl(libc.PR_SET_DUMPABLE, 1)  # so that /proc/self belongs to the new user
    return ours


def request_tree(server: socket.socket, mount: Mount) -> int:
    """Asks the broker for a mount. Raises OSError with its reason."""
    server.send(json.dumps({"path": mount.path, "write": mount.write}).encode())
    reply, fds, _, _ = socket.recv_fds(server, 4096, 1)
    if not reply:
        raise OSError(errno.EPIPE, "the broker is gone", mount.path)
    answer = json.loads(reply)
    if "errno" in answer:
        raise OSError(answer["errno"], answer["message"], mount.path)
    return fds[0]


def _serve(peer: socket.socket, uid: int, gid: int) -> None:
    while True:
        request = peer.recv(65536)
        if not request:
            return
        requested = json.loads(request)
        try:
            tree = _owned_tree(Mount(requested["path"], requested["write"], exact=True), uid, gid)
            socket.send_fds(peer, [b"{}"], [tree])
            os.close(tree)
        except OSError as error:
            peer.send(json.dumps({"errno": error.errno, "message": error.strerror}).encode())


def _owned_tree(mount: Mount, uid: int, gid: int) -> int:
    tree = clone_tree(mount)
    status = os.fstat(tree)
    if (status.st_uid, status.st_gid) == (uid, gid):
        return tree
    namespace = _user_namespace((status.st_uid, uid), (status.st_gid, gid))
    try:
        request = struct.pack("=QQQQ", _ATTR_IDMAP, 0, 0, namespace)
        libc.syscall(libc.MOUNT_SETATTR, tree, b"", 0x1000, request, len(request))
    except OSError as error:
        if mount.write:
            os.close(tree)
            raise OSError(error.errno, "its file system cannot show another owner, so it can only be mounted read-only")
    finally:
        os.close(namespace)
    return tree


def _user_namespace(user: tuple[int, int], group: tuple[int, int]) -> int:
    """A descriptor of a user namespace that maps one user and one group. A child that exits at once creates it."""
    ready, done = os.pipe(), os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.close(done[1])
            libc.unshare(libc.CLONE_NEWUSER)
            os.write(ready[1], b"x")
            os.read(done[0], 1)
        finally:
            os._exit(0)
    os.close(ready[1])
    try:
        if not os.read(ready[0], 1):
            raise OSError(errno.EPERM, "no user namespace can be made")
        for name, (inside, outside) in (("uid_map", user), ("gid_map", group)):
            with open(f"/proc/{child}/{name}", "w") as map_file:
                map_file.write(f"{inside} {outside} 1")
        return os.open(f"/proc/{child}/ns/user", os.O_RDONLY | os.O_CLOEXEC)
    finally:
        for fd in (ready[0], *done):
            os.close(fd)
        os.waitpid(child, 0)


def _uncover(folders: list[str]) -> None:
    """In a private mount namespace, replaces inaccessible parents of the interpreter by folders that contain only it."""
    libc.unshare(libc.CLONE_NEWNS)
    libc.mount(None, b"/", None, 16384 | (1 << 18))
    trees = [(folder, clone_tree(Mount(folder, write=False))) for folder in folders]
    for closed in sorted({_closed_parent(folder) for folder in folders}):
        libc.mount(b"tmpfs", os.fsencode(closed), b"tmpfs", 6, b"size=1m,mode=0755")
    for folder, tree in trees:
        os.makedirs(folder, 0o755, exist_ok=True)
        libc.syscall(libc.MOVE_MOUNT, tree, b"", -100, os.fsencode(folder), 4)
        os.close(tree)


def _closed_parent(folder: str) -> str:
    parts = folder.split("/")
    for depth in range(2, len(parts)):
        parent = "/".join(parts[:depth])
        if not os.stat(parent).st_mode & 0o001:
            return parent
    return os.path.dirname(folder)
