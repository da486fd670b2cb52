import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { Editor } from "../../../../src/cli/repl/editor/editor.ts";
import type { Key } from "../../../../src/cli/repl/editor/keys.ts";
import { toGraphemes } from "../../../../src/util/text/text-width.ts";
import { edited, shown, toKeys, type } from "../type.ts";

describe("Enter", () => {
  test("runs a line, wherever the cursor is in it", () => {
    const editor = new Editor({ kind: "code" });
    expect(type(editor, "x = 1{home}{enter}")).toEqual(["submit"]);
    expect(editor.text).toBe("x = 1");
  });

  test.each([
    ["def f():{enter}", "def f():\n    |"],
    ["def f():  # why{enter}", "def f():  # why\n    |"],
    ["def f():{enter}return 1{enter}", "def f():\n    return 1\n|"],
    ["if a:{enter}if b:{enter}pass{enter}", "if a:\n    if b:\n        pass\n    |"],
    ["f({enter}1,{enter}", "f(\n    1,\n    |"],
    ["x = '''a{enter}", "x = '''a\n|"],
    ["d = {{enter}", "d = {\n    |"],
    ["for x in y:{enter}print(x){enter}", "for x in y:\n    print(x)\n    |"],
    ["%%time{enter}f(){enter}", "%%time\nf()\n|"],
  ])("%s continues on the next line, indented", (script, expected) => {
    const editor = new Editor({ kind: "code" });
    const keys = toKeys(script);
    expect(keys.flatMap((key) => editor.press(key) ?? [])).toEqual([]);
    expect(shown(editor)).toBe(expected);
  });

  test.each([
    ["an empty last line ends a block", "def f():{enter}return 1{enter}{enter}"],
    ["a bracket that is closed", "f({enter}1){enter}"],
    ["a string that is closed", "x = '''{enter}  a'''{enter}"],
    ["a string that is never closed is for Python to refuse", "print('a{enter}"],
    ["a colon in a string", "x = 'a:'{enter}"],
    ["a command", ":vars{enter}"],
    ["a magic of a line", "%time f(){enter}"],
    ["a magic of a cell, after an empty line", "%%time{enter}f(){enter}{enter}"],
    ["lines that are whole", "x = 1{alt-enter}y = 2{enter}"],
  ])("runs: %s", (_, script) => {
    expect(type(new Editor({ kind: "code" }), script)).toEqual(["submit"]);
  });

  test("in the middle of several lines splits the line; Alt-Enter and Ctrl-O always do", () => {
    expect(shown(edited("a = 1{alt-enter}b = 2{up}{home}{enter}"))).toBe("\n|a = 1\nb = 2");
    expect(shown(edited("ab{left}{ctrl-o}"))).toBe("a\n|b");
  });

  test("submits a recalled block at once, and an edited one when it is complete", () => {
    const history = ["def f():\n    return 1"];
    expect(type(edited("{up}", { history }), "{enter}")).toEqual(["submit"]);
    expect(type(edited("{up}0", { history }), "{enter}")).toEqual([]);
  });

  test("addLine() adds a line to incomplete code", () => {
    const editor = edited("@decorator");
    editor.addLine();
    expect(shown(editor)).toBe("@decorator\n|");
  });
});

