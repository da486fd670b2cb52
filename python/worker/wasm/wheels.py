"""Packages from a folder of wheels. Nothing is downloaded, and no wheel is opened before a module is imported that it may have.

All wheels that have a part of a package are unpacked into memory together when it is first imported. One that cannot be unpacked leaves
nothing behind: each import of its package fails with the reason.
"""

import importlib
import os
import re
import shutil
import sys
import zipfile
from typing import Any, Dict, Iterable, List, Optional, Set, Tuple

SITE = "/lib/rlm-wheels"
_UNPACKING = "/lib/rlm-wheels-unpacking"
_COMPATIBLE_WHEEL = re.compile(r"^([^-]+)-([^-]+)(?:-\d[^-]*)?-(?:py3|py2\.py3|cp3\d+)-(?:none|abi3|cp3\d+)"
                   r"-(?:any|emscripten_\w+|pyodide_\w+|pyemscripten_\w+)\.whl$")
_IN_DATA = re.compile(r"^[^/]+\.data/(?:purelib|platlib)/(.+)$")


def install(folder: Optional[str]) -> None:
    """None: there is no such folder. One that this sandbox does not show has no wheels."""
    if folder is None:
        return
    try:
        wheels = _newest(os.listdir(folder))
    except FileNotFoundError:
        return
    except OSError as error:
        sys.meta_path.append(UnreadableFinder(f"the folder of wheels cannot be read: {error.strerror}"))  # type: ignore[arg-type]
        return
    os.makedirs(SITE, exist_ok=True)
    sys.path.append(SITE)
    sys.meta_path.insert(1, WheelFinder(folder, wheels))  # type: ignore[arg-type]


class WheelFinder:
    """Unpacks the wheels of a package; the usual finders find it then."""

    def __init__(self, folder: str, wheels: Dict[str, str]) -> None:
        self._folder = folder
        self._packed = wheels  # by the name of the distribution
        self._distributions: Optional[Dict[str, List[str]]] = None  # by the name of a module: the distributions that have a part of it

    def find_spec(self, name: str, _path: Any = None, _target: Any = None) -> None:
        if "." in name or name in sys.stdlib_module_names or not self._packed:
            return
        if self._distributions is None:
            self._distributions = self._index()
        unpacked = [each for each in self._distributions.get(name, ()) if each in self._packed]
        for each in unpacked:
            self._unpack(each, name)
        if unpacked:
            importlib.invalidate_caches()

    def find_distributions(self, context: Any) -> Iterable[Any]:
        """For ``importlib.metadata``: those that are not unpacked yet."""
        from importlib.metadata import DistributionFinder, MetadataPathFinder

        if context.path is not sys.path:
            return ()
        wanted = None if context.name is None else _normalised(context.name)
        paths = [self._path(each) for each in self._packed if wanted in (None, each)]
        return MetadataPathFinder.find_distributions(DistributionFinder.Context(name=context.name, path=paths))

    def _path(self, distribution: str) -> str:
        return os.path.join(self._folder, self._packed[distribution])

    def _index(self) -> Dict[str, List[str]]:
        tops: Dict[str, List[str]] = {}
        for distribution in self._packed:
            for top in _top_level_modules(self._path(distribution), distribution):
                tops.setdefault(top, []).append(distribution)
        return tops

    def _unpack(self, distribution: str, name: str) -> None:
        try:
            with zipfile.ZipFile(self._path(distribution)) as archive:
                for member in archive.infolist():
                    archive.extract(member, _UNPACKING)
            _move(_UNPACKING)
        except Exception as error:
            wheel = self._packed[distribution]
            raise ImportError(f"Cannot import '{name}': the wheel '{wheel}' cannot be unpacked: {error}", name=name) from None
        finally:
            shutil.rmtree(_UNPACKING, ignore_errors=True)
        del self._packed[distribution]


class UnreadableFinder:
    """Comes last: nobody else has found the module."""

    def __init__(self, why: str) -> None:
        self._why = why

    def find_spec(self, name: str, _path: Any = None, _target: Any = None) -> None:
        if "." not in name and name not in sys.stdlib_module_names:
            raise ModuleNotFoundError(f"No module named '{name}': {self._why}", name=name)


def _newest(names: Iterable[str]) -> Dict[str, str]:
    """By distribution: the wheel with the highest version."""
    found: Dict[str, Tuple[Any, str]] = {}
    for name in names:
        match = _COMPATIBLE_WHEEL.match(name)
        if match is not None:
            candidate = (_version(match[2]), name)
            distribution = _normalised(match[1])
            found[distribution] = max(found.get(distribution, candidate), candidate)
    return {distribution: found[distribution][1] for distribution in sorted(found)}


def _version(text: str) -> Tuple[Tuple[int, ...], bool, str]:
    """Sorts releases by their numbers, after what precedes them."""
    numbers, rest = re.match(r"(?:\d+!)?([\d.]*)(.*)", text).groups()  # type: ignore[union-attr]
    is_release = not re.match(r"(?:a|b|c|rc|dev)", rest)
    return tuple(int(number) for number in numbers.split(".") if number), is_release, rest


def _normalised(name: str) -> str:
    return re.sub(r"[-_.]+", "_", name).lower()


def _top_level_modules(path: str, distribution: str) -> Set[str]:
    """The top-level modules in a wheel. Not those of the standard library, which it must not replace. One that cannot be read counts as
    the module of its own name, whose import fails."""
    try:
        with zipfile.ZipFile(path) as archive:
            names = [_inside(name) for name in archive.namelist()]
    except (OSError, zipfile.BadZipFile):
        return {distribution}
    tops = {name.partition("/")[0].partition(".")[0] for name in names if not name.partition("/")[0].endswith(".dist-info")}
    return {top for top in tops if top and top not in sys.stdlib_module_names}


def _inside(name: str) -> str:
    """Where a file of a wheel belongs, relative to the folder of packages. Empty: it is not for that folder."""
    match = _IN_DATA.match(name)
    if match is not None:
        return match[1]
    return "" if name.partition("/")[0].endswith(".data") else name


def _move(folder: str) -> None:
    """Moves what was unpacked to its place."""
    for parent, _, names in os.walk(folder):
        for name in names:
            source = os.path.join(parent, name)
            inside = _inside(os.path.relpath(source, folder))
            if inside:
                target = os.path.join(SITE, inside)
                os.makedirs(os.path.dirname(target), exist_ok=True)
                os.replace(source, target)
