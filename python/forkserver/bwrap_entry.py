"""The start of an init in the namespaces that bubblewrap has made: a fresh interpreter that has none of our files.

`pack` is called in the fork server. It puts all our modules, compiled, into a file in memory, and a line of Python (BOOT) runs this
module from there.
"""
from __future__ import annotations

import marshal
import os
import sys
from importlib.machinery import ModuleSpec
from importlib.util import find_spec

BOOT = "import marshal,os,sys;f=int(sys.argv[1]);m=marshal.loads(os.pread(f,os.fstat(f).st_size,0));exec(m['%s'][1],{'__name__':'boot','modules':m})"
_OURS = ("_rlm_forkserver", "_rlm_worker")


def pack() -> int:
    """A descriptor of all our modules that this process has loaded, and of those that a worker may load later."""
    from _rlm_worker.import_hooks import EMBEDDED  # type: ignore[import-not-found]

    specs = {name: module.__spec__ for name, module in sys.modules.items() if name.partition(".")[0] in _OURS}
    loaded = set(specs)
    for file in set(EMBEDDED.values()):
        specs.setdefault(f"_rlm_worker.{file}", find_spec(f"_rlm_worker.{file}"))
    modules = {}
    # Where the compiled forms of our own files are.
    sys.pycache_prefix = sys._xoptions.get("pycache_prefix")  # type: ignore[assignment]
    try:
        for name, spec in specs.items():
            is_package = spec.submodule_search_locations is not None
            modules[name] = is_package, spec.loader.get_code(name), name in loaded  # type: ignore[union-attr]
    finally:
        sys.pycache_prefix = None
    fd = os.memfd_create("modules")
    with open(fd, "wb", closefd=False) as file:
        marshal.dump(modules, file)
    return fd


class _Importer:
    """Finds our modules among those that were packed."""

    def __init__(self, modules: dict) -> None:
        self._modules = modules

    def find_spec(self, name: str, path: object = None, target: object = None) -> ModuleSpec | None:
        if name not in self._modules:
            return None
        is_package, code, _ = self._modules[name]
        spec = ModuleSpec(name, self, origin=code.co_filename, is_package=is_package)  # type: ignore[arg-type]
        spec.has_location = True  # so that it has a `__file__`, as in other tiers
        return spec

    def get_code(self, name: str) -> object:
        return self._modules[name][1]

    def create_module(self, spec: ModuleSpec) -> None:
        return None

    def exec_module(self, module: object) -> None:
        exec(self._modules[module.__name__][1], module.__dict__)  # type: ignore[attr-defined]


def _boot(modules: dict) -> None:
    os.environ.pop("PWD", None)  # bubblewrap sets it, and it would be wrong in a fork
    importer = _Importer(modules)
    sys.meta_path.insert(0, importer)  # type: ignore[arg-type]
    for name, (_, _, is_loaded) in modules.items():
        if is_loaded and name.startswith("_rlm_worker"):
            __import__(name)
    from _rlm_forkserver import init  # type: ignore[import-not-found]
    from _rlm_forkserver.bwrap import first_process  # type: ignore[import-not-found]
    from _rlm_worker import worker  # type: ignore[import-not-found]

    worker.prepare()
    sys.meta_path.remove(importer)  # type: ignore[arg-type]
    first_process.start(int(sys.argv[2]), init.start, worker.run)


if __name__ == "boot":
    _boot(globals()["modules"])
