"""Values in a console: wrapped to its width, and otherwise like repr."""

import collections
import dataclasses
import os
import random
import re
import sys
import unittest

from harness import ROOT, WorkerCase

sys.path.insert(0, os.path.join(ROOT, "python"))
from worker.notebook.pretty import MAX_ITEMS, pretty_text_of, width_of  # noqa: E402
from worker.report import MAX_VALUE  # noqa: E402


def shown(value, columns=40):
    return pretty_text_of(value, columns)[0]


@dataclasses.dataclass
class Point:
    x: int
    names: list


class Lists(list):
    pass


class Named(list):
    def __repr__(self):
        return "<named>"


class Pretty(unittest.TestCase):
    def test_what_fits_in_a_line_is_its_repr(self):
        for value in (1, "a", [], [1, 2], (1,), {}, {"a": (1, [2])}, set(), {1}, frozenset({1}), Point(1, []), Lists([1]), Named([1])):
            self.assertEqual(shown(value), repr(value))

    def test_items_fill_the_lines(self):
        self.assertEqual(shown(list(range(20)), 20), "[0, 1, 2, 3, 4, 5,\n 6, 7, 8, 9, 10, 11,\n 12, 13, 14, 15, 16,\n 17, 18, 19]")

    def test_entries_of_a_dict_and_nested_containers_have_their_own_lines(self):
        value = {"one": [1, 2, 3], "two": {"a": list(range(9)), "b": ()}}
        self.assertEqual(shown(value, 30), "{'one': [1, 2, 3],\n 'two': {'a': [0, 1, 2, 3, 4,\n               5, 6, 7, 8],\n         'b': ()}}")
        self.assertEqual(shown([[1, 2], [3, 4]], 10), "[[1, 2],\n [3, 4]]")

    def test_a_value_behind_a_long_key_goes_to_the_next_line(self):
        self.assertEqual(shown({"k" * 30: [1, 2, 3]}, 40), "{'" + "k" * 30 + "':\n     [1, 2, 3]}")

    def test_containers_of_the_standard_library(self):
        for value in (
            collections.defaultdict(list, {"a": list(range(20))}), collections.Counter("aabbbc" * 5 + "defgh"),
            Point(1, ["name"] * 9), Lists(range(30)), frozenset(range(30)), type("Own", (set,), {})(range(30)),
        ):
            text = shown(value)
            self.assertIn("\n", text)
            self.assertEqual(re.sub(r"\n *", " ", text), repr(value))

    def test_a_repr_of_its_own_is_kept(self):
        self.assertEqual(shown([Named(range(100))]), "[<named>]")
        odd = type("Odd", (dict,), {"__repr__": lambda self: "odd\n  two"})(a=1)
        self.assertEqual(shown(odd), "odd\n  two")
        self.assertEqual(shown({"key": odd, "b": 1}), "{'key': odd\n          two,\n 'b': 1}")

    def test_wide_characters_count_twice(self):
        for line in shown(["漢字" * 3] * 5, 30).split("\n"):
            self.assertLessEqual(width_of(line), 30)
        self.assertEqual(shown(["漢字", "漢字"], 13), "['漢字',\n '漢字']")

    def test_recursion_ends(self):
        value = [1]
        value.append({"self": value})
        self.assertEqual(shown(value), repr(value))
        deep = []
        for _ in range(100_000):
            deep = [deep]
        self.assertIn("...", shown(deep, 20))

    def test_a_huge_container_is_shortened_without_visiting_all_of_it(self):
        class Counted:
            calls = 0

            def __repr__(self):
                Counted.calls += 1
                return "x"

        text = shown([Counted()] * 1_000_000)
        self.assertTrue(text.endswith(f"... {1_000_000 - MAX_ITEMS:,} more]"), text[-40:])
        self.assertEqual(Counted.calls, MAX_ITEMS)
        Counted.calls = 0
        nested = [[Counted()] * 900 for _ in range(900)]
        self.assertLessEqual(len(shown(nested)), MAX_VALUE)
        self.assertLess(Counted.calls, MAX_VALUE)
        self.assertLessEqual(len(shown(["y" * 10_000_000])), MAX_VALUE)

    def test_a_repr_that_changes_its_container_or_fails(self):
        class Clears:
            def __repr__(self):
                items.clear()
                return "cleared"

        items = {Clears(): 1, 2: 3}
        self.assertEqual(shown(items), "{cleared: 1, 2: 3}")
        items = [Clears(), 2]
        self.assertEqual(shown(items), "[cleared, 2]")

        class Fails:
            def __repr__(self):
                raise ValueError("no repr")

        self.assertRaisesRegex(ValueError, "no repr", shown, [Fails()])

    def test_subclasses_do_not_change_what_is_read(self):
        class Liar(dict):
            def __iter__(self):
                raise ValueError

            items = keys = __len__ = __iter__

        value = Liar(a=1, b="x" * 60)
        self.assertEqual(re.sub(r"\n *", " ", shown(value)), repr(value))

    def test_any_value_is_its_repr_apart_from_line_breaks(self):
        random.seed(7)

        def make(depth):
            kind = random.randrange(9 if depth else 4)
            if kind < 4:
                return random.choice((0, -1.5, None, True, "a b", "漢 字", b"\n", 10**20, "'\"", ""))
            items = [make(depth - 1) for _ in range(random.randrange(12))]
            if kind < 6:
                return (list, tuple)[kind - 4](items)
            if kind == 6:
                return {str(index): item for index, item in enumerate(items)}
            return collections.defaultdict(int, enumerate(items)) if kind == 7 else Point(1, items)

        compared = 0
        for _ in range(500):
            value, columns = make(3), random.randrange(1, 100)
            text = shown(value, columns)
            if "omitted" not in text and " more" not in text:
                compared += 1
                self.assertEqual(re.sub(r"\n *", " ", text), repr(value))
            if len(repr(value)) <= columns and repr(value).isascii():
                self.assertEqual(text, repr(value))
        self.assertGreater(compared, 400)


class InAConsole(WorkerCase):
    def test_only_code_of_a_console_has_pretty_values(self):
        code = "list(range(20))"
        self.assertEqual(self.worker.value(code), repr(list(range(20))))
        self.assertEqual(self.worker.value(code, console=30).count("\n"), 2)
        self.assertEqual(self.worker.value(code, console=0), repr(list(range(20))))
        _, displays = self.worker.shown("display([1] * 30)", console=30)
        self.assertEqual(displays[0]["data"]["text/plain"].count("\n"), 2)
        self.assertEqual(self.worker.value(code), repr(list(range(20))))

    def test_a_repr_without_end_can_be_interrupted(self):
        self.worker.run("class Endless:\n    def __repr__(self):\n        print('here')\n        while True: pass")
        execution = self.worker.send("[Endless()]", console=80)
        self.worker.send_aside(cmd="flush", id=execution)
        self.worker.out.until(b"here")
        self.worker.interrupt()
        self.assertEqual(self.worker.status(execution)["status"], "interrupted")
        self.assertEqual(self.worker.value("1 + 1", console=80), "2")

    def test_a_value_with_other_representations_is_pretty_too(self):
        self.worker.run("class Table(list):\n    def _repr_html_(self): return '<b>'")
        status = self.worker.run("Table(range(30))", console=30)
        self.assertEqual(status["value"]["text/html"], "<b>")
        self.assertIn("\n", status["value"]["text/plain"])


if __name__ == "__main__":
    unittest.main()
