"""A fork whose child belongs to this process's parent, so that it is nobody's to wait for here.

The kernel can do that in one step, at half the cost for a large heap, but the C library has no function for it. Called
directly, only what the library's fork does for other threads is missed, and there are none; the one thing it does for this
thread, noting the thread's new number, is left to the kernel, which is told the place by asking where it is now. Where that
is not to be had, two ordinary forks do the same.
"""

import ctypes
import os
from typing import Optional

PR_GET_TID_ADDRESS = 40
CLONE_PARENT, CLONE_CHILD_CLEARTID, CLONE_CHILD_SETTID, SIGCHLD = 0x8000, 0x200000, 0x1000000, 17
FLAGS = CLONE_PARENT | CLONE_CHILD_CLEARTID | CLONE_CHILD_SETTID | SIGCHLD
# The number of the system call, and where it takes the address of the thread's number.
CLONE = {"x86_64": (56, 3), "aarch64": (220, 4)}

_library = ctypes.PyDLL(None, use_errno=True)  # keeps the interpreter lock, as a fork must


def fork() -> bool:
    """True in the copy. Raises OSError where no process can be made. No other thread may live."""
    machine = os.uname().machine
    place = _place_of_thread_number()
    if place is None or machine not in CLONE:
        return _fork_twice()
    number, position = CLONE[machine]
    arguments = [ctypes.c_void_p(0)] * 5
    arguments[0] = ctypes.c_void_p(FLAGS)
    arguments[position] = ctypes.c_void_p(place)
    ctypes.pythonapi.PyOS_BeforeFork()
    pid = _library.syscall(ctypes.c_long(number), *arguments)
    if pid == 0:
        ctypes.pythonapi.PyOS_AfterFork_Child()
        return True
    ctypes.pythonapi.PyOS_AfterFork_Parent()
    if pid < 0:
        raise OSError(ctypes.get_errno(), "cannot make a process")
    return False


def _place_of_thread_number() -> Optional[int]:
    """Where the C library keeps the number of this thread, by what it told the kernel; None where nobody knows."""
    place = ctypes.c_void_p()
    if _library.prctl(PR_GET_TID_ADDRESS, ctypes.byref(place), 0, 0, 0) != 0 or not place.value:
        return None
    return place.value if ctypes.c_int.from_address(place.value).value == os.getpid() else None


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
