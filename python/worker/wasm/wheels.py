"""Packages from a folder of wheels: one is unpacked into memory when it is first imported. Nothing is downloaded."""

import importlib
import os
import re
import sys
import zipfile
from typing import Any, Dict, Optional

SITE = "/lib/rlm-wheels"
_OURS = re.compile(r"-(?:py3|py2\.py3|cp3\d+)-(?:none|abi3|cp3\d+)-(?:any|emscripten_\w+|pyodide_\w+|pyemscripten_\w+)\.whl$")


def install(folder: Optional[str]) -> None:
    """None: there is no such folder."""
    if folder is None:
        return
    found: Dict[str, str] = {}
    for name in sorted(os.listdir(folder)):
        if _OURS.search(name):
            path = os.path.join(folder, name)
            for top in _tops(path):
                found.setdefault(top, path)
    os.makedirs(SITE, exist_ok=True)
    sys.path.append(SITE)
    sys.meta_path.insert(1, WheelFinder(found))  # type: ignore[arg-type]


class WheelFinder:
    """Unpacks the wheel of a package; the usual finders find it then."""

    def __init__(self, wheels: Dict[str, str]) -> None:
        self._wheels = wheels

    def find_spec(self, name: str, _path: Any = None, _target: Any = None) -> None:
        wheel = self._wheels.pop(name.partition(".")[0], None)
        if wheel is None:
            return
        for other in [top for top, path in self._wheels.items() if path == wheel]:
            del self._wheels[other]
        with zipfile.ZipFile(wheel) as archive:
            archive.extractall(SITE)
        importlib.invalidate_caches()


def _tops(path: str) -> "set[str]":
    """The top-level modules in a wheel. Not those of the standard library, which it must not replace."""
    try:
        with zipfile.ZipFile(path) as archive:
            names = archive.namelist()
    except (OSError, zipfile.BadZipFile):
        return set()
    tops = {name.partition("/")[0].partition(".")[0] for name in names if not name.partition("/")[0].endswith((".dist-info", ".data"))}
    return {top for top in tops if top and top not in sys.stdlib_module_names}
