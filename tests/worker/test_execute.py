"""Executions: values, errors, state, await, exits."""

import os
import tempfile
import unittest

from harness import WorkerCase


class Values(WorkerCase):
    def test_the_last_expression_is_the_value(self):
        self.assertEqual(self.worker.value("a = 2\na + 1"), "3")

    def test_a_semicolon_at_the_end_hides_the_value(self):
        for code, value in (("1 + 1;", None), ("x = 2\nx ; \n", None), ("x # not this;", {"text/plain": "2"})):
            self.assertEqual(self.worker.run(code).get("value"), value, code)

    def test_only_an_expression_has_a_value(self):
        self.worker.run("a = [1, 2]")
        for code, value in (
            ("a", "[1, 2]"),
            ("*a, 3", "(1, 2, 3)"),
            ("a == [1]", "False"),
            ("(b := 4)", "4"),
            ("await __import__('asyncio').sleep(0, 5)", "5"),
            ("a[0] = 6", None),
            ("b += 1", None),
            ("b: int = 7", None),
            ("if a: a", None),
            ("print(*a)", None),
        ):
            self.assertEqual(self.worker.run(code).get("value", {}).get("text/plain"), value, code)

    def test_the_last_value_is_called_underscore(self):
        self.assertEqual(self.worker.value("[1, 2]"), "[1, 2]")
        self.worker.run("x = 1")
        self.assertEqual(self.worker.value("_ + [3]"), "[1, 2, 3]")
        self.assertEqual(self.worker.value("len(_)"), "3")
        self.assertEqual(self.worker.value("for _ in range(5): pass\n_"), "4")
        self.assertEqual(self.worker.value("del _\n_"), "4")

    def test_none_has_no_value(self):
        self.assertNotIn("value", self.worker.run("None"))
        self.assertNotIn("value", self.worker.run("x = 1"))

    def test_empty_code_is_ok(self):
        for code in ("", "  \n\n", "# only a comment", "\t"):
            self.assertEqual(self.worker.run(code)["status"], "ok", code)

    def test_a_long_value_is_truncated_in_the_middle(self):
        status = self.worker.run("'x' * (50 << 20)")
        text = status["value"]["text/plain"]
        self.assertEqual(status["valueTotal"], (50 << 20) + 2)
        self.assertLessEqual(len(text), 16_000)
        self.assertIn("characters omitted …", text)
        self.assertEqual((text[0], text[-1]), ("'", "'"))

    def test_a_value_of_wide_characters_is_sent_as_a_payload(self):
        self.assertEqual(len(self.worker.value("'😀' * 15000")), 15002)

    def test_a_repr_that_raises_is_an_error_and_state_is_kept(self):
        for error in ("ValueError('no')", "BaseException()", "SystemExit(7)"):
            status = self.worker.run(f"kept = 1\nclass R:\n  def __repr__(self): raise {error}\nR()")
            self.assertIn(status["status"], ("error", "exit"))
        self.assertEqual(self.worker.value("kept"), "1")

    def test_a_repr_of_a_str_subclass_is_copied(self):
        code = (
            "class S(str):\n  def __len__(self): return 1\n  def __getitem__(self, i): return self\n"
            "  def __str__(self): return self\nclass R:\n  def __repr__(self): return S('x' * 5000000)\nR()"
        )
        status = self.worker.run(code)
        self.assertEqual(status["valueTotal"], 5_000_000)

    def test_surrogates_and_nul_survive_in_values_and_output(self):
        status, out, _ = self.worker.printed('print("\\x00\\ud800\\x7f"); "a\\x00\\udcff"')
        self.assertEqual(status["value"]["text/plain"], "'a\\x00\\udcff'")
        self.assertEqual(out, "\x00\\ud800\x7f\n")

    def test_long_cells_are_split_like_short_ones(self):
        filler = "".join(f"v{i} = {i}  # some words to make it long enough\n" for i in range(12))
        for tail, value in (
            ("v3 + 1", "4"), ("(v3)\n", "3"), ("'a'", "'a'"), ("v1; v2", "2"), ("x = [\n1,\n2]", None),
            ("y = '''\nv3'''", None), ("z = 1 + \\\nv3", None), ("if v3:\n  v4", None), ("(v1,\nv2)", "(1, 2)"),
            ("def f(): return 5\nf()", "5"), ("f'''\nv3'''", "'\\nv3'"), ("v3 # c", "3"), ("w = v3 \\\n-1", None),
            ("for i in ():\n  pass\nelse:\n  1\nv5", "5"), ("@property\ndef f(): 1\nv6  ", "6"),
        ):
            self.assertEqual(self.worker.value(filler + tail), value, tail)

    def test_a_traceback_of_a_long_cell_has_the_right_line(self):
        status = self.worker.run("\n" * 300 + "a = 1\n1/0")
        self.assertIn("line 302", status["error"]["traceback"])


