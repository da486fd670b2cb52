"""The interpreter that saved a file, and whether this one can load it."""

import sys
from importlib.util import MAGIC_NUMBER
from typing import Dict, Optional


def version() -> Dict[str, str]:
    """Of the interpreter. Its bytecode is loaded by an interpreter with the same ``bytecode``; others compile the source."""
    return {
        "python": "%d.%d.%d" % sys.version_info[:3],
        "implementation": sys.implementation.name,
        "bytecode": MAGIC_NUMBER.hex(),
    }


def check_version(saved: Dict[str, str]) -> None:
    """Raises RuntimeError if this interpreter cannot load what the other one saved."""
    here = version()
    if saved["implementation"] != here["implementation"]:
        raise RuntimeError(f"it was saved by {_named(saved)}, and this session runs {_named(here)}")


def _named(of: Dict[str, str]) -> str:
    name = "Python" if of["implementation"] == "cpython" else of["implementation"]
    return f"{name} {of['python'].rpartition('.')[0]}"


def difference(saved: Dict[str, str]) -> Optional[str]:
    """None if this interpreter can run the bytecode of the other one; else which ones they are, for reports."""
    here = version()
    if saved["bytecode"] == here["bytecode"]:
        return None
    if _named(saved) == _named(here):
        return f"was compiled by another build of {_named(here)}"
    return f"was compiled by {_named(saved)}, this session runs {_named(here)}"
