"""Forks this process into an exact copy of itself, or refuses where the copy would not be exact."""

import os
import sys
import time
from typing import Any, Callable, List

from . import double_fork

THREAD_EXIT_SECONDS = 0.05
NO_PROCESS = "it may not make another process: the limit on processes is reached"


class ForkRefused(Exception):
    """Why no exact copy can be made."""


def fork_process(set_forking: Callable[[bool], None], become: Callable[[], None]) -> bool:
    """Makes a copy that is not a child of this process, so that user code never waits for it. True in the copy.

    ``set_forking`` is called with True before the fork and with False after it. ``become`` runs in the copy; if it fails,
    the copy exits, and its closed control socket reports the failure.
    """
    state = _random_state()
    set_forking(True)
    try:
        is_copy = double_fork.fork()
    except OSError as error:
        raise ForkRefused(NO_PROCESS) from error
    finally:
        set_forking(False)
    if is_copy:
        _restore_random(state)
        become()
    return is_copy


def refuse_threads() -> None:
    """Raises ForkRefused if other threads live: a fork would lose them and keep the locks they hold."""
    deadline = time.monotonic() + THREAD_EXIT_SECONDS
    me = str(os.getpid())
    while True:  # a thread that has just ended may still be listed
        others = [task for task in os.listdir("/proc/self/task") if task != me]
        if not others:
            return
        if time.monotonic() > deadline:
            break
        time.sleep(0.001)
    names = _python_threads() or sorted({_comm(task) for task in others})
    alive = "a thread of it is alive" if len(others) == 1 else f"{len(others)} threads of it are alive"
    raise ForkRefused(f"{alive}: {', '.join(names[:8])}")


def wait_for_init(init: int) -> None:
    """Waits until the intermediate process is gone and the init is the parent, which reaps this process from then on."""
    while os.getppid() != init:
        time.sleep(0.0002)


def _random_state() -> Any:
    random = sys.modules.get("random")
    try:
        return random.getstate() if random is not None else None
    except Exception:
        return None


def _restore_random(state: Any) -> None:
    """Python reseeds ``random`` in every fork; a copy continues the sequence of the original."""
    if state is not None:
        try:
            sys.modules["random"].setstate(state)
        except Exception:
            pass


def _python_threads() -> List[str]:
    threading = sys.modules.get("threading")
    if threading is None:
        return []
    return [thread.name for thread in threading.enumerate() if thread is not threading.main_thread()]


def _comm(task: str) -> str:
    try:
        with open(f"/proc/self/task/{task}/comm", "rb") as file:
            return file.read().strip().decode("utf-8", "replace")
    except OSError:
        return task