class Errors(WorkerCase):
    def test_state_before_an_error_is_kept(self):
        status = self.worker.run("before = 1\n1/0\nafter = 1")
        self.assertEqual((status["status"], status["error"]["name"], status["error"]["value"]),
                         ("error", "ZeroDivisionError", "division by zero"))
        self.assertEqual(self.worker.value("before, 'after' in globals()"), "(1, False)")

    def test_tracebacks_show_source_and_no_frame_of_the_worker(self):
        self.worker.run("def inner():\n    raise KeyError('k')")
        status = self.worker.run("try:\n    inner()\nexcept KeyError as e:\n    raise ValueError('v') from e")
        text = status["error"]["traceback"]
        self.assertIn("raise KeyError('k')", text)
        self.assertIn("direct cause", text)
        self.assertIn("raise ValueError('v') from e", text)
        self.assertNotIn("worker", text)
        self.assertEqual(self.worker.run("import json; json.loads('{')")["error"]["traceback"].count("json/decoder.py"), 2)

    def test_a_cached_cell_names_its_own_number(self):
        for _ in range(3):
            status = self.worker.run("undefined_name")
            self.assertIn(f'File "<cell {self.worker.number}>", line 1', status["error"]["traceback"])
            self.assertIn("    undefined_name\n", status["error"]["traceback"])

    def test_exception_groups_are_shown(self):
        if self.worker.value("import sys; sys.version_info >= (3, 11)") == "True":
            text = self.worker.run("raise ExceptionGroup('many', [ValueError(1), TypeError(2)])")["error"]["traceback"]
            self.assertIn("+---------------- 1 ----------------", text)
            self.assertNotIn("worker", text)

    def test_odd_exceptions_are_reported(self):
        code = "class E(BaseException):\n  def __str__(self): raise RuntimeError('no')\n  __repr__ = __str__\nraise E()"
        self.assertEqual(self.worker.run(code)["error"]["name"], "E")
        for name in ("GeneratorExit", "KeyboardInterrupt", "MemoryError", "StopIteration"):
            status = self.worker.run(f"raise {name}")
            self.assertEqual((status["status"], status["error"]["name"]), ("error", name))
        self.assertEqual(self.worker.run("import asyncio; raise asyncio.CancelledError")["status"], "error")
        self.assertEqual(self.worker.run("await asyncio.sleep(0); raise asyncio.CancelledError")["status"], "error")

    def test_a_huge_exception_is_truncated(self):
        error = self.worker.run("raise ValueError('x' * (20 << 20))")["error"]
        self.assertLessEqual(len(error["value"]), 16_000)
        self.assertLessEqual(len(error["traceback"]), 60_000)

    def test_an_error_keeps_no_objects_alive(self):
        self.worker.run("import gc, weakref\ngc.disable()\nclass Big: pass\ndef f():\n  global ref\n  b = Big(); ref = weakref.ref(b)\n  try: 1/0\n  except ZeroDivisionError: {}['x']\nf()")
        self.assertEqual(self.worker.value("ref() is None"), "True")

    def test_endless_recursion_is_an_error(self):
        self.assertEqual(self.worker.run("def r(): r()\nr()")["error"]["name"], "RecursionError")

    def test_a_syntax_error_in_a_line_is_reported_once(self):
        for code in ("a b", "a b * c", "print(**", "f(*a) = 2"):
            error = self.worker.run(code)["error"]
            self.assertEqual(error["traceback"].count("SyntaxError"), 1, error["traceback"])

    def test_syntax_errors_have_a_caret(self):
        error = self.worker.run("a = = 1")["error"]
        self.assertEqual(error["name"], "SyntaxError")
        self.assertTrue(error["traceback"].startswith('  File "<cell'), error["traceback"])
        self.assertIn("^", error["traceback"])
        self.assertNotIn("worker", error["traceback"])

    def test_incomplete_code_is_marked(self):
        for code in ("def f():", "(1 +", "'''abc", "x = 1 + \\", "for i in range(3):\n", "class A:\n    def f(self):", "if 1:\n  x = [1,",
                     "try:\n  pass\n", "async def f():", "with open('x') as f:", "@dec", "await (", "f(1,\n2,"):
            status = self.worker.run(code)
            self.assertEqual((status["status"], status.get("incomplete")), ("error", True), code)

    def test_wrong_code_is_not_incomplete(self):
        for code in ("a = = 1", "1 +* 2", ")", "def f(:\n", "'abc", "exec('def f():')", "import ast; ast.parse('(')"):
            status = self.worker.run(code)
            self.assertEqual((status["status"], status.get("incomplete")), ("error", None), code)

    def test_source_that_cannot_be_compiled_is_an_error(self):
        for code in ('x = "\x00"', "x = '\ud800'", "(" * 5000 + ")" * 5000, "-" * 100_000 + "1", "x = " + "9" * 5000):
            self.assertIn(self.worker.run(code)["status"], ("error", "ok"), code[:20])
        self.assertEqual(self.worker.run("x = '\ud800'")["error"]["name"], "UnicodeEncodeError")
        self.assertEqual(self.worker.run("", payload=b"x = '\xff'")["error"]["name"], "UnicodeDecodeError")
        self.assertEqual(self.worker.value("1"), "1")

    def test_long_code_comes_as_a_payload(self):
        code = b"big = '''" + b"y" * 20_000_000 + b"'''\nlen(big)"
        self.assertEqual(self.worker.value("", payload=code), "20000000")
        self.assertEqual(self.worker.value("", payload="'é'".encode()), "'é'")


