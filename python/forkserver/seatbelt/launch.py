"""Runs under sandbox-exec: sets limits that cannot be raised again, and becomes a worker or a job.

    python3 -I -B launch.py ORDER

ORDER is JSON: {"role": "worker" | "job", "fds": [...], "limits": {...}}.
"""
import importlib.util
import json
import os
import resource
import sys


def _load(alias: str, folder: str) -> None:
    spec = importlib.util.spec_from_file_location(
        alias, os.path.join(folder, "__init__.py"), submodule_search_locations=[folder])
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[alias] = module
    spec.loader.exec_module(module)


def _limit(limits: dict) -> None:
    """macOS accepts a limit on data and does not hold it; the supervisor watches memory."""
    for kind, value in (
        (resource.RLIMIT_DATA, limits["memoryBytes"]),
        (resource.RLIMIT_FSIZE, limits["diskBytes"]),
        (resource.RLIMIT_NOFILE, limits["openFiles"]),
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_MEMLOCK, 0),
    ):
        hard = resource.getrlimit(kind)[1]
        lower = value if hard == resource.RLIM_INFINITY else min(value, hard)
        resource.setrlimit(kind, (lower, lower))


def main() -> None:
    order = json.loads(sys.argv[1])
    sys.argv = [""]
    code = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    if order["role"] == "job":
        _load("_rlm_forkserver", f"{code}/forkserver")
        from _rlm_forkserver.files import operations  # type: ignore[import-not-found]
        from _rlm_forkserver.processes import jobs  # type: ignore[import-not-found]

        _limit(order["limits"])
        jobs.serve(operations.work, jobs.Channel(*order["fds"]))
        os._exit(0)
    _load("_rlm_worker", f"{code}/worker")
    from _rlm_worker import worker  # type: ignore[import-not-found]

    worker.prepare()
    _limit(order["limits"])
    worker.run(*order["fds"], alone=False)


main()
