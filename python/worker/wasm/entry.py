"""The start of a worker in WebAssembly. ``prepare`` is called once, before the memory snapshot is made; ``run`` in each session.

When the command pipe of a worker ends, or its own code is broken, the process ends.
"""

import gc
import json
import sys
import types

from .devices import DEVICES


def prepare() -> None:
    """Imports everything. What is imported here costs a session nothing."""
    from . import usage

    stub = types.ModuleType("resource")
    stub.RUSAGE_SELF, stub.RUSAGE_CHILDREN, stub.getrusage = 0, -1, usage.getrusage  # type: ignore[attr-defined]
    stub.RLIMIT_DATA, stub.RLIM_INFINITY, stub.getrlimit = 2, -1, usage.getrlimit  # type: ignore[attr-defined]
    sys.modules["resource"] = stub  # for our own modules, until they are imported
    from .. import worker
    from . import remove_js, unsupported, wasm_worker, wheels  # noqa: F401

    for name in unsupported.PRELOADED:
        __import__(name)
    worker.prepare(asyncio=True)
    del sys.modules["resource"]
    usage.install()
    unsupported.install()
    sys.executable = sys._base_executable = ""  # type: ignore[attr-defined]  # of the process that makes the snapshot
    sys.orig_argv = []
    gc.collect()
    gc.freeze()  # a collection in a session need not look at all this again


def run(settings: str) -> None:
    from ..io.channel import ChannelClosed
    from ..report import traceback_of
    from . import wasm_worker, wheels

    values = json.loads(settings)
    DEVICES.open(values["devices"])
    try:
        wasm_worker.configure(values)
        wheels.install(values.get("wheels"))
        wasm_worker.run()
    except ChannelClosed:
        DEVICES.exit(0)
    except BaseException as error:
        wasm_worker._die(traceback_of(error))
