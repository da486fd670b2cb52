"""Session files of another version of Python: functions and classes are made from source."""

import glob
import os
import random
import shutil
import subprocess
import sys
import textwrap
import unittest

from harness import Worker
from saving.state_kinds import HELPERS, KINDS
from saving.test_state import VERSION, StateCase

OTHER = {**VERSION, "python": "3.4.1", "bytecode": "00"}  # this interpreter, as if it were another one
HERE = VERSION["python"].rpartition(".")[0]
WHY = f"function %r was compiled by Python 3.4, this session runs Python {HERE}, and %s"
# Before Python 3.11, code does not tell which of two functions of a module it is.
UNKNOWN = () if sys.version_info >= (3, 11) else ("managed",)
# What the standard library makes differently in each version of Python, and what is printed differently.
NOT_PORTABLE = ("lru_cache", "singledispatch", "decorated with a library's closure", "typing", "the library's objects", "for the one above", "type parameters")
MOSTLY_PORTABLE = {name: kind for name, kind in KINDS.items() if name not in NOT_PORTABLE and name != "code and bound methods"}


def other_pythons():
    """The oldest and the newest of the other versions of CPython that are installed and supported."""
    names = [shutil.which(f"python3.{minor}") for minor in range(9, 20)]
    names += glob.glob(os.path.expanduser("~/.pyenv/versions/3.*/bin/python3"))
    found = {}
    for name in filter(None, names):
        code = "import sys; print(sys.implementation.name, *sys.version_info[:2])"
        run = subprocess.run([name, "-I", "-c", code], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, universal_newlines=True)
        words = run.stdout.split()
        if run.returncode == 0 and words[0] == "cpython" and int(words[2]) >= 10 and f"3.{words[2]}" != HERE:
            found[int(words[2])] = name
    return [found[minor] for minor in sorted({min(found), max(found)})] if found else []


