"""Every name that a module uses is defined, imported or a builtin, and no module is imported inside a sandbox."""

import builtins
import json
import subprocess
import symtable
import sys
import unittest
from pathlib import Path
from typing import Iterator, Set

PYTHON = Path(__file__).resolve().parents[2] / "python"
MODULE_NAMES = {"__file__", "__name__", "__doc__", "__spec__", "__path__", "__package__"}


def _tables(table: symtable.SymbolTable) -> Iterator[symtable.SymbolTable]:
    yield table
    for child in table.get_children():
        yield from _tables(child)


def undefined_names(source: str, name: str) -> Set[str]:
    top = symtable.symtable(source, name, "exec")
    every = list(_tables(top))
    known = {symbol.get_name() for symbol in top.get_symbols() if symbol.is_assigned() or symbol.is_imported()}
    known |= {symbol.get_name() for table in every for symbol in table.get_symbols() if symbol.is_declared_global() and symbol.is_assigned()}
    used = {symbol.get_name() for table in every for symbol in table.get_symbols() if symbol.is_global() and symbol.is_referenced()}
    used |= {symbol.get_name() for symbol in top.get_symbols() if symbol.is_referenced()}
    return used - known - set(dir(builtins)) - MODULE_NAMES


class TestNames(unittest.TestCase):
    def test_a_missing_name_is_found(self) -> None:
        self.assertEqual(undefined_names("import json\ndef f(a):\n    return json.dumps(missing(a))\n", "m.py"), {"missing"})

    def test_every_module_defines_what_it_uses(self) -> None:
        modules = sorted(PYTHON.rglob("*.py"))
        self.assertGreater(len(modules), 20)
        missing = {str(path.relative_to(PYTHON)): found for path in modules if (found := undefined_names(path.read_text("utf-8"), path.name))}
        self.assertEqual(missing, {})

    def test_every_module_of_the_worker_is_loaded_before_the_fork(self) -> None:
        code = (
            "import json, runpy, sys\n"
            "runpy.run_path(sys.argv[1])['load']()\n"
            "from _rlm_worker import import_hooks, worker\n"
            "worker.prepare()\n"
            "print(json.dumps([list(sys.modules), list(import_hooks.EMBEDDED.values())]))"
        )
        folder = PYTHON / "worker"
        output = subprocess.check_output([sys.executable, "-I", "-c", code, str(folder / "__main__.py")])
        loaded, embedded = json.loads(output)
        files = {".".join(path.relative_to(folder).with_suffix("").parts) for path in folder.rglob("*.py")}
        names = {name.removesuffix(".__init__") for name in files} - {"__init__", "__main__", *embedded}
        names = {name for name in names if name.split(".")[0] != "wasm"}  # that is not forked
        self.assertEqual({name for name in names if f"_rlm_worker.{name}" not in loaded}, set())


if __name__ == "__main__":
    unittest.main()
