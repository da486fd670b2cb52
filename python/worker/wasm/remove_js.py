"""Removes the modules that lead from Python to JavaScript, before any code of the session runs. Pyodide itself needs them to start.

This is not a security boundary: Python can make them again. After it WebAssembly loses all functions of JavaScript that they need
(wasm/imports.cjs): whoever uses such a module ends the process.
"""

import gc
import sys
from types import ModuleType

_NAMES = ("js", "pyodide", "pyodide_js", "_pyodide", "_pyodide_core", "micropip")


def remove_js() -> None:
    for finder in sys.meta_path:
        if type(finder).__name__ == "JsFinder":
            finder.__dict__.clear()  # it holds the modules
    for name in [name for name in sys.modules if name.partition(".")[0] in _NAMES]:
        module = sys.modules.pop(name)
        if isinstance(module, ModuleType):
            module.__dict__.clear()  # functions of it may live on, and reach nothing
    sys.meta_path[:] = [finder for finder in sys.meta_path if not _is_theirs(finder)]
    sys.meta_path.insert(0, JsImportBlocker())  # type: ignore[arg-type]
    gc.collect()


def _is_theirs(finder: object) -> bool:
    owner = finder if isinstance(finder, type) else type(finder)
    return owner.__module__.partition(".")[0] in _NAMES


class JsImportBlocker:
    """Refuses to import them again: the library has the files of some."""

    def find_spec(self, name: str, _path: object = None, _target: object = None) -> None:
        if name.partition(".")[0] in _NAMES:
            raise ModuleNotFoundError(f"No module named '{name}': code in the 'wasm' environment cannot reach JavaScript", name=name)