describe("editing", () => {
  test.each([
    ["abc{left}{left}X", "aX|bc"],
    ["abc{home}X{end}Y", "XabcY|"],
    ["one two{ctrl-left}X", "one X|two"],
    ["one two{home}{alt-f}X", "oneX| two"],
    ["one two{ctrl-w}", "one |"],
    ["one two{home}{alt-d}", "| two"],
    ["one two{ctrl-left}{ctrl-k}{home}{ctrl-y}", "two|one "],
    ["one{ctrl-u}two{ctrl-u}{ctrl-y}{alt-y}", "one|"],
    ["a b c{ctrl-w}{ctrl-w}{ctrl-y}", "a b c|"],
    ["abc{backspace}{left}{delete}", "a|"],
    ["abc{left}{ctrl-d}", "ab|"],
    ["if x:{enter}{backspace}y", "if x:\ny|"],
    ["{tab}x", "    x|"],
    ["  ab{home}{home}X", "X|  ab"],
    ["ab{alt-enter}c{up}X", "aX|b\nc"],
    ["abc{alt-enter}d{alt-enter}efg{up}{up}", "abc|\nd\nefg"],
    ["abc{alt-enter}d{alt-enter}efg{up}{up}{down}{down}X", "abc\nd\nefgX|"],
    ["word{ctrl-_}", "|"],
    ["one{left}two{ctrl-_}{ctrl-_}", "|"],
    ["one{left}two{ctrl-_}{ctrl-_}{alt-_}", "on|e"],
    ["a👩‍👩‍👧é{left}{left}X", "aX|👩‍👩‍👧é"],
    ["ae\u0301{backspace}", "a|"],
    ["漢字{left}X", "漢X|字"],
  ])("%s", (script, expected) => {
    expect(shown(edited(script))).toBe(expected);
  });

  test("a paste is plain text; control characters are removed", () => {
    const editor = new Editor({ kind: "code" });
    expect(
      editor.press({ kind: "paste", text: "for x in y:\r\n\tprint(x)\r\u001B[31m\u0003\u009B1m" }),
    ).toBeUndefined();
    expect(editor.text).toBe("for x in y:\n\tprint(x)\n[31m1m");
  });

  test("Ctrl-C cancels; Ctrl-D leaves if there is nothing to delete", () => {
    expect(type(new Editor({ kind: "code" }), "{ctrl-d}{ctrl-c}x{ctrl-d}")).toEqual(["end", "cancel"]);
  });

  test("a line for input() has no history, no blocks and no completion", () => {
    const editor = new Editor({ kind: "line", history: ["secret"] });
    expect(type(editor, "if x:{up}{tab}{ctrl-r}{enter}")).toEqual(["submit"]);
    expect(editor.text).toBe("if x:\t");
    editor.press({ kind: "paste", text: "a\nb" });
    expect(editor.text).toBe("if x:\ta b");
  });
});

describe("history", () => {
  const history = ["x = 1", "y = 2", "x + y", "x + y"];

  test("goes back and forth without repetitions, and returns to the draft", () => {
    const editor = edited("{up}", { history });
    expect(editor.text).toBe("x + y");
    expect((type(editor, "{up}"), editor.text)).toBe("y = 2");
    expect((type(editor, "{down}"), editor.text)).toBe("x + y");
    expect((type(editor, "{down}"), editor.text)).toBe("");
    expect((type(editor, "{down}"), editor.text)).toBe("");
  });

  test("finds entries with the text before the cursor as prefix", () => {
    const editor = edited("x ={up}", { history });
    expect(editor.text).toBe("x = 1");
    expect((type(editor, "{up}{down}"), editor.text)).toBe("x =");
  });

  test("moves within a cell of several lines first", () => {
    const editor = edited("{up}", { history: ["first", "a\nb"] });
    expect(shown(editor)).toBe("a\nb|");
    expect((type(editor, "{up}"), shown(editor))).toBe("a|\nb");
    expect((type(editor, "{up}"), shown(editor))).toBe("first|");
  });

  test("Ctrl-R searches, again for older entries; Enter accepts, Escape cancels", () => {
    const editor = edited("draft{ctrl-r}x", { history });
    expect([editor.query, editor.text]).toEqual(["x", "x + y"]);
    expect((type(editor, "{ctrl-r}"), editor.text)).toBe("x = 1");
    expect((type(editor, "{ctrl-r}"), editor.text)).toBe("x = 1");
    expect((type(editor, " + 5"), editor.hasNoMatch)).toBe(true);
    expect((type(editor, "{escape}"), editor.text)).toBe("draft");
    expect(type(editor, "{ctrl-r}y ={enter}")).toEqual([]);
    expect([editor.query, editor.text]).toEqual([undefined, "y = 2"]);
  });
});

