"""How much text is in a value, and what its items are like, without a session."""

import collections
import importlib.util
import os
import sys
import unittest

from harness import ROOT


def load(name):
    path = os.path.join(ROOT, "python", "worker", "rlm", f"{name}.py")
    spec = importlib.util.spec_from_file_location(f"rlm_{name}", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def refuse(*_):
    raise AssertionError("user code has run")


REFUSED = {name: refuse for name in ("__len__", "__iter__", "__getitem__", "values", "items", "keys", "__repr__", "__str__", "__hash__")}
LyingDict = type("LyingDict", (dict,), REFUSED)
LyingList = type("LyingList", (list,), REFUSED)
LyingText = type("LyingText", (str,), {"__len__": refuse, "__str__": refuse})
Stranger = type("Stranger", (), {"__class__": property(refuse), "__getattr__": refuse, "__len__": refuse})


class Totals(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.totals = sys.modules["rlm_totals"] = load("totals")
        try:
            cls.shapes = load("shapes")
        finally:
            del sys.modules["rlm_totals"]

    def text(self, value):
        return self.totals.describe_total(self.totals.total_of(value, self.totals.Budget()))

    def test_texts_are_counted_at_any_depth(self):
        self.assertEqual(self.text({"a": "xyz", "b": ["1", ("2", {"k": "34"})], "n": 5, "z": None}), "7 characters in all")
        self.assertEqual(self.text([b"ab", bytearray(3), "x"]), "1 character and 5 bytes in all")
        self.assertEqual(self.text([frozenset(["ab"]), {"cd"}, collections.OrderedDict(a="ef")]), "6 characters in all")
        self.assertEqual(self.text([1, 2.5, None, []]), "")

    def test_no_code_of_a_subclass_runs(self):
        values = LyingDict(a="xy", b=LyingList(["z", LyingText("12")]), c=Stranger())
        self.assertEqual(self.text(values), "5 characters in all")
        self.assertEqual(self.totals.length_of(values), 3)
        self.assertEqual(self.totals.length_of(LyingText("12")), 2)
        self.assertEqual([kind["what"] for kind in self.shapes.kinds_of(values)], ["str", "LyingList", "Stranger"])
        self.assertEqual(self.shapes.shape_of(LyingList([LyingDict(a="b")])), 'each like {"a": str}')
        self.assertEqual(self.shapes.endings_of(LyingDict({"a.py": "x", "b.py": "y"})), [{"what": ".py", "count": 2}])

    def test_a_value_that_contains_itself_has_at_least_so_much(self):
        loop = ["x"]
        loop.append(loop)
        self.assertRegex(self.text(loop), r"^at least [\d,]+ characters in all$")
        self.assertEqual(self.shapes.shape_of([loop]), "each like [2 × str]")

    def test_a_budget_is_for_all_values(self):
        totals, budget = self.totals, self.totals.Budget()
        ones = ["1"] * totals.MAX_ITEMS
        self.assertFalse(totals.total_of([ones, ones], budget).whole)
        self.assertFalse(totals.total_of(ones[:2_000], budget).whole)
        self.assertTrue(totals.total_of(ones[:900], budget).whole)

    def test_the_structure_of_items(self):
        shape_of = self.shapes.shape_of
        records = [{"id": 1, "name": "x", "tags": ["a", "b"], "of": {"a": {"b": {"c": 1}}}}] * 3
        self.assertEqual(shape_of(records), 'each like {"id": int, "name": str, "tags": [2 × str], "of": {"a": {"b": dict of 1}}}')
        self.assertEqual(shape_of([*records, None]), shape_of(records).replace("each", "the first"))
        self.assertEqual(shape_of({"users": [{"n": 1}], "version": 2}), 'like {"users": [1 × {"n": int}], "version": int}')
        self.assertEqual(shape_of({str(key): {"n": 1} for key in range(9)}), 'each like {"n": int}')
        self.assertEqual(shape_of([{"a\n\u2028\"": [], 5: 1}]), 'each like {"a\\n\\u2028\\"": list of 0, int: int}')
        for value in ("text", ["a"], {"a": "b"}, [], {}, 5):
            self.assertIsNone(shape_of(value))
        wide = shape_of([{f"key {number} {'x' * 50}": number for number in range(50)}])
        self.assertLess(len(wide), 340)

    def test_the_endings_of_names_of_files(self):
        endings_of = self.shapes.endings_of
        self.assertEqual(
            endings_of({"src/a.py": "", "src/B.PY": "", "c.tar.gz": b"", "Makefile": "", ".env": ""}),
            [{"what": ".py", "count": 2}, {"what": ".gz", "count": 1}],
        )
        for value in ({"a.py": ""}, {"a": "", "b": "", "c.py": ""}, {"1.5": "", "2.5": ""}, {"a.py": 1, "b.py": 2}, ["a.py", "b.py"]):
            self.assertEqual(endings_of(value), [])
