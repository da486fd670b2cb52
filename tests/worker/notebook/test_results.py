"""In, Out, _, __ and ___ of a console."""

import os
import sys
import unittest

from harness import ROOT, WorkerCase

sys.path.insert(0, os.path.join(ROOT, "python"))
from worker.notebook.results import MAX_INPUTS, MAX_OUTPUT_BYTES, MAX_OUTPUTS, Results, estimated_size  # noqa: E402


class InAndOut(WorkerCase):
    def value(self, code):
        return self.worker.value(code, console=80)

    def test_values_and_code_are_kept_by_the_number_of_the_execution(self):
        self.value("6 * 7")
        self.value("x = 1")
        self.value("'two'")
        self.assertEqual(self.value("Out[1] + 1, In[2], _, __"), "(43, 'x = 1', 'two', 42)")
        self.assertEqual(self.value("Out[1], __, ___"), "(42, 'two', 42)")
        self.assertEqual(self.value("2 in Out"), "False")

    def test_a_number_without_a_value_is_explained(self):
        error = self.worker.run("Out[7]", console=80)["error"]
        self.assertEqual(error["name"], "KeyError")
        self.assertIn("Out[7] is not there: it had no value, or is no longer kept. Out keeps the last 100 values, at most 64 MiB", error["value"])

    def test_incomplete_code_is_not_an_input(self):
        self.assertTrue(self.worker.run("(", console=80)["incomplete"])
        self.assertEqual(self.value("In"), "{2: 'In'}")

    def test_they_are_no_variables_and_other_code_has_none(self):
        self.worker.run("5")
        self.assertEqual(self.worker.run("Out")["error"]["name"], "NameError")
        self.value("6")
        self.assertEqual(self.value("[name for name in globals() if not name.startswith('__')]"), "[]")
        self.assertEqual(self.value("Out = 3\nOut"), "3")
        self.assertEqual(self.value("del Out\nOut[3]"), "6")

    def test_reset_empties_them(self):
        self.value("6")
        self.worker.command("reset")
        self.assertEqual(self.value("Out, list(In.values())"), "({}, ['Out, list(In.values())'])")

    def test_a_replaced_or_damaged_dict_does_no_harm(self):
        self.value("6")
        self.value("Out.clear(); In.clear(); import builtins; builtins.Out = 1")
        self.assertEqual(self.value("7"), "7")
        self.assertEqual(self.value("Out[3]"), "7")

    def test_a_copy_of_the_session_has_its_own(self):
        self.value("6")
        self.assertEqual(self.value("import os\npid = os.fork()\nif pid == 0:\n    os._exit(0 if Out[1] == 6 else 1)\nos.waitpid(pid, 0)[1]"), "0")


class Limits(unittest.TestCase):
    def setUp(self):
        self.results = Results()
        self.addCleanup(self.results.clear)

    def kept(self):
        import builtins

        return builtins.Out

    def test_the_oldest_values_go_first(self):
        for number in range(MAX_OUTPUTS + 5):
            self.results.add_output(number, number)
        self.assertEqual(list(self.kept()), list(range(5, MAX_OUTPUTS + 5)))

    def test_large_values_replace_older_ones_and_a_too_large_one_is_not_kept(self):
        self.results.add_output(0, 0)
        for number in (1, 2, 3):
            self.results.add_output(number, bytes(MAX_OUTPUT_BYTES // 2 - 1000))
        self.assertEqual(list(self.kept()), [2, 3])
        self.results.add_output(4, bytes(MAX_OUTPUT_BYTES + 1))
        self.assertEqual(list(self.kept()), [2, 3])

    def test_inputs_are_limited(self):
        import builtins

        for number in range(MAX_INPUTS + 2):
            self.results.add_input(number, "x")
        self.assertEqual((len(builtins.In), min(builtins.In)), (MAX_INPUTS, 2))

    def test_the_size_of_nested_values_is_estimated(self):
        block = 1_000_000
        self.assertGreater(estimated_size([bytes(block) for _ in range(10)]), 10 * block)
        self.assertGreater(estimated_size({"a": {"b": [bytes(block)]}}), block)
        holder = type("Holder", (), {})()
        holder.content = bytes(block)
        self.assertGreater(estimated_size(holder), block)
        self.assertEqual(estimated_size(sys), 0)

    def test_a_size_that_lies_or_fails_counts_as_none(self):
        def fail(_self):
            raise ValueError

        for attributes in ({"__sizeof__": fail}, {"nbytes": -5}, {"nbytes": property(fail)}):
            self.assertEqual(estimated_size(type("Odd", (), {"__slots__": (), **attributes})()), 0)


if __name__ == "__main__":
    unittest.main()
