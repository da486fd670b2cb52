"""What happens when user code imports certain libraries: their own ways to show things lead to ours.

Two finders. One is asked first, by name only, and looks after a library once it has been loaded as ever. The other is
asked last: it has modules of the worker's own for those that are not installed, or that a sandbox cannot read from disk.
Nothing here loads a library that user code does not import.
"""

import importlib.util
import os
import sys
from importlib.machinery import ModuleSpec
from types import CodeType, ModuleType
from typing import Any, Callable, Dict, Optional

from .display.formatters import PLOTLY

BACKEND = "_rlm_worker.display.pyplot_backend"
# Modules that are run from the code of a file of this package.
SERVED = {
    BACKEND: "display.pyplot_backend",
    "rlm_context": "rlm.context",
    "rlm_session": "rlm.session",
    "rlm_texts": "rlm.texts",
    "IPython": "display.ipython_display",
    "IPython.core": "display.ipython_display",
    "IPython.core.display": "display.ipython_display",
    "IPython.core.display_functions": "display.ipython_display",
    "IPython.core.getipython": "display.ipython_display",
    "IPython.display": "display.ipython_display",
}


def install() -> None:
    """Once a process. Reads the code of the modules to serve, because a sandbox does not show the worker's files."""
    package = __name__.rpartition(".")[0]
    codes: Dict[str, CodeType] = {}
    for file in sorted(set(SERVED.values())):
        spec = importlib.util.find_spec(f"{package}.{file}")
        codes[file] = spec.loader.get_code(f"{package}.{file}")
    sys.meta_path.insert(0, Watcher())
    sys.meta_path.append(Server(codes))


class Watcher:
    """Asked first about every import; answers for the few in HOOKS."""

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Optional[ModuleSpec]:
        hook = HOOKS.get(name)
        if hook is None:
            return None
        for finder in sys.meta_path:
            if finder is not self and hasattr(finder, "find_spec"):
                spec = finder.find_spec(name, path, target)
                if spec is not None:
                    if hasattr(spec.loader, "exec_module") and not isinstance(spec.loader, Served):
                        spec.loader = Watched(spec.loader, hook)
                    return spec
        return None


class Watched:
    """A loader that loads as the real one does, and then calls the hook, which may fail without harm."""

    def __init__(self, loader: Any, hook: Callable[[ModuleType], None]) -> None:
        self._loader = loader
        self._hook = hook

    def __getattr__(self, name: str) -> Any:
        return getattr(self._loader, name)

    def create_module(self, spec: ModuleSpec) -> Optional[ModuleType]:
        return self._loader.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        module.__loader__ = module.__spec__.loader = self._loader
        self._loader.exec_module(module)
        try:
            self._hook(module)
        except Exception:
            pass


class Server:
    """Asked last: the modules in SERVED, where nobody else has them."""

    def __init__(self, codes: Dict[str, CodeType]) -> None:
        self._codes = codes

    def find_spec(self, name: str, _path: Any = None, _target: Any = None) -> Optional[ModuleSpec]:
        file = SERVED.get(name)
        if file is None:
            return None
        return ModuleSpec(name, Served(self._codes[file]), is_package=name in ("IPython", "IPython.core"))


class Served:
    def __init__(self, code: CodeType) -> None:
        self._code = code

    def create_module(self, _spec: ModuleSpec) -> None:
        return None

    def exec_module(self, module: ModuleType) -> None:
        exec(self._code, module.__dict__)


def _matplotlib(module: ModuleType) -> None:
    """Our backend, unless the user asked for another. Children find the usual one in their environment."""
    if os.environ.get("MPLBACKEND", "agg") == "agg":
        module.rcParams["backend"] = f"module://{BACKEND}"


def _ipython(module: ModuleType) -> None:
    """What is defined there and would go to IPython's own shell, of which there is none."""
    import rlm_display

    for name in ("display", "update_display", "clear_output", "publish_display_data", "DisplayHandle"):
        if name in module.__dict__:
            setattr(module, name, getattr(rlm_display, name))
    if "set_matplotlib_formats" in module.__dict__:
        module.set_matplotlib_formats = rlm_display.set_figure_formats


def _plotly(module: ModuleType) -> None:
    """``figure.show()`` displays the figure, whatever renderer plotly would choose: there is no browser here."""

    def show(fig: Any, *_args: Any, **_options: Any) -> None:
        import rlm_display

        if isinstance(fig, dict):  # the figure as plain data
            rlm_display.display({PLOTLY: fig}, raw=True)
        else:
            rlm_display.display(fig)

    module.show = show


HOOKS: Dict[str, Callable[[ModuleType], None]] = {
    "matplotlib": _matplotlib,
    "matplotlib_inline.backend_inline": _ipython,
    "IPython.core.display": _ipython,
    "IPython.core.display_functions": _ipython,
    "plotly.io._renderers": _plotly,
}
