"""Every module defines, imports or inherits from builtins each name that it uses: a linter's first rule, without a linter."""

import builtins
import symtable
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
    def test_a_missing_name_is_seen(self) -> None:
        self.assertEqual(undefined_names("import json\ndef f(a):\n    return json.dumps(missing(a))\n", "m.py"), {"missing"})

    def test_every_module_defines_what_it_uses(self) -> None:
        modules = sorted(PYTHON.rglob("*.py"))
        self.assertGreater(len(modules), 20)
        missing = {str(path.relative_to(PYTHON)): found for path in modules if (found := undefined_names(path.read_text("utf-8"), path.name))}
        self.assertEqual(missing, {})


if __name__ == "__main__":
    unittest.main()
