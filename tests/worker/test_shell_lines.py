"""Lines that start with !, and indented cells: only in source that does not compile."""

import os
import unittest

from harness import WorkerCase


class Commands(WorkerCase):
    def out(self, code):
        status, out, err = self.worker.printed(code)
        self.assertEqual((status["status"], err), ("ok", ""), status)
        return out

    def test_output_of_a_command_keeps_its_order(self):
        self.assertEqual(self.out("print('a')\n!echo b\nprint('c')"), "a\nb\nc\n")
        _, out, err = self.worker.printed("!echo out; echo err >&2; exit 3\nprint(_exit_code)")
        self.assertEqual((out, err), ("out\n3\n", "err\n"))
        self.assertNotIn("value", self.worker.run("!true"))

    @unittest.skipUnless(os.path.exists("/bin/bash"), "bash is not installed")
    def test_commands_run_in_bash(self):
        self.assertEqual(self.out("!echo ${BASH_VERSION:+bash}; [[ ab == a* ]] && echo matched"), "bash\nmatched\n")

    def test_the_lines_of_a_command_are_a_value(self):
        self.assertEqual(self.worker.value("x = !printf 'a\\nb c\\n'\nx, x.n, x.s, x.l"), "(['a', 'b c'], 'a\\nb c', 'a b c', ['a', 'b c'])")
        self.assertEqual(self.worker.value("!!echo 1"), "['1']")
        self.assertEqual(self.worker.value("d = {}\nd['k'] = !echo 2\nd"), "{'k': ['2']}")
        self.assertEqual(self.worker.value("a, b = !echo 3; echo 4\na + b"), "'34'")

    def test_python_names_and_expressions_are_inserted(self):
        self.worker.run("name = 'py'\nclass a: b = 'ab'")
        for line, expected in (("{name} $name ${HOME:+home}", "py py home"), ("{name.upper() + 'x'} {1 + 1:03d} {name!r}", "PYx 002 py"),
                               ("{{name}} {nothing} {}", "{name} {nothing} {}"), ("'$name' \"$name\"", "$name py"),
                               ("$HOME_OF_NOBODY$$name.", "."), ("{ {1: 'brace}'}[1] }", "brace}"), ("{a.b} $1", "ab")):
            self.assertEqual(self.out(f"!echo {line}"), expected + "\n", line)

    def test_local_names_are_inserted_too(self):
        self.assertEqual(self.out("def f(x):\n    for i in range(2):\n        !echo {x} $i\nf('v')"), "v 0\nv 1\n")

    def test_a_backslash_continues_a_command_and_line_numbers_stay(self):
        status, out, _ = self.worker.printed("!echo a \\\n   b\n\nif True:\n  !echo c\n1/0")
        self.assertEqual(out, "a b\nc\n")
        self.assertIn('File "<cell 1>", line 6, in <module>\n    1/0', status["error"]["traceback"])

    def test_source_that_compiles_is_never_changed(self):
        self.assertEqual(self.worker.value("x = 7\ny = 4\nx \\\n  %y"), "3")
        self.assertEqual(self.worker.value("s = '''\n!ls\n%cd\n'''\ns"), "'\\n!ls\\n%cd\\n'")
        self.assertEqual(self.worker.value("(1 !=\n  2)"), "True")

    def test_strings_and_brackets_next_to_a_command_are_not_changed(self):
        self.assertEqual(self.worker.value("s = '''it's\n!echo no\n'''  # '''\nt = [7\n %4]\n!true\ns, t"), '("it\'s\\n!echo no\\n", [3])')

    def test_an_interrupt_ends_a_command(self):
        execution = self.worker.send("!echo here; sleep 60 | cat")
        self.worker.out.until(b"here")
        self.worker.interrupt()
        status = self.worker.status(execution)
        self.assertEqual((status["status"], status.get("survivors")), ("interrupted", None))
        self.assertIn("    !echo here; sleep 60 | cat\n", status["error"]["traceback"])

    def test_an_unfinished_cell_with_commands_is_incomplete(self):
        self.assertTrue(self.worker.run("for i in range(3):\n    !ls\n    print(")["incomplete"])
        self.assertNotIn("incomplete", self.worker.run("!ls\n1 +* 2"))

    def test_matplotlib_inline_is_ignored(self):
        self.assertEqual(self.worker.value("%matplotlib inline\n1"), "1")


class Indentation(WorkerCase):
    def test_a_cell_may_be_indented_as_a_whole(self):
        self.assertEqual(self.worker.value("    x = 1\n    if x:\n        x = 2\n\n    x"), "2")
        self.assertEqual(self.worker.value("  # first\n\n\tx = 3\n\tx"), "3")
        self.assertEqual(self.out("  !echo {x}\n  y = 1"), "3\n")

    def out(self, code):
        return self.worker.printed(code)[1]

    def test_lines_inside_strings_are_not_dedented(self):
        self.assertEqual(self.worker.value("  s = '''a\n    b\nc'''\n  s"), "'a\\n    b\\nc'")

    def test_errors_have_the_right_line_number(self):
        status = self.worker.run("  def f():\n    return 1/0\n  f()")
        self.assertIn('line 2, in f\n    return 1/0\n           ~^~' if "~^~" in status["error"]["traceback"] else "line 2, in f\n    return 1/0",
                      status["error"]["traceback"])

    def test_a_cell_that_is_not_indented_as_a_whole_is_an_error(self):
        for code in ("  x = 1\ny = 2", "x = 1\n  y = 2"):
            self.assertEqual(self.worker.run(code)["error"]["name"], "IndentationError", code)

    def test_an_unfinished_indented_cell_is_incomplete(self):
        self.assertTrue(self.worker.run("  for i in range(3):")["incomplete"])


if __name__ == "__main__":
    unittest.main()
