import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { splitWords } from "../../../src/cli/repl/commands/commands.ts";
import { HistoryFile } from "../../../src/cli/repl/history-file.ts";
import { Palette } from "../../../src/cli/io/palette.ts";
import { isInBlock, isInside, looksOpen } from "../../../src/cli/repl/editor/python-text.ts";
import { toColouredTraceback } from "../../../src/cli/repl/display/traceback.ts";

describe("the history file", () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "rlm-history-"));
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  test("is shared by concurrent consoles without losses", () => {
    const [one, other] = [new HistoryFile(folder), new HistoryFile(folder)];
    one.add("a\nb");
    other.add("c");
    one.add("d");
    expect(new HistoryFile(folder).entries).toEqual(["a\nb", "c", "d"]);
    expect(statSync(join(folder, "history.jsonl")).mode & 0o777).toBe(0o600);
  });

  test("omits repetitions, empty text, and text that begins with a space", () => {
    const history = new HistoryFile(folder);
    for (const text of ["a", "a", "", "  secret", "b"]) history.add(text);
    expect(history.entries).toEqual(["a", "b"]);
  });

  test("is limited, and damaged lines are skipped", () => {
    const path = join(folder, "history.jsonl");
    writeFileSync(path, `${Array.from({ length: 25_000 }, (_, index) => `"${index}"`).join("\n")}\n{"a":\n7\n"last"\n`);
    const { entries } = new HistoryFile(folder);
    expect([entries.length, entries.at(-1)]).toEqual([10_000, "last"]);
    expect(readFileSync(path, "utf8").split("\n")).toHaveLength(10_001);
  });

  test("that cannot be written is ignored", () => {
    const history = new HistoryFile(join(folder, "not", "there"));
    history.add("a");
    expect(history.entries).toEqual(["a"]);
  });
});

describe("Python text", () => {
  test.each([
    ["f(", true, true],
    ["x = [1,\n", true, true],
    ["'''a", true, true],
    ["f'''a'''", false, false],
    ["''''''", false, false],
    ["if x:", false, true],
    ["if x: # why", false, true],
    ["x = {1: 2}", false, false],
    ["print('(')", false, false],
    ["'unclosed (", false, false],
    ["# (", false, false],
    ["r'\\'", false, false],
  ])("%j: inside %s, open %s", (text, inside, open) => {
    expect([isInside(text), looksOpen(text)]).toEqual([inside, open]);
  });

  test.each([
    ["def f():\n    return 1", true],
    ["def f():\n    return 1\n", true],
    ["x = (1,\n     2)", false],
    ["x = '''\n    a'''", false],
    ["def f():\n    x = (1,\n2)", true],
    ["a\nb", false],
  ])("%j is in a block: %s", (text, expected) => {
    expect(isInBlock(text)).toBe(expected);
  });
});

test("a traceback keeps its text and loses terminal commands", () => {
  const text =
    'Traceback (most recent call last):\n  File "<cell 1>", line 2, in f\n    1/0\n    ~^~\nZeroDivisionError: \u001B[2Jx\n';
  expect(toColouredTraceback(text, new Palette(false))).toBe(
    'Traceback (most recent call last):\n  File "<cell 1>", line 2, in f\n    1/0\n    ~^~\nZeroDivisionError: x',
  );
  expect(toColouredTraceback(text, new Palette(true))).toContain("\u001B[31mZeroDivisionError\u001B[0m: x");
});

test("words are split like in a shell", () => {
  expect(splitWords(`put "a b" c\\ d 'e"f' K="v w"`)).toEqual(["put", "a b", "c d", 'e"f', "K=v w"]);
});