class FromSource(StateCase):
    def moved(self, *cells, **options):
        """A worker that loaded what these cells define, and its report."""
        for cell in cells:
            self.define(textwrap.dedent(cell))
        report, body = self.save(self.worker)
        self.assertEqual(report["skipped"], [])
        worker = self.fresh()
        return worker, self.loaded(worker, body, version=OTHER, **options)

    def test_every_kind_is_restored_except_code_without_a_source(self):
        worker, report = self.moved(*(code for code, _ in KINDS.values()))
        skipped = [entry for entry in report["skipped"] if entry["name"] not in UNKNOWN]
        why = (WHY % ("<module>", "its source is not in the file")).replace("function", "code")
        self.assertEqual(skipped, [{"name": "code", "why": why}])
        worker.run("def raises(f, e):\n    try: f()\n    except e: return True\ncode = compile('2', 'x', 'eval')")
        for name, (_, check) in KINDS.items():
            if any(each in check for each in UNKNOWN):
                continue
            with self.subTest(name):
                self.assertEqual(worker.run(f"bool({check})").get("value"), {"text/plain": "True"})
        worker.run("del code")
        _, body = self.save(worker)
        again = self.fresh()
        self.assertEqual(self.loaded(again, body, version=OTHER)["skipped"], [])
        self.assertEqual(again.value("fact(5), child.hello(), lam(1)"), "(120, 'child base', (1, (), 3, {}))")

    def test_bytecode_of_another_version_is_never_read(self):
        self.define("def f(n): return n + 1\nx = f(1)")
        _, body = self.save(self.worker)
        worker = self.fresh()
        worker.run("import marshal\ndef refuse(*_): raise SystemError('bytecode was read')\nmarshal.loads = refuse")
        self.assertEqual(self.loaded(worker, body, version=OTHER)["names"], ["f", "x"])
        self.assertEqual(worker.value("f(x)"), "3")
        self.assertIn("bytecode was read", self.load(worker, body)["data"]["again"])

    def test_code_that_runs_while_objects_are_built_is_there_already(self):
        worker, report = self.moved(
            """
            def double(n): return 2 * n
            class Doubles:
                def __init__(self): self.n = 1
                def __setstate__(self, state): self.n = self.twice(state['n'])
                def twice(self, n): return double(n)
                def __hash__(self): return double(self.n)
            doubled = Doubles(); keys = {Doubles(): 'a'}; members = frozenset([Doubles()])
            """
        )
        self.assertEqual(report["skipped"], [])
        self.assertEqual(worker.value("doubled.n, len(keys), len(members)"), "(2, 1, 1)")

    def test_cells_with_shell_lines_magics_futures_and_top_level_await(self):
        worker, report = self.moved(
            "!true\ndef a(): return 1\n%time 1\ndef b(): return [a() for _ in range(2)]",
            "  def c(): return 3\n  d = lambda: 4",
            "from __future__ import annotations\ndef e(x: missing): pass\nasync def g(): return 7\ng_ = await g()\nlambda: 5",
            "h = _; del globals()['_exit_code']",
            "%%time\ndef i(): return 9",
        )
        self.assertEqual(report["skipped"], [])
        self.assertEqual(worker.value("a(), b(), c(), d(), e.__annotations__, h(), await g(), i()"), "(1, [1, 1], 3, 4, {'x': 'missing'}, 5, 7, 9)")

    def test_tracebacks_show_the_lines(self):
        worker, _ = self.moved("x = 1\ndef fail():\n    return 1 / 0  # here")
        self.assertIn('File "<loaded cell 1>", line 3, in fail\n    return 1 / 0  # here', worker.run("fail()")["error"]["traceback"])

    def test_functions_without_a_source_are_listed_with_everything_that_contains_them(self):
        worker, report = self.moved(
            "exec('def f(): return 1')\nclass A:\n    method = f\na = A()\nlisted = [f]\ndef fine(): return f()",
            "import linecache\ndef gone(): return 2",
            "linecache.clearcache(); kept = 5",
        )
        why = WHY % ("f", "its source is not in the file")
        self.assertEqual(
            report["skipped"],
            [
                *({"name": name, "why": why} for name in ("f", "A", "a", "listed")),
                *({"name": name, "why": WHY % (name, "its source is not in the file")} for name in ("fine", "gone")),
            ],
        )
        self.assertEqual(worker.value("kept, 'a' in globals()"), "(5, False)")

    def test_a_member_of_a_set_whose_hash_has_no_source_is_listed(self):
        self.define("class A: pass\nexec('def h(self): return 1')\nA.__hash__ = h; del h\nfrozen = frozenset([A()]); members = {A()}; keys = [{A(): 1}]; kept = 5")
        _, body = self.save(self.worker)
        worker = self.fresh()
        self.assertIn("again", self.load(worker, body, version=OTHER)["data"])
        report = self.loaded(worker, body, version=OTHER, tolerant=True)
        self.assertEqual((report["names"], [entry["name"] for entry in report["skipped"]]), (["kept"], ["A", "frozen", "members", "keys"]))

    def test_source_that_is_not_python_here_is_named(self):
        self.define("def f(): return 1\ndef g(): return 2")
        _, body = self.save(self.worker)
        worker = self.fresh()
        report = self.loaded(worker, body.replace(b"return 2", b"return )"), version=OTHER)
        self.assertEqual([entry["name"] for entry in report["skipped"]], ["f", "g"])
        self.assertIn("and its source does not compile here: SyntaxError: unmatched ')'", report["skipped"][0]["why"])

    def test_lambdas_in_one_line_are_told_apart_by_column_or_listed(self):
        cell = "a, b = lambda: 1, lambda: 2\nc, d = lambda x: 3, lambda y: 4\ne = [(lambda: n) for n in (5, 6)]"
        worker, report = self.moved(cell)
        names = [entry["name"] for entry in report["skipped"]]
        if worker.value("hasattr((lambda: 0).__code__, 'co_positions')") == "True" and not names:
            self.assertEqual(worker.value("a(), b()"), "(1, 2)")
        else:
            why = WHY % ("<lambda>", "its source has 2 functions like it in one place")
            self.assertEqual(report["skipped"], [{"name": "a", "why": why}, {"name": "b", "why": why}])
        self.assertEqual(worker.value("c(0), d(0), [f() for f in e]"), "(3, 4, [6, 6])")

    def test_a_file_that_was_executed_again_with_other_code_is_not_taken_for_the_old_source(self):
        for code in ("def old(): return 1\nalias = old", "def old(): return 2\n\nmore = 3"):
            self.assertEqual(self.worker.run(code, name="app.py")["status"], "ok")
        worker, report = self.moved()
        self.assertEqual(report["skipped"], [{"name": "alias", "why": WHY % ("old", "its source is not in the file")}])
        self.assertEqual(worker.value("old()"), "2")

    def test_annotations_with_unknown_names_do_not_matter(self):
        worker, report = self.moved(
            "from __future__ import annotations\nimport dataclasses\n@dataclasses.dataclass\nclass A:\n    x: Unknown\n    y: int = 2\na = A(1)"
        )
        self.assertEqual(report["skipped"], [])
        self.assertEqual(worker.value("a, A(3).y, A.__annotations__['x']"), "(A(x=1, y=2), 2, 'Unknown')")

    def test_data_classes_keep_their_options_and_fields(self):
        worker, report = self.moved(
            """
            import dataclasses, typing
            @dataclasses.dataclass(frozen=True, repr=False)
            class Base:
                shared: typing.ClassVar[list] = [1]
                once: dataclasses.InitVar[int]
                n: int = dataclasses.field(default=1, metadata={'unit': 'm'})
                def __post_init__(self, once): object.__setattr__(self, 'late', once)
                def __repr__(self): return 'mine'
            @dataclasses.dataclass(frozen=True)
            class Sub(Base):
                n: int = 5
                made: list = dataclasses.field(default_factory=list, compare=False)
            base, keyed = Base(7), {Sub(1): 'found'}
            """
        )
        self.assertEqual(report["skipped"], [])
        self.assertEqual(
            worker.value(
                "base, base.late, Sub(2), keyed[Sub(1)], Base.shared, Sub.n, 'made' in vars(Sub), "
                "dataclasses.fields(Base)[0].metadata, list(Sub.__annotations__), Sub(1) == Sub(1, 6)"
            ),
            "(mine, 7, Sub(n=5, made=[]), 'found', [1], 5, False, mappingproxy({'unit': 'm'}), ['n', 'made'], False)",
        )

    def test_random_damage_never_kills_the_worker_or_loads_in_part(self):
        self.define("a = {'k': [1, 2.5, 'text']}\ndef f(x): return x\nclass C:\n    y = 1\n    def m(self): return f\nc = C()")
        _, body = self.save(self.worker)
        worker = self.fresh()
        worker.run("mark = 'before'")
        chance = random.Random(13)
        for _ in range(200):
            damaged = bytearray(body)
            damaged[chance.randrange(len(body))] ^= 1 << chance.randrange(8)
            status = self.load(worker, bytes(damaged), tolerant=chance.random() < 0.5, version=OTHER)
            self.assertIn(status["status"], ("ok", "error"))
            self.assertEqual(worker.value("mark"), "'before'")

    def test_damaged_sources_and_origins_change_nothing(self):
        self.define("def f(x): return x\nb = 1")
        _, body = self.save(self.worker)
        worker = self.fresh()
        worker.run("b = 'before'")
        source = body[body.index(b'["<cell 1>"') :].partition(b"P")[0]
        for forged in (b"[1, 2]", b"[]", b"{", b'"x"', b"[" * 60):
            forged = forged + b" " * (len(source) - len(forged))
            status = self.load(worker, body.replace(source, forged[: len(source)]), version=OTHER)
            self.assertEqual(status["error"]["value"], "a source is not one")
        too_long = body.replace(len(source).to_bytes(8, "little") + source, (1 << 40).to_bytes(8, "little") + source)
        self.assertEqual(self.load(worker, too_long, version=OTHER)["error"]["value"], "it has too many sources")
        self.assertEqual(worker.value("b, 'f' in globals()"), "('before', False)")


