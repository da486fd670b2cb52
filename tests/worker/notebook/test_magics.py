"""%time and %timeit, in a line and for a cell."""

import os
import re
import sys
import unittest

from harness import ROOT, WorkerCase

sys.path.insert(0, os.path.join(ROOT, "python"))
from worker.notebook.timing import describe_runs, format_seconds  # noqa: E402

NUMBER = r"[\d.]+ (?:s|ms|µs|ns)"
TIMES = rf"CPU times: user {NUMBER}, sys: {NUMBER}, total: {NUMBER}\nWall time: {NUMBER}\n"
LOOPS = rf"{NUMBER} ± {NUMBER} per loop \(mean ± std\. dev\. of %s, %s each\)\n"


class Magics(WorkerCase):
    def run_ok(self, code):
        status, out, err = self.worker.printed(code)
        self.assertEqual((status["status"], err), ("ok", ""), status)
        return status.get("value", {}).get("text/plain"), out

    def error(self, code):
        status, out, _ = self.worker.printed(code)
        self.assertEqual((status["error"]["name"], out), ("SyntaxError", ""), status)
        self.assertNotIn("incomplete", status)
        return status["error"]


class Time(Magics):
    def test_an_expression_keeps_its_value(self):
        for code in ("%time 6 * 7", "%time (6) * (7)  # why", "%time 6 * \\\n 7", "%time sum([\n  21,\n  21])", "x = 6\n%time x * 7"):
            value, out = self.run_ok(code)
            self.assertEqual(value, "42", code)
            self.assertRegex(out, rf"\A{TIMES}\Z")

    def test_a_semicolon_hides_the_value(self):
        value, out = self.run_ok("%time 6 * 7;")
        self.assertIsNone(value)
        self.assertRegex(out, rf"\A{TIMES}\Z")

    def test_statements_set_names_of_the_session(self):
        for code in ("%time x = 5", "%time x = 4; x += 1", "%time for x in range(6): pass", "%time import math as x; x = 5"):
            self.assertRegex(self.run_ok("x = None\n" + code)[1], rf"\A{TIMES}\Z")
            self.assertEqual(self.worker.value("x"), "5", code)

    def test_await_and_local_names_work(self):
        self.assertEqual(self.run_ok("import asyncio\n%time await asyncio.sleep(0, 7)")[0], "7")
        self.assertRegex(self.run_ok("def f(a):\n    %time print(a)\nf('local')")[1], rf"\Alocal\n{TIMES}\Z")

    def test_a_cell_keeps_its_value_and_line_numbers(self):
        value, out = self.run_ok("# first\n%%time\nfrom __future__ import annotations\nx = 6\nprint('in')\nx * 7")
        self.assertEqual(value, "42")
        self.assertRegex(out, rf"\Ain\n{TIMES}\Z")
        status, out, _ = self.worker.printed("%%time\n\n1/0")
        self.assertIn(f'File "<cell {self.worker.number}>", line 3, in <module>\n    1/0\n', status["error"]["traceback"])
        self.assertRegex(self.run_ok("%%time\nx = 1")[1], rf"\A{TIMES}\Z")

    def test_what_was_waited_for_is_wall_time_and_not_processor_time(self):
        _, out = self.run_ok("import time\n%time time.sleep(0.2)")
        self.assertRegex(out, r"Wall time: (?:[2-9]\d\d ms|[\d.]+ s)")


