"""``display`` and its relatives: the builtin, the module ``rlm_display``, and the value at the end of a cell.

A display is an event that the host acknowledges before the code goes on, so that what is printed before it comes before
it, and what is printed afterwards after it. In the child of a fork, which has no host, a display is printed as text.
"""

import builtins
import os
import sys
from types import ModuleType
from typing import Any, Callable, Dict, Optional, Set

from . import figures, mime_bundles as bundles
from .mime_bundles import PLAIN, Presented, Wanted
from ..io.channel import ChannelClosed

MAX_ID = 128


class DisplayHandle:
    """A display that can be replaced: ``update(obj)`` puts another object in its place."""

    def __init__(self, display_id: Optional[str] = None) -> None:
        self.display_id = os.urandom(8).hex() if display_id is None else str(display_id)

    def __repr__(self) -> str:
        return f"<DisplayHandle display_id={self.display_id}>"

    def display(self, obj: Any, **options: Any) -> None:
        sys.modules["rlm_display"].display(obj, display_id=self.display_id, **options)

    def update(self, obj: Any, **options: Any) -> None:
        sys.modules["rlm_display"].update_display(obj, display_id=self.display_id, **options)


DisplayHandle.__module__ = "rlm_display"


class Displays:
    """The displays of one worker. ``tell`` sends an event and returns when the host has it; ``flush`` comes before."""

    def __init__(self, tell: Callable[[Dict[str, Any]], None], flush: Callable[[], None]) -> None:
        self._tell = tell
        self._flush = flush
        self._wanted = Wanted()
        self._clear_next = False
        self._busy: Set[int] = set()

    def install(self) -> None:
        """Gives user code ``display``, and lets it ``import rlm_display``."""
        module = ModuleType("rlm_display", "Rich results: display(), and what figures look like.")
        for function in (self.display, self.update_display, self.clear_output, self.set_figure_formats,
                         self.publish_display_data):
            setattr(module, function.__name__, function)
        module.DisplayHandle = DisplayHandle
        sys.modules["rlm_display"] = module
        builtins.display = self.display

    def reset(self) -> None:
        self._wanted = Wanted()
        self._clear_next = False

    def value(self, value: Any) -> Presented:
        """The value of a cell. One that shows itself has its text all the same."""
        if type(value) not in PLAIN and self._take_over(value):
            return bundles.present(value, Wanted(include=()))
        return bundles.present(value, self._wanted)

    def end_cell(self) -> None:
        """Shows the figures that the cell left open, unless it is being interrupted."""
        kind = sys.exc_info()[0]
        if kind is not None and issubclass(kind, KeyboardInterrupt):
            return
        try:
            if sys.modules[figures.PYLAB].Gcf.figs:
                figures.show_open(self.display)
        except Exception as error:
            bundles.complain("showing the open figures", error)

    def display(
        self,
        *objects: Any,
        include: Any = None,
        exclude: Any = None,
        metadata: Any = None,
        raw: bool = False,
        display_id: Any = None,
        clear: bool = False,
        update: bool = False,
        **_others: Any,
    ) -> Optional[DisplayHandle]:
        """Shows objects in all their representations, or in those of ``include``.

        ``raw``: the objects are mime bundles. ``display_id``: a name by which to replace the display later, or True
        for a new one; then a handle is returned. ``clear``: what was displayed so far goes. ``metadata`` and other
        options of IPython's are accepted, and nothing is done with them.
        """
        handle = None
        if display_id is not None and display_id is not False:
            handle = DisplayHandle(None if display_id is True else display_id)
            if len(handle.display_id) > MAX_ID:
                raise ValueError(f"a display_id has {MAX_ID} characters at most")
            if not objects:
                objects, raw = ({},), True
        elif update:
            raise TypeError("display_id is required for an update")
        if clear:
            self._clear_next = True
        wanted = Wanted(include, exclude, self._wanted.figures, self._wanted.figure_options)
        for item in objects:
            data = bundles.bounded(bundles.cleaned(item, wanted)) if raw else self._bundle(item, wanted)
            if data is not None:
                self._send(data, handle, update)
        return handle

    def update_display(self, obj: Any, *, display_id: Any, **options: Any) -> None:
        """Replaces the display of that id."""
        self.display(obj, display_id=display_id, update=True, **options)

    def publish_display_data(self, data: Any, metadata: Any = None, transient: Any = None, **options: Any) -> None:
        """Shows a mime bundle, as IPython's function of this name does."""
        self.display(data, raw=True, metadata=metadata, display_id=(transient or {}).get("display_id"), **options)

    def clear_output(self, wait: bool = False) -> None:
        """What was displayed so far goes: at once, or with the next display. What was printed stays."""
        self._clear_next = True
        if not wait:
            self._send({}, None, False)

    def set_figure_formats(self, *formats: str, **options: Any) -> None:
        """How figures of matplotlib are shown from now on: png, retina, svg, pdf, jpeg. Options go to savefig."""
        names = [name for item in formats for name in ([item] if isinstance(item, str) else item)] or ["png"]
        for name in names:
            if name not in figures.FORMATS:
                raise ValueError(f"figures have no format {name!r}: it must be one of {', '.join(figures.FORMATS)}")
        self._wanted = Wanted(figures=names, figure_options=options)

    def _bundle(self, item: Any, wanted: Wanted) -> Optional[Dict[str, str]]:
        if type(item) not in PLAIN and self._take_over(item):
            return None
        text, _, rich = bundles.present(item, wanted)
        data = {} if "text/plain" in wanted.exclude else {"text/plain": text}
        return {**data, **(rich or {})}

    def _take_over(self, item: Any) -> bool:
        """An object that displays itself in order to display itself is not asked again."""
        if id(item) in self._busy:
            return False
        self._busy.add(id(item))
        try:
            return bundles.take_over(item)
        finally:
            self._busy.discard(id(item))

    def _send(self, data: Dict[str, str], handle: Optional[DisplayHandle], update: bool) -> None:
        event: Dict[str, Any] = {"type": "display", "data": data}
        if handle is not None:
            event["displayId"] = handle.display_id
        if update:
            event["update"] = True
        if self._clear_next:
            self._clear_next = False
            event["clear"] = True
        self._flush()
        try:
            self._tell(event)
        except ChannelClosed:
            print(data.get("text/plain", ""), flush=True)
