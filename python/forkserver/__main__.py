"""Starts the fork server: `python3 -I forkserver/__main__.py OPTIONS`. OPTIONS is JSON: {"tier": name, "preload": [...],
"host": pid, "home": folder, "uid"?: n, "users"?: [first, last], "landlock"?: n}. `uid` is the user to become if this is root; `users`
are ids for sandboxes; `landlock` is the newest version of Landlock to use. `sandboxExec`, on macOS, is the command that confines a
process. In a container, `socketFolder` is one that the host sees, too, or `pipesFolder` one for pipes that only the container sees: see
container/host_link.py.

Both packages are loaded under private names, so that `import worker` in user code finds the user's own module.
"""
import functools
import gc
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


def _connect_to_host(options: dict) -> None:
    from _rlm_forkserver import pipes  # type: ignore[import-not-found]
    from _rlm_forkserver.container import host_link  # type: ignore[import-not-found]

    if "socketFolder" in options:
        pipes.folder = host_link.connect_by_socket(options["socketFolder"])
        return
    host_link.connect_by_stdio(options["pipesFolder"])
    pipes.folder = options["pipesFolder"]
    options["host"] = os.getppid()


def main() -> None:
    if sys.version_info < (3, 9):
        sys.exit("it is Python %d.%d" % sys.version_info[:2])
    here = os.path.dirname(os.path.abspath(__file__))
    _load("_rlm_forkserver", here)
    options = json.loads(sys.argv[1])
    if "socketFolder" in options or "pipesFolder" in options:
        _connect_to_host(options)
    if options["tier"] == "seatbelt":
        from _rlm_forkserver.seatbelt import supervisor  # type: ignore[import-not-found]

        supervisor.serve(options)
    gc.disable()  # hardly anything that is loaded now is garbage
    _load("_rlm_worker", os.path.join(os.path.dirname(here), "worker"))
    from _rlm_forkserver import server  # type: ignore[import-not-found]
    from _rlm_forkserver.processes.guest import seal, unpack  # type: ignore[import-not-found]
    from _rlm_forkserver.sandbox import interpreter  # type: ignore[import-not-found]
    from _rlm_worker import worker  # type: ignore[import-not-found]

    sys.pycache_prefix = None  # it was for our own files; other modules have their compiled form beside them
    worker.prepare()
    gc.enable()
    guest = options.get("guest")
    if guest is not None:
        interpreter.of_guest = tuple(guest.pop("files"))
        seal(guest["image"])
    server.serve(functools.partial(worker.run, alone=True) if guest is None else unpack(guest), options)


main()
