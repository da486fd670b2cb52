"""matplotlib figures: rendering them, and showing those that are open when a cell ends.

Does not import matplotlib: user code that has a figure has imported it. The pyplot backend is pyplot_backend.py.
"""

import sys
from typing import Any, Callable, Dict, List

PYLAB = "matplotlib._pylab_helpers"  # where pyplot keeps its open figures, whichever backend it uses
# The name in set_figure_formats: MIME type, format of matplotlib, factor for the dpi of the figure.
FORMATS = {
    "png": ("image/png", "png", 1),
    "retina": ("image/png", "png", 2),
    "png2x": ("image/png", "png", 2),
    "svg": ("image/svg+xml", "svg", 1),
    "pdf": ("application/pdf", "pdf", 1),
    "jpeg": ("image/jpeg", "jpeg", 1),
    "jpg": ("image/jpeg", "jpeg", 1),
}


def bundle(figure: Any, options: Any) -> Dict[str, Any]:
    """The figure in the formats of the session, and in those that ``include`` asks for."""
    found: Dict[str, Any] = {}
    if is_empty(figure):
        return found
    names = list(options.figures)
    if options.include is not None:
        names += [name for name in ("png", "svg", "pdf", "jpeg") if FORMATS[name][0] in options.include]
    for name in names:
        mime, form, scale = FORMATS[name]
        if mime not in found and options.wants(mime):
            found[mime] = _image(figure, form, scale, options.figure_options)
    figure.stale = False  # matplotlib sets it again when the figure changes: see show_open
    return found


def is_empty(figure: Any) -> bool:
    """Whether nothing was drawn on it: its background is its only child."""
    return len(figure.get_children()) <= 1


def show_open(show: Callable[[Any], None]) -> None:
    """Shows the open pyplot figures in order, and closes them. A figure that was shown before and has not changed is not
    shown again."""
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
