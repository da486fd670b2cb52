"""Figures of matplotlib: as images, and those that are open when a cell ends.

Imports nothing of matplotlib: whoever has a figure has imported it. The backend of pyplot is pyplot_backend.py.
"""

import sys
from typing import Any, Callable, Dict, List

PYLAB = "matplotlib._pylab_helpers"  # where pyplot keeps its open figures, whichever backend it uses
# Name in set_figure_formats: mime type, format of matplotlib's, times the dpi of the figure.
FORMATS = {
    "png": ("image/png", "png", 1),
    "retina": ("image/png", "png", 2),
    "png2x": ("image/png", "png", 2),
    "svg": ("image/svg+xml", "svg", 1),
    "pdf": ("application/pdf", "pdf", 1),
    "jpeg": ("image/jpeg", "jpeg", 1),
    "jpg": ("image/jpeg", "jpeg", 1),
}


def bundle(figure: Any, wanted: Any) -> Dict[str, Any]:
    """The figure in the formats of the session, and in those that were asked for by name."""
    found: Dict[str, Any] = {}
    if is_empty(figure):
        return found
    names = list(wanted.figures)
    if wanted.include is not None:
        names += [name for name in ("png", "svg", "pdf", "jpeg") if FORMATS[name][0] in wanted.include]
    for name in names:
        mime, form, scale = FORMATS[name]
        if mime not in found and wanted.has(mime):
            found[mime] = _image(figure, form, scale, wanted.figure_options)
    figure.stale = False  # until it is drawn on again: see show_open
    return found


def is_empty(figure: Any) -> bool:
    """Whether nothing was drawn on it; its background is its only child then."""
    return len(figure.get_children()) <= 1


def show_open(show: Callable[[Any], None]) -> None:
    """Shows the open figures of pyplot in their order, and closes them. One that has been shown and was not touched
    since is not shown again."""
    managers: List[Any] = sys.modules[PYLAB].Gcf.get_all_fig_managers()
    try:
        for manager in managers:
            figure = manager.canvas.figure
            if not is_empty(figure) and (figure.stale or not getattr(figure, "_rlm_shown", False)):
                show(figure)
    finally:
        if managers:
            sys.modules[PYLAB].Gcf.destroy_all()


def _image(figure: Any, form: str, scale: int, options: Dict[str, Any]) -> bytes:
    import io

    file = io.BytesIO()
    chosen = {
        "dpi": figure.dpi * scale,
        "bbox_inches": "tight",
        "facecolor": figure.get_facecolor(),
        "edgecolor": figure.get_edgecolor(),
        **options,
    }
    figure.canvas.print_figure(file, format=form, **chosen)
    figure._rlm_shown = True
    return file.getvalue()
