"""Parts of tables, asked as the host does."""

import importlib.util
import unittest

from harness import WorkerCase

HAS_NUMPY = importlib.util.find_spec("numpy") is not None
HAS_PANDAS = importlib.util.find_spec("pandas") is not None

POLARS = '''
import sys, types
module = types.ModuleType("polars")
class Series:
    def __init__(self, values): self.values = values
    def slice(self, start, count): return Series(self.values[start:start + count])
    def to_list(self): return list(self.values)
    def to_frame(self): return DataFrame({"s": self.values}, ["str"])
    def __getitem__(self, at): return self.values[at]
class DataFrame:
    def __init__(self, data, dtypes): self.data, self.dtypes = data, dtypes
    columns = property(lambda self: list(self.data))
    height = property(lambda self: len(next(iter(self.data.values()))))
    def get_column(self, name): return Series(self.data[name])
Series.__module__ = DataFrame.__module__ = "polars.dataframe.frame"
frame = DataFrame({"n": [3, None, 1], "t": ["c", "b", "a"]}, ["i64", "str"])
series = Series(["x", "y"])
'''


class Rows(WorkerCase):
    def ask(self, name, **fields):
        self.worker.number += 1
        question = f"ask/{self.worker.number}"
        part = {"start": 0, "count": 10, "columnStart": 0, "columnCount": 10, "sortBy": None, "descending": False}
        self.worker.send_aside(cmd="rows", id=question, name=name, timeoutMs=fields.pop("timeoutMs", 5000), **{**part, **fields})
        return self.worker.status(question)["data"]

    def table(self, name, **fields):
        """The columns, the index and the rows of a complete answer."""
        found = self.ask(name, **fields)
        self.assertIsNone(found["incomplete"])
        self.assertNotIn("error", found)
        return [column["name"] for column in found["columns"]], found["index"], found["rows"]

    def test_a_list_has_one_column_and_positions_as_index(self):
        self.worker.run("x = ['a', 2, None, [1, {'k': 'v'}]]")
        found = self.ask("x", start=1, count=2)
        self.assertEqual(found, {
            "found": True, "start": 1, "columnStart": 0, "total": 4, "totalColumns": 1,
            "columns": [{"name": "value", "dtype": "object"}],
            "index": ["1", "2"], "rows": [["2"], ["None"]], "incomplete": None,
        })
        self.assertEqual(self.ask("x", start=3)["rows"], [["[1, {'k': 'v'}]"]])

    def test_dicts_sets_tuples_and_ranges_have_rows_too(self):
        self.worker.run("from collections import OrderedDict, deque\nd = OrderedDict(b=1, a='two')\nt = (1,)\nr = range(10**12)\ns = {5}\nq = deque('ab')")
        self.assertEqual(self.table("d"), (["value"], ["'b'", "'a'"], [["1"], ["'two'"]]))
        self.assertEqual(self.table("t"), (["value"], ["0"], [["1"]]))
        self.assertEqual(self.table("r", start=10**12 - 1), (["value"], [str(10**12 - 1)], [[str(10**12 - 1)]]))
        self.assertEqual(self.table("s"), (["value"], ["0"], [["5"]]))
        self.assertEqual(self.table("q", start=1), (["value"], ["1"], [["'b'"]]))

    def test_items_are_sorted_by_their_values_and_what_is_missing_comes_last(self):
        self.worker.run("x = [2.0, None, 3.0, float('nan'), 1.0]\nd = {'a': 2, 'b': 1}")
        self.assertEqual(self.table("x", sortBy=0)[1], ["4", "0", "2", "1", "3"])
        self.assertEqual(self.table("x", sortBy=0, descending=True)[1], ["2", "0", "4", "1", "3"])
        self.assertEqual(self.table("d", sortBy=0, count=1), (["value"], ["'b'"], [["1"]]))

    def test_what_cannot_be_sorted_or_has_no_rows_is_an_error(self):
        self.worker.run("x = [1, 'a']\nn = 1")
        self.assertIn("TypeError", self.ask("x", sortBy=0)["error"])
        self.assertIn("no column 1", self.ask("x", sortBy=1)["error"])
        self.assertEqual(self.ask("n")["error"], "TypeError: a value of type 'int' has no rows")
        self.assertEqual(self.ask("nothing"), {"found": False})

    def test_cells_are_short_and_so_is_the_whole_answer(self):
        self.worker.run("x = ['é' * 10_000] * 500\nbig = {('k' * 500): 10**5000}")
        found = self.ask("x", count=500)
        self.assertEqual({len(cell) for row in found["rows"] for cell in row}, {200})
        self.assertTrue(found["rows"][0][0].endswith("…"))
        answer = self.ask("big")
        self.assertTrue(len(answer["index"][0]) == 200 and answer["rows"][0][0].startswith("<ValueError"), answer)

    def test_values_that_misbehave_spoil_their_cells_only(self):
        self.worker.run("class Bad:\n    def __repr__(self): raise ValueError('no')\nclass Text(str):\n    def __str__(self): raise ValueError('never')\nx = [Bad(), Text('t'), 1]")
        rows = self.ask("x")["rows"]
        self.assertEqual((rows[0], rows[2]), (["<ValueError: no>"], ["1"]))

    def test_a_value_that_takes_too_long_is_given_up_and_the_session_is_not_changed(self):
        self.worker.run("import time\nclass Slow(list):\n    def __getitem__(self, at): seen.append(1); time.sleep(600)\nseen = []\nx = Slow([1])")
        self.assertEqual(self.ask("x", timeoutMs=200)["incomplete"], "timeout")
        self.assertEqual(self.worker.value("seen"), "[]")

    def test_rows_are_found_while_code_runs(self):
        self.worker.run("x = [1, 2]")
        execution = self.worker.send("__import__('rlm_host').call('wait')")
        call = self.worker.event()
        self.assertEqual(self.ask("x")["rows"], [["1"], ["2"]])
        self.worker.send_aside(cmd="reply", id=execution, call=call["call"], value=1)
        self.worker.status(execution)

    def test_frames_that_look_like_those_of_polars_have_rows(self):
        self.worker.run(POLARS)
        self.assertEqual(self.table("frame"), (["n", "t"], ["0", "1", "2"], [["3", "c"], ["None", "b"], ["1", "a"]]))
        self.assertEqual(self.table("frame", start=1, count=1, columnStart=1), (["t"], ["1"], [["b"]]))
        self.assertEqual(self.table("frame", sortBy=0), (["n", "t"], ["2", "0", "1"], [["1", "a"], ["3", "c"], ["None", "b"]]))
        self.assertEqual(self.table("series"), (["s"], ["0", "1"], [["x"], ["y"]]))

    @unittest.skipUnless(HAS_NUMPY, "there is no numpy")
    def test_arrays_of_one_and_two_dimensions(self):
        self.worker.run("import numpy as np\na = np.array([1.5, np.nan, -2])\nb = np.arange(12).reshape(3, 4)\nz = np.array(7)\ne = np.zeros((0, 3))")
        self.assertEqual(self.table("a"), (["0"], ["0", "1", "2"], [["1.5"], ["nan"], ["-2.0"]]))
        self.assertEqual(self.table("a", sortBy=0)[1], ["2", "0", "1"])
        self.assertEqual(self.table("a", sortBy=0, descending=True)[1], ["0", "2", "1"])
        self.assertEqual(self.table("b", start=1, columnStart=2, columnCount=1), (["2"], ["1", "2"], [["6"], ["10"]]))
        self.assertEqual(self.table("b", count=1, sortBy=3, descending=True), (["0", "1", "2", "3"], ["2"], [["8", "9", "10", "11"]]))
        self.assertEqual(self.table("z")[2], [["7"]])
        self.assertEqual(self.table("e"), (["0", "1", "2"], [], []))
        found = self.ask("b")
        self.assertEqual((found["total"], found["totalColumns"], found["columns"][0]["dtype"]), (3, 4, "int64"))

    @unittest.skipUnless(HAS_NUMPY, "there is no numpy")
    def test_arrays_of_more_dimensions_have_a_row_for_each_index_of_the_others(self):
        self.worker.run("import numpy as np\na = np.arange(24).reshape(2, 3, 4)\nm = np.matrix([[1, 2], [3, 4]])\nhuge = np.lib.stride_tricks.as_strided(np.zeros(1), (10**6, 10**6, 2), (0, 0, 0))")
        columns, index, rows = self.table("a", start=2, count=2)
        self.assertEqual((columns, index), (["0", "1", "2", "3"], ["0, 2", "1, 0"]))
        self.assertEqual(rows, [["8", "9", "10", "11"], ["12", "13", "14", "15"]])
        self.assertEqual(self.table("m")[2], [["1", "2"], ["3", "4"]])
        self.assertEqual(self.ask("huge", start=10**12 - 1)["index"], ["999999, 999999"])

    @unittest.skipUnless(HAS_NUMPY, "there is no numpy")
    def test_the_fields_of_a_record_array_are_columns(self):
        self.worker.run("import numpy as np\na = np.array([(2, 'b'), (1, 'a')], dtype=[('n', 'i4'), ('t', 'U3')])")
        self.assertEqual(self.table("a", sortBy=0), (["n", "t"], ["1", "0"], [["1", "a"], ["2", "b"]]))
        self.assertEqual([column["dtype"] for column in self.ask("a")["columns"]], ["int32", "<U3"])

    @unittest.skipUnless(HAS_NUMPY, "there is no numpy")
    def test_equal_values_keep_their_order_in_both_directions(self):
        self.worker.run("import numpy as np\na = np.array([1, 0, 1, 0], dtype='u1')")
        self.assertEqual(self.table("a", sortBy=0)[1], ["1", "3", "0", "2"])
        self.assertEqual(self.table("a", sortBy=0, descending=True)[1], ["0", "2", "1", "3"])

    @unittest.skipUnless(HAS_PANDAS, "there is no pandas")
    def test_frames_and_series(self):
        self.worker.run(
            "import pandas as pd\n"
            "frame = pd.DataFrame({'a': [2, 1, 3], 'b': ['x', None, 'long' * 100], 'c': pd.to_datetime(['2026-01-01'] * 3)}, index=['r', 's', 's'])\n"
            "same = pd.DataFrame([[1, 2]], columns=['a', 'a'])\nnested = pd.DataFrame([[1]], columns=pd.MultiIndex.from_tuples([('a', 1)]), index=pd.MultiIndex.from_tuples([(0, 'z')]))\n"
            "series = pd.Series([1.5, None], name='s')\nempty = pd.DataFrame(index=[1, 2])"
        )
        columns, index, rows = self.table("frame", count=2)
        self.assertEqual((columns, index), (["a", "b", "c"], ["r", "s"]))
        self.assertEqual(rows, [["2", "x", "2026-01-01 00:00:00"], ["1", "None", "2026-01-01 00:00:00"]])
        self.assertEqual(self.table("frame", sortBy=0, descending=True, columnCount=1)[2], [["3"], ["2"], ["1"]])
        self.assertEqual(self.table("frame", sortBy=1, start=2, columnCount=1), (["a"], ["s"], [["1"]]))
        self.assertEqual([column["dtype"] for column in self.ask("frame")["columns"]], ["int64", "object", "datetime64[ns]"])
        self.assertEqual(self.table("same"), (["a", "a"], ["0"], [["1", "2"]]))
        self.assertEqual(self.table("nested"), (["a, 1"], ["0, z"], [["1"]]))
        self.assertEqual(self.table("series"), (["s"], ["0", "1"], [["1.5"], ["nan"]]))
        self.assertEqual(self.table("empty"), ([], ["1", "2"], [[], []]))

    @unittest.skipUnless(HAS_PANDAS, "there is no pandas")
    def test_the_last_rows_of_a_large_frame_sorted(self):
        self.worker.run("import numpy as np, pandas as pd\nframe = pd.DataFrame({'n': np.arange(1_000_000)[::-1], 'm': 1.0})")
        self.assertEqual(self.table("frame", start=999_999, sortBy=0, columnCount=1), (["n"], ["0"], [["999999"]]))
        self.assertEqual(self.table("frame", start=2_000_000)[1:], ([], []))


if __name__ == "__main__":
    unittest.main()