class BetweenVersions(StateCase):
    def test_values_functions_and_classes_are_loaded_both_ways(self):
        pythons = other_pythons()
        if not pythons:
            self.skipTest("no other version of Python is installed")
        for python in pythons:
            for source, target in ((None, python), (python, None)):
                with self.subTest(python, saves=source is not None):
                    self.move(*(Worker() if each is None else Worker(python=each) for each in (source, target)))

    def move(self, source, target):
        self.addCleanup(source.close)
        self.addCleanup(target.close)
        for code, _ in KINDS.values():
            source.run(textwrap.dedent(code))
        source.run(HELPERS)
        report, body = self.save(source)
        version = {key: report[key] for key in VERSION}
        status = self.load(target, body, version=version)
        if "again" in status.get("data", {}):
            status = self.load(target, body, version=version, tolerant=True)
        self.assertEqual(status["status"], "ok", status)
        target.run("def raises(f, e):\n    try: f()\n    except e: return True")
        versions = [int(each.partition(".")[2].partition(".")[0]) for each in (version["python"], self.save(target)[0]["python"])]
        for name, (_, check) in MOSTLY_PORTABLE.items():
            if name == "enumerations" and versions[1] < 11 <= versions[0]:
                continue  # made by another metaclass
            with self.subTest(name):
                self.assertEqual(target.run(f"bool({check})").get("value"), {"text/plain": "True"}, status["data"]["skipped"])


if __name__ == "__main__":
    unittest.main()
