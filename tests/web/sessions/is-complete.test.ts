import { expect, test } from "vitest";
import { isComplete } from "../../../web/src/sessions/editor/is-complete.ts";

test.each([
  "1 + 1",
  "x = [1, 2]  # note:",
  "print('a:')",
  "if x: y",
  "def f():\n    return 1\n",
  "def f():\n    return 1\n    ",
  "x = 1\ny = 2",
  "s = '''a\nb'''",
  "x = {'a': 1}",
  "'('",
  "lambda: 1",
])("Enter runs %j", (code) => {
  expect(isComplete(code)).toBe(true);
});

test.each([
  "def f():",
  "def f():  # why: this",
  "def f():\n",
  "def f():\n    return 1",
  "x = [1,",
  "x = (\n  1,\n",
  "s = '''a",
  's = """',
  "a = 1 + \\",
  "@cache",
  "@cache\n",
  "if x:\n    y\nelse: z",
  "%%timeit\nx",
])("Enter adds a line to %j", (code) => {
  expect(isComplete(code)).toBe(false);
});