class Timeit(Magics):
    def test_loops_and_runs_can_be_chosen(self):
        self.worker.run("calls = []")
        for options, loops, runs in (("-n 3 -r 2", 3, 2), ("-n5 -r1", 5, 1), ("-r 2 -n 1", 1, 2)):
            self.worker.run("calls.clear()")
            value, out = self.run_ok(f"%timeit {options} calls.append(1)")
            self.assertIsNone(value)
            self.assertRegex(out, LOOPS % (f"{runs} runs?", f"{loops} loops?"))
            self.assertEqual(self.worker.value("len(calls)"), str(loops * runs))

    def test_by_default_it_finds_the_number_of_loops(self):
        _, out = self.run_ok("import time\n%timeit time.sleep(0.25)")
        self.assertRegex(out, LOOPS % ("7 runs", "1 loop"))

    def test_a_cell_has_a_setup_that_is_not_measured(self):
        self.worker.run("calls = []")
        _, out = self.run_ok("%%timeit -n 4 -r 1 calls.append('setup'); data = [3, 1]\n\nx = sorted(data)\ncalls.append(x[0])\n!true")
        self.assertRegex(out, LOOPS % ("1 run", "4 loops"))
        self.assertEqual(self.worker.value("calls, 'data' in globals()"), "(['setup', 1, 1, 1, 1], False)")

    def test_names_of_the_session_that_are_used_inside_are_not_hidden(self):
        self.worker.run("timer = iterations = start = i = _it = 7")
        self.run_ok("%timeit -n 1 -r 1 assert timer + iterations + start + i + _it == 35")

    def test_quiet_and_several_lines_in_brackets(self):
        self.assertEqual(self.run_ok("%timeit -q -n 1 -r 1 sum([\n1,\n2])")[1], "")

    def test_an_error_is_shown_where_it_is(self):
        status, _, _ = self.worker.printed("%timeit -n 1 1/0")
        cell = f'File "<cell {self.worker.number}>"'
        shown = f"  {cell}, line 1, in <module>\n    %timeit -n 1 1/0\n  {cell}, line 1, in timeit\n    %timeit -n 1 1/0\nZeroDivisionError"
        self.assertIn(shown, status["error"]["traceback"])
        status, _, _ = self.worker.printed("%%timeit -n 1\nx = 1\nnobody")
        self.assertIn(f'File "<cell {self.worker.number}>", line 3, in timeit\n    nobody\n', status["error"]["traceback"])

    def test_garbage_collection_is_on_again_afterwards(self):
        self.worker.run("import gc")
        self.worker.run("%timeit -n 1 -r 1 1/0")
        self.assertEqual(self.worker.value("gc.isenabled()"), "True")

    def test_it_can_be_interrupted(self):
        execution = self.worker.send("print('here', flush=True)\n%timeit sum(range(100_000_000))")
        self.worker.out.until(b"here")
        self.worker.interrupt()
        self.assertEqual(self.worker.status(execution)["status"], "interrupted")
        self.assertEqual(self.worker.value("1"), "1")


class Refusals(Magics):
    def test_mistakes_are_named_and_nothing_runs(self):
        for code, line, message in (
            ("x = 1\n%time", 2, "%time needs code in the same line"),
            ("x = 1\n%timeit -n 5", 2, "%timeit needs code in the same line"),
            ("%%time x\nx = 1", 1, "code in the same line needs %time"),
            ("x = 1\n%%time\ny = 1", 2, "%%time must be the first line"),
            ("%%time\n\n", 1, "there are none"),
            ("%%timeit\n", 1, "there are none"),
            ("x = 1\n%timeit -o x", 2, "%timeit has no option -o here: it has -n LOOPS, -r RUNS and -q"),
            ("x = 1\n%timeit -n many x", 2, "-n needs a whole number"),
            ("x = 1\n%timeit -r 0 x", 2, "-r 0 is out of range"),
            ("x = 1\n%time 1 +* 2", 2, "invalid syntax"),
            ("x = 1\n%timeit return 1", 2, "'return' outside function"),
            ("%%timeit\nx = 1\nreturn 1", 3, "'return' outside function"),
            ("x = 1\n%pip install y", 2, "there is no magic %pip here, only %time, %timeit, %%time and %%timeit"),
            ("if True:\n  x = 1\n  %cd /", 3, "lines that start with ! run a command"),
        ):
            error = self.error(code)
            self.assertIn(message, error["value"], code)
            self.assertIn(f'File "<cell {self.worker.number}>", line {line}\n', error["traceback"], code)
        self.assertEqual(self.worker.run("x")["error"]["name"], "NameError")

    def test_strings_and_operators_are_no_magics(self):
        self.assertEqual(self.worker.value("time = 4\nx = 7\nx \\\n  %time"), "3")
        self.assertEqual(self.worker.value("'''\n%time 1\n'''"), repr("\n%time 1\n"))


class Texts(unittest.TestCase):
    def test_times_have_three_digits_and_a_unit(self):
        for seconds, text in ((0, "0 ns"), (1.5e-9, "1.5 ns"), (1.2345e-5, "12.3 µs"), (0.0123, "12.3 ms"), (9.9996e-4, "1000 µs"), (1.5, "1.5 s"), (125.7, "2min 5s"), (90061, "1d 1h 1min 1s")):
            self.assertEqual(format_seconds(seconds), text)

    def test_runs_that_differ_much_are_suspicious(self):
        self.assertEqual(describe_runs([1.0, 1.0], 1), "1 s ± 0 ns per loop (mean ± std. dev. of 2 runs, 1 loop each)")
        self.assertTrue(re.match(r"The slowest run took 5\.00 times longer than the fastest\.", describe_runs([1.0, 5.0], 1)))


if __name__ == "__main__":
    unittest.main()
