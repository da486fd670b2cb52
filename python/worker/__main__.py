"""Starts a worker without a sandbox, for tests and benchmarks.

    python3 -I python/worker/__main__.py COMMANDS_FD ASIDE_FD EVENTS_FD [CONTROL_FD]

The descriptors are inherited. In a sandbox the init calls ``worker.run`` instead.
"""

import importlib.util
import os
import sys

ALIAS = "_rlm_worker"


def load() -> None:
    """Makes this folder importable as the package ``_rlm_worker``, whatever sys.path says."""
    folder = os.path.dirname(os.path.abspath(__file__))
    spec = importlib.util.spec_from_file_location(
        ALIAS, os.path.join(folder, "__init__.py"), submodule_search_locations=[folder]
    )
    package = importlib.util.module_from_spec(spec)
    sys.modules[ALIAS] = package
    spec.loader.exec_module(package)


if __name__ == "__main__":
    load()
    from _rlm_worker import worker

    worker.prepare()
    worker.run(*map(int, sys.argv[1:]))
