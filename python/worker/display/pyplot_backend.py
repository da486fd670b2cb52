"""The backend of pyplot in a session: figures are drawn by Agg, and ``show`` displays them.

Run when matplotlib asks for it, in a process that has imported matplotlib; see library_hooks.py.
"""

from typing import Any

from matplotlib.backend_bases import FigureManagerBase
from matplotlib.backends.backend_agg import FigureCanvasAgg as FigureCanvas
from matplotlib.figure import Figure

from _rlm_worker.display import figures


class FigureManager(FigureManagerBase):
    """``figure.show()`` displays that one figure, which stays open."""

    def show(self) -> None:
        _display(self.canvas.figure)


def new_figure_manager(num: Any, *args: Any, FigureClass: Any = Figure, **kwargs: Any) -> FigureManager:
    return new_figure_manager_given_figure(num, FigureClass(*args, **kwargs))


def new_figure_manager_given_figure(num: Any, figure: Any) -> FigureManager:
    return FigureManager(FigureCanvas(figure), num)


def draw_if_interactive() -> None:
    """Nothing is drawn before it is shown."""


def show(*_args: Any, **_options: Any) -> None:
    """``plt.show()``: displays the open figures and closes them."""
    figures.show_open(_display)


def _display(figure: Any) -> None:
    import rlm_display

    rlm_display.display(figure)
