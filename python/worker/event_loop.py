"""Top-level await: one asyncio loop per session, so that tasks and connections survive from cell to cell."""

import sys
from typing import Any, Coroutine, Optional

GRACE_SECONDS = 1.0


class EventLoop:
    """Runs one coroutine at a time on the session's loop. asyncio is imported with the first coroutine."""

    def __init__(self) -> None:
        self._loop: Optional[Any] = None

    def run(self, coroutine: Coroutine[Any, Any, Any]) -> Any:
        """The coroutine's result. An interrupt cancels it and leaves it GRACE_SECONDS for its finally blocks."""
        import asyncio

        loop = self._loop
        if loop is None or loop.is_closed():
            loop = self._loop = asyncio.new_event_loop()
        asyncio.set_event_loop(loop)
        task = loop.create_task(coroutine)
        try:
            return loop.run_until_complete(task)
        except BaseException as error:
            if not task.done():
                task.cancel()
                loop.run_until_complete(asyncio.wait({task}, timeout=GRACE_SECONDS))
                if task.cancelled():
                    raise error.with_traceback(_where_cancelled(task)) from None
            if task.done() and not task.cancelled():
                task.exception()  # marks it as retrieved, or asyncio would log a warning later
            raise

    def renew(self) -> None:
        """For a copy of the process: makes a new selector with the same registrations, and a new wake-up pipe."""
        loop: Any = self._loop
        if loop is None or loop.is_closed():
            return
        shared = loop._selector
        loop._selector = type(shared)()
        for key in list(shared.get_map().values()):
            loop._selector.register(key.fileobj, key.events, key.data)
        shared.close()
        loop._close_self_pipe()
        loop._make_self_pipe()

    def close(self) -> None:
        """Cancels all tasks and closes the loop. Errors in the tasks are ignored."""
        loop, self._loop = self._loop, None
        if loop is None or loop.is_closed():
            return
        asyncio = sys.modules["asyncio"]
        try:
            tasks = asyncio.all_tasks(loop)
            for task in tasks:
                task.cancel()
            if tasks:
                loop.run_until_complete(asyncio.wait(tasks, timeout=GRACE_SECONDS))
            loop.close()
        except Exception:
            pass


def _where_cancelled(task: Any) -> Any:
    """The traceback of the cancelled await, which is more useful than that of the event loop."""
    try:
        task.result()
    except BaseException as error:
        while type(error.__context__) is type(error):  # Python 3.9 and 3.10 chain the original one below
            error = error.__context__
        return error.__traceback__
