"""Parts of tables whose values were written to change, hang or crash whoever looks at them."""

import json
import unittest

from harness import WorkerCase

SETUP = '''
import sys, os, time, ctypes
touched = []
def note(*_): touched.append(1)
class Meta(type):
    def __getattribute__(kind, name):
        note()
        if name in ("to_frame", "iloc", "get_column", "__array_finalize__"): return True
        return type.__getattribute__(kind, name)
    def __instancecheck__(kind, other): note(); return True
class Fake(metaclass=Meta):
    __module__ = "pandas.core.frame"
    __class__ = property(lambda self: dict)
    def __getattr__(self, name): note(); return self
    def __getitem__(self, at): note(); return self
    def __call__(self, *args, **kwargs): note(); return self
    def __len__(self): note(); return sys.maxsize
    def __iter__(self): note(); return iter(lambda: "x" * 10**6, None)
    def __repr__(self): note(); return "\\x1b[31m" * 10**6
    __str__ = __repr__
class Endless(dict):
    def __len__(self): note(); return 3
    def keys(self): note(); return iter(lambda: 1, None)
    def values(self): note(); return iter(lambda: self, None)
class Text(str):
    def __len__(self): return 0
    def __str__(self): note(); return self
    def __getitem__(self, at): note(); return self
class Hanging(list):
    def __len__(self): time.sleep(1000)
    def __getitem__(self, at): time.sleep(1000)
    def __iter__(self): time.sleep(1000)
class Crashing(list):
    def __len__(self): ctypes.string_at(0)
class Wrong(list):
    def __len__(self): raise SystemExit(3)
class Talking(list):
    def __len__(self):
        os.system("echo x"); sys.stdout.write("y" * 10**6); print("z"); touched.append(2)
        for fd in range(3, 64):
            try: os.write(fd, b'{"rows": [["forged"]], "index": ["0"]}\\n')
            except OSError: pass
        return 1
fake, endless, hanging, crashing, wrong, talking = Fake(), Endless(a=1), Hanging(), Crashing([1]), Wrong([1]), Talking([1])
text = [Text("t" * 10**6)] * 500
deep = []
for _ in range(100_000): deep = [deep]
'''
NAMES = ("fake", "endless", "hanging", "crashing", "wrong", "talking", "text", "deep")


class HostileRows(WorkerCase):
    def ask(self, name, **fields):
        self.worker.number += 1
        question = f"ask/{self.worker.number}"
        part = {"start": 0, "count": 500, "columnStart": 0, "columnCount": 50, "sortBy": None, "descending": False}
        self.worker.send_aside(cmd="rows", id=question, name=name, timeoutMs=1000, **{**part, **fields})
        return self.worker.status(question)["data"]

    def test_nothing_changes_and_every_answer_is_bounded(self):
        self.worker.run(SETUP)
        for name in NAMES:
            for sort in (None, 0):
                with self.subTest(name=name, sort=sort):
                    found = self.ask(name, sortBy=sort)
                    self.assertTrue(found["found"])
                    self.assertLess(len(json.dumps(found)), 8_000_000)
                    for row in found.get("rows", []):
                        self.assertTrue(all(type(cell) is str and len(cell) <= 200 for cell in row), row)
        self.assertIn(self.ask("hanging")["incomplete"], ("timeout",))
        self.assertEqual(self.ask("crashing")["incomplete"], "crashed")
        self.assertIn("SystemExit", self.ask("wrong")["error"])
        self.assertEqual(self.ask("text", count=1)["rows"], [["'" + "t" * 198 + "…"]])
        self.assertEqual(self.worker.value("len(touched)"), "0")


if __name__ == "__main__":
    unittest.main()