describe("completion", () => {
  test("is requested after code, and inserts the only match", () => {
    const editor = new Editor({ kind: "code" });
    expect(type(editor, "x = ma{tab}")).toEqual(["complete"]);
    editor.offer({ start: 4, end: 6, matches: ["max"] });
    expect(shown(editor)).toBe("x = max|");
    expect(editor.menu).toBeUndefined();
  });

  test("inserts the common prefix, shows the matches, and Tab cycles through them", () => {
    const editor = edited("im");
    editor.offer({ start: 0, end: 2, matches: ["import_a", "import_b"] });
    expect(shown(editor)).toBe("import_|");
    expect((type(editor, "{tab}"), editor.text)).toBe("import_a");
    expect((type(editor, "{tab}{tab}"), editor.text)).toBe("import_a");
    expect((type(editor, "{shift-tab}"), editor.text)).toBe("import_b");
    expect(type(editor, "{enter}")).toEqual([]);
    expect([editor.menu, editor.text]).toEqual([undefined, "import_b"]);
    expect(type(editor, "{enter}")).toEqual(["submit"]);
  });

  test("a hint is shown until the next key", () => {
    const editor = edited("f(");
    editor.offer({ start: 0, end: 0, matches: [], hint: "f(a, b)" });
    expect([editor.hint, editor.text]).toEqual(["f(a, b)", "f("]);
    type(editor, "1");
    expect(editor.hint).toBeUndefined();
  });

  test("typing accepts the choice; a late or empty completion changes nothing", () => {
    const editor = edited("a");
    editor.offer({ start: 0, end: 1, matches: ["ab", "ac"] });
    type(editor, "{tab}d");
    expect(editor.text).toBe("abd");
    editor.offer({ start: 9, end: 9, matches: ["zzz"] });
    editor.offer({ start: -1, end: 3, matches: ["zzz"] });
    editor.offer({ start: 0, end: 30, matches: ["zzz"] });
    editor.offer({ start: 0, end: 3, matches: [] });
    expect(editor.text).toBe("abd");
  });
});

test("home stops before a blank that carries an accent", () => {
  const editor = new Editor({ kind: "code", history: [] });
  const press = (...keys: readonly Key[]): void => keys.forEach((key) => editor.press(key));
  press({ kind: "key", name: "tab" }, { kind: "paste", text: "\u0301" }, { kind: "key", name: "home" });
  expect({ text: editor.text, cursor: editor.cursor }).toEqual({ text: "    \u0301", cursor: 3 });
  press({ kind: "key", name: "home" });
  expect(editor.cursor).toBe(0);
});

test("after any keys, the cursor is between two graphemes", () => {
  const names = [
    ..."left right up down home end backspace delete enter tab shift-tab escape alt-enter ctrl-left ctrl-right".split(
      " ",
    ),
    ..."ctrl-w ctrl-k ctrl-u ctrl-y alt-y alt-d ctrl-_ alt-_ ctrl-r page-up page-down alt-< alt-> ctrl-d".split(" "),
  ];
  const key = fc.oneof(
    fc.constantFrom(...names).map((name): Key => ({ kind: "key", name })),
    fc.string({ unit: "grapheme", maxLength: 6 }).map((text): Key => ({ kind: "text", text })),
    fc.string({ unit: "binary", maxLength: 12 }).map((text): Key => ({ kind: "paste", text })),
    fc.constantFrom("\u0301", "\u200D", "👩", "\n", "if x:", "(", "'''").map((text): Key => ({ kind: "paste", text })),
  );
  fc.assert(
    fc.property(fc.array(key, { maxLength: 60 }), (keys) => {
      const editor = new Editor({ kind: "code", history: ["e\u0301x", "if a:\n    b", "👩‍👩‍👧"] });
      for (const one of keys) {
        if (editor.press(one) === "complete") editor.offer({ start: 0, end: editor.cursor, matches: ["aa", "ab"] });
        const { text, cursor } = editor;
        const boundaries = toGraphemes(text).reduce((all, part) => [...all, (all.at(-1) ?? 0) + part.length], [0]);
        expect(boundaries).toContain(cursor);
      }
    }),
    { numRuns: 300 },
  );
});
