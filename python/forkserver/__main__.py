"""Start: `python3 -I forkserver/__main__.py OPTIONS`, OPTIONS being JSON: {"preload": [...], "host": pid,
"home": folder, "uid"?: n, "gid"?: n}.

Both packages are loaded under names of our own, so that user code's `import worker` finds the user's worker.
"""
import functools
import importlib.util
import json
import os
import sys


def _load(alias: str, folder: str) -> None:
    spec = importlib.util.spec_from_file_location(
        alias, os.path.join(folder, "__init__.py"), submodule_search_locations=[folder])
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[alias] = module
    spec.loader.exec_module(module)


def main() -> None:
    if sys.version_info < (3, 9):
        sys.exit("it is Python %d.%d" % sys.version_info[:2])
    here = os.path.dirname(os.path.abspath(__file__))
    _load("_rlm_forkserver", here)
    _load("_rlm_worker", os.path.join(os.path.dirname(here), "worker"))
    from _rlm_forkserver import server  # type: ignore[import-not-found]
    from _rlm_worker import worker  # type: ignore[import-not-found]

    sys.pycache_prefix = None  # that was for our own files; everything else has its compiled form beside it
    worker.prepare()
    server.serve(functools.partial(worker.run, alone=True), json.loads(sys.argv[1]))


main()
