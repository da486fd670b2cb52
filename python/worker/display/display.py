"""``display`` and related functions: the builtin, the module ``rlm_display``, and the value at the end of a cell.

A display is an event that the host acknowledges before the code continues, so that displays and printed output keep their
order. In the child of a fork, which has no host, a display is printed as text.
"""

import builtins
import os
import sys
from types import ModuleType
from typing import Any, Callable, Dict, Optional, Set

from ..io.channel import ChannelClosed
from ..report import text_of
from . import figures, mime_bundles
from .mime_bundles import PLAIN, DisplayOptions, Presented, TextOf

MAX_ID = 128


class DisplayHandle:
    """A display that can be replaced: ``update(obj)`` shows another object in its place."""

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
    """The displays of one worker. ``notify`` sends an event and waits for the host; ``flush`` is called before it. ``text_of`` gives
    values without another representation their text."""

    def __init__(self, notify: Callable[[Dict[str, Any]], None], flush: Callable[[], None]) -> None:
        self._notify = notify
        self._flush = flush
        self.text_of: TextOf = text_of
        self._options = DisplayOptions()
        self._clear_next = False
        self._displaying: Set[int] = set()  # ids of objects whose _ipython_display_ runs

    def install(self) -> None:
        """Makes ``display`` a builtin, and ``import rlm_display`` work."""
        module = ModuleType("rlm_display", "Rich results: display(), and what figures look like.")
        for function in (self.display, self.update_display, self.clear_output, self.set_figure_formats,
                         self.publish_display_data):
            setattr(module, function.__name__, function)
        module.DisplayHandle = DisplayHandle
        sys.modules["rlm_display"] = module
        builtins.display = self.display

    def reset(self) -> None:
        self._options = DisplayOptions()
        self._clear_next = False

    def value(self, value: Any) -> Presented:
        """The value of a cell. A value that displays itself still has its text."""
        if type(value) not in PLAIN and self._display_itself(value):
            return mime_bundles.present(value, DisplayOptions(include=()), self.text_of)
        return mime_bundles.present(value, self._options, self.text_of)

    def end_cell(self) -> None:
        """Shows the figures that the cell left open, unless it was interrupted."""
        kind = sys.exc_info()[0]
        if kind is not None and issubclass(kind, KeyboardInterrupt):
            return
        try:
            if sys.modules[figures.PYLAB].Gcf.figs:
                figures.show_open(self.display)
        except Exception as error:
            mime_bundles.print_failure("showing the open figures", error)

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

        ``raw``: the objects are MIME bundles. ``display_id``: a name by which to replace the display later, or True
        for a new name; then a handle is returned. ``clear``: removes earlier displays. ``metadata`` and other options
        of IPython are accepted and ignored.
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
        options = DisplayOptions(include, exclude, self._options.figures, self._options.figure_options)
        for item in objects:
            data = mime_bundles.limit_size(mime_bundles.clean(item, options)) if raw else self._bundle(item, options)
            if data is not None:
                self._send(data, handle, update)
        return handle

    def update_display(self, obj: Any, *, display_id: Any, **options: Any) -> None:
        """Replaces the display with that id."""
        self.display(obj, display_id=display_id, update=True, **options)

    def publish_display_data(self, data: Any, metadata: Any = None, transient: Any = None, **options: Any) -> None:
        """Shows a MIME bundle, like IPython's function of this name."""
        self.display(data, raw=True, metadata=metadata, display_id=(transient or {}).get("display_id"), **options)

    def clear_output(self, wait: bool = False) -> None:
        """Removes earlier displays, at once or with the next display. Printed output stays."""
        self._clear_next = True
        if not wait:
            self._send({}, None, False)

    def set_figure_formats(self, *formats: str, **options: Any) -> None:
        """Sets the formats of matplotlib figures: png, retina, svg, pdf, jpeg. Options are passed to savefig."""
        names = [name for item in formats for name in ([item] if isinstance(item, str) else item)] or ["png"]
        for name in names:
            if name not in figures.FORMATS:
                raise ValueError(f"figures have no format {name!r}: it must be one of {', '.join(figures.FORMATS)}")
        self._options = DisplayOptions(figures=names, figure_options=options)

    def _bundle(self, item: Any, options: DisplayOptions) -> Optional[Dict[str, str]]:
        if type(item) not in PLAIN and self._display_itself(item):
            return None
        text, _, rich = mime_bundles.present(item, options, self.text_of)
        data = {} if "text/plain" in options.exclude else {"text/plain": text}
        return {**data, **(rich or {})}

    def _display_itself(self, item: Any) -> bool:
        """Prevents endless recursion: an ``_ipython_display_`` method may display its own object."""
        if id(item) in self._displaying:
            return False
        self._displaying.add(id(item))
        try:
            return mime_bundles.display_itself(item)
        finally:
            self._displaying.discard(id(item))

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
            self._notify(event)
        except ChannelClosed:
            print(data.get("text/plain", ""), flush=True)
