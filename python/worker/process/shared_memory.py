"""Shared memory where the sandbox denies it: without a name, for ``mmap.mmap(-1, length)``, and with one, for ``multiprocessing``.

The kernel keeps the pages of such memory although no process shows them, so a sandbox without a memory cgroup does not get it. A
file without a name in /dev/shm serves as well: processes share it over a fork, and it counts for the quota of files.
"""

import errno
import os
from types import ModuleType
from typing import Any, Dict, Tuple

_FOLDER = "/dev/shm"


def replace_anonymous(module: ModuleType) -> None:
    """Makes ``mmap.mmap`` a class that uses a file if the kernel denies the memory. Objects of it are those of the original."""
    original = module.mmap
    anonymous = module.MAP_ANONYMOUS

    class mmap(original):
        __slots__ = ()
        __doc__ = original.__doc__

        def __new__(cls, fileno: int, length: int, *args: Any, **kwargs: Any) -> Any:
            try:
                return original.__new__(cls, fileno, length, *args, **kwargs)
            except PermissionError as error:
                flags = args[0] if args else kwargs.get("flags", 0)
                if error.errno != errno.EPERM or not (fileno == -1 or flags & anonymous):
                    raise
            fd = _open_file(length)
            try:
                args, kwargs = _for_file(anonymous, args, kwargs)
                return original.__new__(cls, fd, length, *args, **kwargs)  # it keeps a descriptor of its own
            finally:
                os.close(fd)

    mmap.__module__ = original.__module__
    mmap.__qualname__ = original.__qualname__
    module.mmap = mmap


def replace_arenas(module: ModuleType) -> None:
    """``multiprocessing.heap`` keeps values in files of a temporary folder where it cannot make one in /dev/shm."""
    choose = module.Arena._choose_dir

    def _choose_dir(self: Any, size: int) -> str:
        folder = choose(self, size)
        try:
            os.close(os.open(folder, os.O_RDWR | os.O_TMPFILE | os.O_CLOEXEC, 0o600))
        except PermissionError:
            return module.util.get_temp_dir()
        return folder

    module.Arena._choose_dir = _choose_dir


def replace_named(module: ModuleType) -> None:
    """Makes ``_posixshmem`` keep shared memory in the temporary folder where it cannot be in /dev/shm. Processes that do not come from
    a fork of this one do not find it there."""
    shm_open, shm_unlink = module.shm_open, module.shm_unlink

    def open_named(path: str, flags: int, mode: int = 0o777) -> int:
        try:
            return shm_open(path, flags, mode)
        except OSError as error:
            file = _named_file(path)
            if not (flags & os.O_CREAT and error.errno == errno.EACCES) and not os.path.lexists(file):
                raise
            return os.open(file, flags | os.O_NOFOLLOW | os.O_CLOEXEC, mode)

    def unlink_named(path: str) -> None:
        try:
            shm_unlink(path)
        except OSError:
            file = _named_file(path)
            if not os.path.lexists(file):
                raise
            os.unlink(file)

    module.shm_open, module.shm_unlink = open_named, unlink_named


def _named_file(path: str) -> str:
    return os.path.join(_temporary_folder(), f".shared-memory-{path.strip('/').replace('/', '-')}")


def _temporary_folder() -> str:
    return os.environ.get("TMPDIR", "/tmp")


def _open_file(length: int) -> int:
    if length == 0:
        raise OSError(errno.EINVAL, os.strerror(errno.EINVAL))
    flags = os.O_RDWR | os.O_TMPFILE | os.O_CLOEXEC
    try:
        fd = os.open(_FOLDER, flags, 0o600)
    except PermissionError:  # a sandbox without a root of its own
        fd = os.open(_temporary_folder(), flags, 0o600)
    try:
        room = os.fstatvfs(fd)
        # Later, a page that does not fit would end the process.
        if length > room.f_bavail * room.f_frsize:
            raise OSError(errno.ENOMEM, os.strerror(errno.ENOMEM))
        os.ftruncate(fd, length)
    except BaseException as error:
        os.close(fd)
        if isinstance(error, OSError) and error.errno == errno.EFBIG:
            raise OSError(errno.ENOMEM, os.strerror(errno.ENOMEM)) from None
        raise
    return fd


def _for_file(anonymous: int, args: Tuple[Any, ...], kwargs: Dict[str, Any]) -> Tuple[Tuple[Any, ...], Dict[str, Any]]:
    """The arguments after the length: flags, prot, access, offset."""
    if args:
        args = (args[0] & ~anonymous, *args[1:3])
    if "flags" in kwargs:
        kwargs["flags"] &= ~anonymous
    kwargs.pop("offset", None)  # memory has no beginning to be counted from
    return args, kwargs
