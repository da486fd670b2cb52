"""The pyplot backend of a session: Agg draws figures, and ``show`` displays them.

Runs when matplotlib loads its backend (import_hooks.py).
"""

from typing import Any

from matplotlib.backend_bases import FigureManagerBase
from matplotlib.backends.backend_agg import FigureCanvasAgg as FigureCanvas
from matplotlib.figure import Figure

from _rlm_worker.display import figures


class FigureManager(FigureManagerBase):
    """``figure.show()`` displays that figure and leaves it open."""

    def show(self) -> None:
        _display(self.canvas.figure)


def new_figure_manager(num: Any, *args: Any, FigureClass: Any = Figure, **kwargs: Any) -> FigureManager:
    return new_figure_manager_given_figure(num, FigureClass(*args, **kwargs))


def new_figure_manager_given_figure(num: Any, figure: Any) -> FigureManager:
    return FigureManager(FigureCanvas(figure), num)


def draw_if_interactive() -> None:
    """Does nothing: figures are drawn when they are shown."""


def show(*_args: Any, **_options: Any) -> None:
    """``plt.show()``: displays the open figures and closes them."""
    figures.show_open(_display)


def _display(figure: Any) -> None:
    import rlm_display

    rlm_display.display(figure)
