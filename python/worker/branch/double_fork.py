"""A fork whose child belongs to this process's parent, so that nothing in this process ever waits for it.

clone(CLONE_PARENT) does that in one step, at half the cost for a large heap, but the C library has no function for it. The
raw system call skips only what the library's fork does for other threads, and there are none. The library also caches the
thread id, so the kernel is asked for its address and told to update it in the child. Where that is not possible, two
ordinary forks have the same effect.
"""

import ctypes
import os
from typing import Optional

PR_GET_TID_ADDRESS = 40
CLONE_PARENT, CLONE_CHILD_CLEARTID, CLONE_CHILD_SETTID, SIGCHLD = 0x8000, 0x200000, 0x1000000, 17
FLAGS = CLONE_PARENT | CLONE_CHILD_CLEARTID | CLONE_CHILD_SETTID | SIGCHLD
# The number of the system call, and which argument is the address of the thread id.
CLONE = {"x86_64": (56, 3), "aarch64": (220, 4)}

_library = ctypes.PyDLL(None, use_errno=True)  # keeps the interpreter lock, as a fork must


def fork() -> bool:
    """True in the copy. Raises OSError if no process can be made. No other thread may live."""
    machine = os.uname().machine
    address = _thread_id_address()
    if address is None or machine not in CLONE:
        return _fork_twice()
    number, position = CLONE[machine]
    arguments = [ctypes.c_void_p(0)] * 5
    arguments[0] = ctypes.c_void_p(FLAGS)
    arguments[position] = ctypes.c_void_p(address)
    ctypes.pythonapi.PyOS_BeforeFork()
    pid = _library.syscall(ctypes.c_long(number), *arguments)
    if pid == 0:
        ctypes.pythonapi.PyOS_AfterFork_Child()
        return True
    ctypes.pythonapi.PyOS_AfterFork_Parent()
    if pid < 0:
        raise OSError(ctypes.get_errno(), "cannot make a process")
    return False


def _thread_id_address() -> Optional[int]:
    """Where the C library caches the id of this thread; None if the kernel does not know."""
    address = ctypes.c_void_p()
    if _library.prctl(PR_GET_TID_ADDRESS, ctypes.byref(address), 0, 0, 0) != 0 or not address.value:
        return None
    return address.value if ctypes.c_int.from_address(address.value).value == os.getpid() else None


def _fork_twice() -> bool:
    middle = os.fork()
    if middle:
        _, status = os.waitpid(middle, 0)
        if status:
            raise OSError("cannot make a process")
        return False
    try:
        if os.fork():
            os._exit(0)
    except BaseException:
        os._exit(1)
    return True