class Exits(WorkerCase):
    def test_exits_keep_the_session(self):
        self.worker.run("import sys; kept = 5")
        for code, number in (("sys.exit(3)", 3), ("exit()", 0), ("quit(4)", 4), ("sys.exit(None)", 0), ("sys.exit(-1)", 255),
                             ("raise SystemExit(True)", 1), ("sys.exit(256)", 0)):
            status = self.worker.run(code)
            self.assertEqual((status["status"], status["exitCode"]), ("exit", number), code)
            self.assertNotIn("error", status)
        self.assertEqual(self.worker.value("kept"), "5")

    def test_a_message_goes_to_stderr(self):
        status, _, err = self.worker.printed("import sys; sys.exit('bye')")
        self.assertEqual((status["exitCode"], err), (1, "bye\n"))
        self.assertTrue(status["pending"])

    def test_os_exit_ends_the_worker(self):
        worker = self.fresh()
        worker.send("import os; os._exit(3)")
        self.assertEqual(worker.process.wait(10), 3)

    def test_the_worker_exits_when_the_command_pipe_ends(self):
        worker = self.fresh()
        worker.run("import threading, time; threading.Thread(target=time.sleep, args=(60,)).start()")
        self.assertEqual(worker.close(), 0)


class Await(WorkerCase):
    def test_top_level_await(self):
        self.worker.run("import asyncio\nasync def f(v):\n  await asyncio.sleep(0.001)\n  return v")
        self.assertEqual(self.worker.value("await f(3)"), "3")
        self.assertEqual(self.worker.value("x = await f(4)\nx + 1"), "5")
        self.assertEqual(self.worker.value("t = asyncio.create_task(f(6))\nawait t"), "6")
        self.assertNotIn("value", self.worker.run("y = await f(1)"))
        self.assertEqual(self.worker.value("[await f(i) for i in range(2)]"), "[0, 1]")

    def test_tasks_survive_from_cell_to_cell(self):
        self.worker.run("import asyncio\nq = asyncio.Queue()\nt = asyncio.ensure_future(q.get())\nawait asyncio.sleep(0)")
        self.assertEqual(self.worker.value("await q.put(9)\nawait t"), "9")

    def test_asyncio_run_still_works(self):
        self.worker.run("import asyncio\nasync def g(): return 1")
        self.assertEqual(self.worker.value("asyncio.run(g())"), "1")
        self.assertEqual(self.worker.value("await g()"), "1")

    def test_errors_in_awaited_code_have_user_frames_only(self):
        text = self.worker.run("async def bad(): 1/0\nawait bad()")["error"]["traceback"]
        self.assertIn("in bad", text)
        self.assertNotIn("worker", text)
        self.assertNotIn("asyncio", text)

    def test_errors_in_awaited_code_of_a_named_cell_have_user_frames_only(self):
        error = self.worker.run("async def bad():\n  1/0\n\nawait bad()", name="<block 3>")["error"]
        lines = [line.strip() for line in error["traceback"].splitlines() if not line.strip().strip("~^")  == ""]
        self.assertEqual(lines, [
            "Traceback (most recent call last):", 'File "<block 3>", line 4, in <module>', "await bad()",
            'File "<block 3>", line 2, in bad', "1/0", "ZeroDivisionError: division by zero",
        ])
        self.assertIsNone(self.worker.run("__file__", name="<block 4>").get("value"))


