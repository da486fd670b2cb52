"""Completion and signatures, on plain namespaces without a worker."""

import os
import sys
import tempfile
import unittest

from test_messages import load_channel

NAMESPACE: dict = {}
exec(
    """
import os
alpha, alphabet = 1, "abc"
def f(alpha, beta=2, *rest, gamma, **more):
    "Documentation of f."
class Point:
    "A point."
    def __init__(self, x, y=0): self.x = x; self._y = y
    def move(self, by): "Moves it."
    @property
    def lazy(self): raise RuntimeError
    @staticmethod
    def origin(): pass
point = Point(1)
points = [point]
table = {"one": {"two": point}, "it's": 2, 3: 4, "line\\n": 5}
class Frame:
    columns = ["price", "size", 7]
    def keys(self): return ["never"]
frame = Frame()
called = []
def trap(): called.append(1); return point
""",
    NAMESPACE,
)


class CompletionCase(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        load_channel()
        from _rlm_worker.inspection import completion

        cls.completion = completion

    @classmethod
    def tearDownClass(cls):
        for name in [name for name in sys.modules if name.startswith("_rlm_worker")]:
            del sys.modules[name]

    def complete(self, code):
        """The matches as (text, type). The cursor is at ``|`` in the code, or at its end."""
        cursor = code.index("|") if "|" in code else len(code)
        found = self.completion.complete(NAMESPACE, code.replace("|", ""), cursor)
        self.assertEqual(found["end"], cursor)
        self.start = found["start"]
        return [(match["text"], match["type"]) for match in found["matches"]]

    def texts(self, code):
        return [text for text, _ in self.complete(code)]

    def signature(self, code):
        return self.completion.signature(NAMESPACE, code, len(code))["signature"]


class Completion(CompletionCase):
    def test_names_of_the_namespace_builtins_and_keywords(self):
        self.assertEqual(self.complete("alph"), [("alpha", "name"), ("alphabet", "name")])
        self.assertEqual(self.complete("x = Poi"), [("Point", "class")])
        self.assertEqual(self.start, 4)
        self.assertIn(("isinstance", "function"), self.complete("is"))
        self.assertIn(("lambda", "keyword"), self.complete("lam"))
        self.assertIn(("os", "module"), self.complete("o"))

    def test_the_rest_of_the_line_is_ignored(self):
        self.assertEqual(self.texts("alp|habet + 1"), ["alpha", "alphabet"])

    def test_attributes_with_their_kinds(self):
        self.assertEqual(
            self.complete("point."),
            [("lazy", "attribute"), ("move", "function"), ("origin", "function"), ("x", "attribute")],
        )
        self.assertEqual(self.complete("os.path.joi"), [("join", "function")])
        self.assertEqual(self.texts("point . mo"), ["move"])
        self.assertEqual(self.texts("alphabet.upp"), ["upper"])
        self.assertEqual(self.texts("'text'.upp"), ["upper"])
        self.assertIn("append", self.texts("[1, 2]."))

    def test_private_names_need_an_underscore_prefix(self):
        self.assertEqual(self.texts("point._"), ["_y"])
        self.assertIn("__init__", self.texts("point.__"))

    def test_constant_subscripts_are_evaluated(self):
        self.assertEqual(self.texts("points[0].mo"), ["move"])
        self.assertEqual(self.texts("points[-1].mo"), ["move"])
        self.assertEqual(self.texts("table['one']['two'].mo"), ["move"])

    def test_calls_are_never_made(self):
        for code in ("trap().", "(trap()).", "points[trap()].", "table[trap()]['", "trap()['", "trap()[0].x.", "trap("):
            self.texts(code)
        self.assertEqual(NAMESPACE["called"], [])

    def test_keys_of_a_mapping_and_columns_of_a_table(self):
        self.assertEqual(self.complete("table['o"), [("one", "key")])
        self.assertEqual(self.start, len("table['"))
        self.assertEqual(self.texts("table['"), ["it\\'s", "one"])
        self.assertEqual(self.texts('table["'), ["it's", "one"])
        self.assertEqual(self.texts("table['one']['"), ["two"])
        self.assertEqual(self.texts("frame['"), ["price", "size"])

    def test_modules_and_their_members(self):
        self.assertIn(("json", "module"), self.complete("import js"))
        self.assertIn("json", self.texts("import os, js"))
        self.assertEqual(self.texts("import json as js"), [])
        self.assertIn(("decoder", "module"), self.complete("import json.dec"))
        self.assertIn(("decoder", "module"), self.complete("from json.dec"))
        self.assertIn(("dumps", "function"), self.complete("from json import du"))
        self.assertIn("dumps", self.texts("from json import (loads,\n  du"))
        self.assertIn("dumps", self.texts("x = 1; from json import du"))
        self.assertEqual(self.texts("from no_such_module import x"), [])

    def test_parameters_of_the_open_call(self):
        self.assertEqual(self.complete("f(al")[0], ("alpha=", "parameter"))
        self.assertEqual(self.complete("f(1, alpha=2, |")[:2], [("beta=", "parameter"), ("gamma=", "parameter")])
        self.assertNotIn("alpha=", self.texts("f(beta=al"))
        self.assertNotIn("alpha=", self.texts("f([al"))
        self.assertEqual(self.complete("Point(x=1, y")[0], ("y=", "parameter"))

    def test_paths_inside_a_string(self):
        with tempfile.TemporaryDirectory() as folder:
            os.mkdir(os.path.join(folder, "data"))
            open(os.path.join(folder, "data.csv"), "w").close()
            open(os.path.join(folder, ".hidden"), "w").close()
            code = f"open('{folder}/da"
            self.assertEqual(self.complete(code), [("data.csv", "path"), ("data/", "path")])
            self.assertEqual(self.start, len(code) - 2)
            self.assertEqual(self.texts(f"open('{folder}/."), [".hidden"])
            here = os.getcwd()
            os.chdir(folder)
            try:
                self.assertEqual(self.texts("open('dat"), ["data.csv", "data/"])
            finally:
                os.chdir(here)
        self.assertEqual(self.texts("open('/no/such/folder/"), [])

    def test_no_matches_without_a_known_value(self):
        for code in ("# alp", "x = 1 # alp", "def al", "class Al", "1.", "12", "unknown.", "point.lazy.", "'a' 'alp"):
            self.assertEqual(self.texts(code), [], code)

    def test_an_unfinished_earlier_line_is_ignored(self):
        self.assertEqual(self.texts("x = 'never closed\nalphab"), ["alphabet"])
        self.assertEqual(self.texts('"""a text\nwith (brackets"""\nalphab'), ["alphabet"])
        self.assertEqual(self.texts("if True:\n    alphab"), ["alphabet"])
        self.assertEqual(self.texts(")]}alphab"), ["alphabet"])

    def test_at_most_500_matches_are_returned_with_the_total(self):
        names = {f"name{index}": index for index in range(2000)}
        found = self.completion.complete(names, "name", 4)
        self.assertEqual((len(found["matches"]), found["total"]), (500, 2000))

    def test_code_truncated_anywhere_is_accepted(self):
        code = "f(1, [a.b['c'], {d: (e)}], g='h', *i)\nimport os.path as p\nfrom x import (y, z)\nt[0][-1]('''k\nl''' f\"m{n}\")\n"
        for cursor in range(len(code) + 1):
            self.completion.complete(NAMESPACE, code, cursor)
            self.completion.signature(NAMESPACE, code, cursor)


class Signatures(CompletionCase):
    def test_the_innermost_open_call(self):
        self.assertEqual(
            self.signature("x = f("),
            {
                "name": "f",
                "signature": "(alpha, beta=2, *rest, gamma, **more)",
                "documentation": "Documentation of f.",
                "parameter": 0,
            },
        )
        self.assertEqual(self.signature("f(1, point.move(")["name"], "point.move")
        self.assertEqual(self.signature("f(point.move(1), ")["name"], "f")
        self.assertEqual(self.signature("Point(")["signature"], "(x, y=0)")

    def test_the_parameter_at_the_cursor(self):
        for code, parameter in (
            ("f(", 0),
            ("f(1, ", 1),
            ("f(1, (2, 3), ", 2),
            ("f(1, [2, 3, ", 1),
            ("f(1, 2, 3, 4, 5, ", 2),
            ("f(gamma=", 3),
            ("f(other=", 4),
            ("f('a, b', ", 1),
            ("f('a, b", 0),
            ("Point(1, 2, 3, ", None),
        ):
            self.assertEqual(self.signature(code)["parameter"], parameter, code)

    def test_c_functions_have_signatures(self):
        self.assertEqual(self.signature("len(")["signature"], "(obj, /)")
        self.assertTrue(self.signature("dict(")["signature"].startswith("("))

    def test_there_is_none_without_an_open_call(self):
        for code in ("f", "f(1)", "if (", "(", "def f(", "class C(", "unknown(", "alpha(", "# f(", "print['", "trap()("):
            self.assertIsNone(self.signature(code), code)


if __name__ == "__main__":
    unittest.main()
