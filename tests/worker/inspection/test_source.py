"""The source of what a name stands for, asked as the host does."""

import unittest

from harness import WorkerCase

CODE = '''import functools
def outer(n):
    """Twice."""

    return 2 * n


class Plain:
    kind = 1
    def __lt__(self, other): return True

@functools.total_ordering
class Shape(Plain):
    def area(self):
        return (
            1
        )

    @property
    def side(self): return 2
y = 2'''


class Sources(WorkerCase):
    def source(self, name, timeoutMs=5000):
        self.worker.number += 1
        question = f"ask/{self.worker.number}"
        self.worker.send_aside(cmd="source", id=question, name=name, timeoutMs=timeoutMs)
        return self.worker.status(question)["data"].get("source")

    def text(self, name):
        return self.source(name)["text"]

    def test_functions_and_classes_of_the_session(self):
        self.worker.run(CODE)
        self.assertEqual(self.text("outer"), 'def outer(n):\n    """Twice."""\n\n    return 2 * n')
        self.assertEqual(self.text("Plain"), "class Plain:\n    kind = 1\n    def __lt__(self, other): return True")
        self.assertTrue(self.text("Shape").startswith("@functools.total_ordering\nclass Shape(Plain):\n    def area(self):\n"))
        self.assertTrue(self.text("Shape").endswith("def side(self): return 2"))
        self.assertEqual(self.text("Shape.side"), "    @property\n    def side(self): return 2")
        self.assertEqual(self.source("outer"), {"text": self.text("outer"), "total": 48, "line": 2, "file": "<cell 1>"})

    def test_the_newest_definition_counts(self):
        self.worker.run("def f(): return 1\nclass A: pass")
        self.worker.run("def f(): return 2\nclass A: size = 2")
        self.assertEqual((self.text("f"), self.text("A")), ("def f(): return 2", "class A: size = 2"))

    def test_classes_of_a_named_block(self):
        self.worker.run("class A: size = 2", name="<block 3>")
        self.assertEqual((self.text("A"), self.source("A")["file"]), ("class A: size = 2", "<block 3>"))

    def test_bound_methods_partials_and_wrapped_functions(self):
        self.worker.run("import functools\nclass A:\n    def m(self): return 1\na = A()\np = functools.partial(A.m, 1)")
        self.worker.run("def note(f):\n    @functools.wraps(f)\n    def g(*a): return f(*a)\n    return g\n@note\ndef h(): return 3")
        self.assertEqual([self.text(name) for name in ("a.m", "p", "h")], ["    def m(self): return 1"] * 2 + ["@note\ndef h(): return 3"])

    def test_modules_and_what_they_define(self):
        self.worker.run("import json, textwrap")
        self.assertTrue(self.text("json.dumps").startswith("def dumps(obj, *, skipkeys=False"))
        self.assertTrue(self.source("json.JSONDecoder")["file"].endswith("json/decoder.py"))
        self.assertEqual(self.source("textwrap")["line"], 1)

    def test_what_has_no_source(self):
        self.worker.run("x = 5\nclass A: pass\na = A()\nexec('def made(): pass')")
        for name in ("x", "a", "len", "int", "nobody", "x.y", "made", "1 +", "", "print()", "A.__init__"):
            self.assertIsNone(self.source(name), name)

    def test_a_long_source_is_cut(self):
        self.worker.run("def f():\n" + "    x = 1  # " + "y" * 60_000 + "\n")
        found = self.source("f")
        self.assertEqual((len(found["text"]), found["total"] > 60_000), (50_000, True))

    def test_hostile_objects_change_nothing(self):
        self.worker.run("class Trap:\n    def __getattr__(self, name): raise SystemExit\n    __name__ = property(lambda self: 1/0)\ntrap = Trap()")
        self.assertIsNone(self.source("trap"))
        self.assertEqual(self.worker.value("1"), "1")


if __name__ == "__main__":
    unittest.main()
