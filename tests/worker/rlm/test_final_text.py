"""What FINAL(...) in plain text may hold, without a session."""

import importlib.util
import json
import os
import sys
import types
import unittest

from harness import ROOT

NAMESPACE = {"total": 3, "print_all": print}


def load():
    """The module, with stand-ins for what it needs of a session."""
    given = []
    stand_ins = {
        "rlm_host": {"call": lambda name, **fields: given.append(fields)},
        "rlm_context": {"namespace_of_session": lambda: NAMESPACE},
        "rlm_session": {"Final": type("Final", (BaseException,), {}), "_plain": lambda value: value},
        "rlm_texts": {"text_of": lambda value: value if isinstance(value, str) else json.dumps(value)},
    }
    before = {name: sys.modules.get(name) for name in stand_ins}
    for name, fields in stand_ins.items():
        sys.modules[name] = types.ModuleType(name)
        sys.modules[name].__dict__.update(fields)
    try:
        path = os.path.join(ROOT, "python", "worker", "rlm", "final_text.py")
        spec = importlib.util.spec_from_file_location("rlm_final", path)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
    finally:
        for name, old in before.items():
            if old is None:
                del sys.modules[name]
            else:
                sys.modules[name] = old
    return module, given


class FinalText(unittest.TestCase):
    def read(self, source):
        module, given = load()
        try:
            module.read(json.dumps(source))
        except BaseException as error:
            return type(error).__name__, given[0]["text"] if given else str(error)

    def test_a_literal_is_given(self):
        self.assertEqual(self.read("'a' 'b'"), ("Final", "ab"))
        self.assertEqual(self.read("3.10"), ("Final", "3.10"))
        self.assertEqual(self.read('{"a": null}'), ("Final", '{"a": null}'))

    def test_an_expression_over_variables_is_to_be_evaluated(self):
        for source in ["total", "f'{total}'", "[i for i in range(total)]", "(lambda a: a)(total)", "f'plain'", "value=total"]:
            self.assertEqual(self.read(source), ("Expression", "single"), source)
        self.assertEqual(self.read("total, total"), ("Expression", "several"))

    def test_prose_is_told_from_names(self):
        for source in ["Paris is the one", "1,234", "2024-10-12", "1) or (2", "a), FINAL(b", "(", "\0", "(" * 10_000, ""]:
            self.assertEqual(self.read(source)[0], "Prose", source[:20])
        for source in ["Paris", "print_all", "max", "Paris (France)", "not found", "Paris is it", "totals + total"]:
            self.assertEqual(self.read(source)[0], "UnknownNames", source)


if __name__ == "__main__":
    unittest.main()
