import { describe, expect, test } from "vitest";
import { Palette } from "../../../../src/cli/io/palette.ts";
import { createFrame, type Frame, type View } from "../../../../src/cli/repl/editor/frame.ts";
import type { Editor } from "../../../../src/cli/repl/editor/editor.ts";
import { edited, shown, type } from "../type.ts";

const history = [
  "import numpy as np",
  "import os",
  "def f(a):\n    return a\n",
  "print(1)",
  "print('old')",
  "print(x, y)",
];

describe("a suggestion", () => {
  test.each([
    ["pri", "nt(x, y)"],
    ["print(1", ")"],
    ["import o", "s"],
    ["def", " f(a):"],
    ["def f(a):{enter}", "return a"],
    ["def f(a):{enter}re", "turn a"],
    ["prixt{backspace}{backspace}", "nt(x, y)"],
    ["print(x, y)", undefined],
    ["", undefined],
    [" ", undefined],
    ["nothing like it", undefined],
    ["pri{left}", undefined],
    ["pri{ctrl-r}", undefined],
    ["pri{up}", undefined],
  ])("after %s is %s", (script, expected) => {
    expect(edited(script, { history }).suggestion).toBe(expected);
  });

  test.each(["right", "ctrl-f", "ctrl-e", "end"])("is accepted with %s", (key) => {
    expect(shown(edited(`pri{${key}}`, { history }))).toBe("print(x, y)|");
  });

  test.each(["alt-f", "ctrl-right", "alt-right"])("is accepted word by word with %s", (key) => {
    const editor = edited(`import n{${key}}`, { history });
    expect([shown(editor), editor.suggestion]).toEqual(["import numpy|", " as np"]);
    type(editor, `{${key}}{${key}}`);
    expect(shown(editor)).toBe("import numpy as np|");
  });

  test("is undone as one change, and Enter does not accept it", () => {
    expect(shown(edited("pri{right}{ctrl-_}", { history }))).toBe("pri|");
    const editor = edited("pri", { history });
    expect(type(editor, "{enter}")).toEqual(["submit"]);
    expect(editor.text).toBe("pri");
  });

  test("does not appear for text that was pasted, until something is typed", () => {
    const editor = edited("", { history });
    editor.press({ kind: "paste", text: "pri" });
    expect(editor.suggestion).toBeUndefined();
    type(editor, "{right}n");
    expect([shown(editor), editor.suggestion]).toEqual(["prin|", "t(x, y)"]);
  });

  test("does not appear where input() reads a line", () => {
    expect(edited("pri", { history, kind: "line" }).suggestion).toBeUndefined();
  });

  test("that is a combining mark is not offered", () => {
    expect(edited("caf", { history: ["cafe\u0301"] }).suggestion).toBe("e\u0301");
    expect(edited("cafe", { history: ["cafe\u0301"] }).suggestion).toBeUndefined();
  });
});

describe("on the screen", () => {
  const view: View = {
    prompt: ">>> ",
    continuation: "... ",
    columns: 12,
    palette: new Palette(true),
    isCode: true,
    isSecret: false,
    isLeft: false,
  };
  const frame = (editor: Editor, changes: Partial<View> = {}): Frame => createFrame(editor, { ...view, ...changes });

  test("it is grey behind the cursor, and may fill several rows", () => {
    const { rows, ...cursor } = frame(edited("pri", { history }));
    expect(rows[0]).toContain("pri\u001B[90mnt(x,\u001B[0m");
    expect(rows[1]).toBe("\u001B[90m y)\u001B[0m");
    expect(cursor).toEqual({ cursorRow: 0, cursorColumn: 7 });
  });

  test("it is not there when the input is complete, nor without colours", () => {
    expect(frame(edited("pri", { history }), { isLeft: true }).rows.join("")).not.toContain("nt(x");
    expect(frame(edited("pri", { history }), { palette: new Palette(false) }).rows).toEqual([">>> pri"]);
  });

  test("control characters in the history are not written", () => {
    const { rows } = frame(edited("a", { history: ["a\u001B[2Jb"] }));
    expect(rows.join("")).not.toContain("\u001B[2J");
  });
});
