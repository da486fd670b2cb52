"""Import hooks: libraries that user code imports display their results through the worker, and `mmap` and
`multiprocessing` find memory and locks.

There are two finders. HookFinder comes first on ``sys.meta_path`` and patches a few libraries after their own loader has
run. EmbeddedFinder comes last and serves modules of the worker that are not installed or that a sandbox cannot read from
disk. Neither imports a library that user code does not import.
"""

import importlib.util
import os
import sys
from importlib.machinery import ModuleSpec
from types import CodeType, ModuleType
from typing import Any, Callable, Dict, Optional

from .display.formatters import PLOTLY
from .process.semaphores import replace_semaphores
from .process.shared_memory import replace_anonymous, replace_arenas, replace_named

BACKEND = "_rlm_worker.display.pyplot_backend"
# The file of this package that each embedded module runs.
EMBEDDED = {
    BACKEND: "display.pyplot_backend",
    "rlm_answers": "rlm.answers",
    "rlm_batches": "rlm.batches",
    "rlm_blocks": "rlm.blocks",
    "rlm_child_contexts": "rlm.child_contexts",
    "rlm_context": "rlm.context",
    "rlm_final": "rlm.final_text",
    "rlm_session": "rlm.session",
    "rlm_shapes": "rlm.shapes",
    "rlm_texts": "rlm.texts",
    "rlm_totals": "rlm.totals",
    "IPython": "display.ipython_display",
    "IPython.core": "display.ipython_display",
    "IPython.core.display": "display.ipython_display",
    "IPython.core.display_functions": "display.ipython_display",
    "IPython.core.getipython": "display.ipython_display",
    "IPython.display": "display.ipython_display",
}


def install() -> None:
    """Once per process. Reads the code of the embedded modules now, because a sandbox cannot read the worker's files."""
    package = __name__.rpartition(".")[0]
    codes: Dict[str, CodeType] = {}
    for file in sorted(set(EMBEDDED.values())):
        spec = importlib.util.find_spec(f"{package}.{file}")
        codes[file] = spec.loader.get_code(f"{package}.{file}")
    embedded = EmbeddedFinder(codes)
    sys.meta_path.insert(0, HookFinder(embedded))
    sys.meta_path.append(embedded)


class HookFinder:
    """Wraps the loaders of the modules in HOOKS. The module of our own package is embedded even where its file can be found,
    which a sandbox without a root of its own cannot read."""

    def __init__(self, embedded: "EmbeddedFinder") -> None:
        self._embedded = embedded

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Optional[ModuleSpec]:
        if name == BACKEND:
            return self._embedded.find_spec(name)
        hook = HOOKS.get(name)
        if hook is None:
            return None
        for finder in sys.meta_path:
            if finder is not self and hasattr(finder, "find_spec"):
                spec = finder.find_spec(name, path, target)
                if spec is not None:
                    if hasattr(spec.loader, "exec_module") and not isinstance(spec.loader, EmbeddedLoader):
                        spec.loader = HookLoader(spec.loader, hook)
                    return spec
        return None


class HookLoader:
    """Runs the real loader and then the hook, whose errors are ignored."""

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


class EmbeddedFinder:
    """Finds the modules in EMBEDDED that no other finder has."""

    def __init__(self, codes: Dict[str, CodeType]) -> None:
        self._codes = codes

    def find_spec(self, name: str, _path: Any = None, _target: Any = None) -> Optional[ModuleSpec]:
        file = EMBEDDED.get(name)
        if file is None:
            return None
        return ModuleSpec(name, EmbeddedLoader(self._codes[file]), is_package=name in ("IPython", "IPython.core"))


class EmbeddedLoader:
    def __init__(self, code: CodeType) -> None:
        self._code = code

    def create_module(self, _spec: ModuleSpec) -> None:
        return None

    def exec_module(self, module: ModuleType) -> None:
        exec(self._code, module.__dict__)

    def get_code(self, _name: str) -> CodeType:
        return self._code


def _matplotlib(module: ModuleType) -> None:
    """Selects our backend, unless the user chose another. Child processes use the one named in the environment."""
    if os.environ.get("MPLBACKEND", "agg") == "agg":
        module.rcParams["backend"] = f"module://{BACKEND}"


def _ipython(module: ModuleType) -> None:
    """Replaces functions that would need an IPython shell."""
    import rlm_display

    for name in ("display", "update_display", "clear_output", "publish_display_data", "DisplayHandle"):
        if name in module.__dict__:
            setattr(module, name, getattr(rlm_display, name))
    if "set_matplotlib_formats" in module.__dict__:
        module.set_matplotlib_formats = rlm_display.set_figure_formats


def _plotly(module: ModuleType) -> None:
    """``figure.show()`` displays the figure with every renderer, because there is no browser here."""

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
    "mmap": replace_anonymous,
    "_multiprocessing": replace_semaphores,
    "_posixshmem": replace_named,
    "multiprocessing.heap": replace_arenas,
}