class Session(WorkerCase):
    def test_future_imports_persist(self):
        self.worker.run("from __future__ import annotations")
        self.assertEqual(self.worker.value("def f(a: undefined): pass\nf.__annotations__"), "{'a': 'undefined'}")
        self.worker.command("reset")
        self.assertEqual(self.worker.run("def f(a: undefined): pass\nf.__annotations__")["status"], "error")

    def test_reset_clears_the_namespace_and_keeps_the_module(self):
        self.worker.run("import sys; mark = 1; me = sys.modules['__main__']; sys.keep = me")
        self.assertEqual(self.worker.command("reset")["status"], "ok")
        self.assertEqual(self.worker.value("import sys; sorted(n for n in globals() if n[:2] != '__'), sys.keep is sys.modules['__main__']"),
                         "(['sys'], True)")

    def test_functions_of_the_session_can_be_pickled(self):
        self.assertEqual(self.worker.value("import pickle\ndef f(): return 8\npickle.loads(pickle.dumps(f))()"), "8")

    def test_the_environment_of_an_execution_is_restored(self):
        self.worker.command("configure", env={"A": "1"})
        self.assertEqual(self.worker.value("import os; os.environ['C'] = '3'; os.environ['A'] = 'x'; os.environ['B']",
                                           env={"A": "2", "B": "b"}), "'b'")
        self.assertEqual(self.worker.value("[os.environ.get(k) for k in 'ABC']"), "['1', None, '3']")
        self.assertEqual(self.worker.run("1", env={"A=": "2"})["status"], "error")
        self.assertEqual(self.worker.value("1", env={"G": "\u00e9"}), "1")

    def test_configure_changes_the_directory_or_reports_why_not(self):
        worker = self.fresh(cwd="/usr")
        self.assertEqual(worker.command("configure", cwd="lib")["status"], "ok")
        self.assertEqual(worker.command("configure", cwd="bin")["status"], "ok")
        self.assertEqual(worker.value("import os; os.getcwd()"), "'/usr/bin'")
        self.assertEqual(worker.command("configure", cwd="no-such")["error"]["name"], "FileNotFoundError")

    def test_configure_makes_links_whose_names_are_free(self):
        with tempfile.TemporaryDirectory() as folder:
            worker = self.fresh(cwd=folder)
            for _ in range(2):
                self.assertEqual(worker.command("configure", links={"libraries": "/usr/lib"}, cwd="libraries")["status"], "ok")
            self.assertEqual(worker.value("import os; os.path.samefile('.', '/usr/lib')"), "True")
            self.assertEqual(os.readlink(os.path.join(folder, "libraries")), "/usr/lib")

    def test_usage_is_reported(self):
        status = self.worker.run("sum(range(3_000_000)); big = bytearray(b'1') * (30 << 20)")
        self.assertGreater(status["cpuMs"], 5)
        self.assertGreater(status["peakBytes"], 30 << 20)

    def test_tracing_does_not_outlive_the_execution(self):
        self.worker.run("import sys; sys.settrace(lambda *a: 1/0); sys.setprofile(lambda *a: None)")
        self.assertEqual(self.worker.value("sys.gettrace(), sys.getprofile()"), "(None, None)")


if __name__ == "__main__":
    unittest.main()
