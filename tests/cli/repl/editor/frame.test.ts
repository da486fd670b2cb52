import * as fc from "fast-check";
import { expect, test } from "vitest";
import { Editor } from "../../../../src/cli/repl/editor/editor.ts";
import { createFrame, type Frame, type View } from "../../../../src/cli/repl/editor/frame.ts";
import { Palette } from "../../../../src/cli/io/palette.ts";
import { textWidth } from "../../../../src/util/text/text-width.ts";
import { edited } from "../type.ts";

const plain: View = {
  prompt: ">>> ",
  continuation: "... ",
  columns: 20,
  palette: new Palette(false),
  isCode: true,
  isSecret: false,
  isLeft: false,
};

function frame(editor: Editor, view: Partial<View> = {}): Frame {
  return createFrame(editor, { ...plain, ...view });
}

test("shows the prompt, the lines and the cursor", () => {
  expect(frame(edited("if x:{enter}y"))).toEqual({ rows: [">>> if x:", "...     y"], cursorRow: 1, cursorColumn: 9 });
});

test("wraps long lines without splitting wide characters", () => {
  expect(frame(edited("abcdefgh"), { columns: 8 })).toEqual({
    rows: [">>> abcd", "efgh", ""].slice(0, 2),
    cursorRow: 1,
    cursorColumn: 4,
  });
  expect(frame(edited("abc漢字"), { columns: 8 })).toEqual({
    rows: [">>> abc", "漢字"],
    cursorRow: 1,
    cursorColumn: 4,
  });
});

test("a cursor after a full row is at the start of the next", () => {
  expect(frame(edited("abcd"), { columns: 8 })).toEqual({ rows: [">>> abcd", ""], cursorRow: 1, cursorColumn: 0 });
});

test("combining marks take no column, joined emoji take two", () => {
  expect(frame(edited("e\u0301👩‍👩‍👧")).cursorColumn).toBe(7);
});

test("a secret is not shown, not even its length", () => {
  expect(frame(edited("hidden", { kind: "line" }), { isSecret: true, isCode: false, prompt: "? " })).toEqual({
    rows: ["? "],
    cursorRow: 0,
    cursorColumn: 2,
  });
});

test("colours words, unless NO_COLOR is set", () => {
  const { rows } = frame(edited("if 1: 'a' # b"), { palette: new Palette(true), columns: 80 });
  expect(rows[0]).toBe(
    "\u001B[1;34m>>> \u001B[0m\u001B[35mif\u001B[0m \u001B[36m1\u001B[0m: \u001B[32m'a'\u001B[0m \u001B[90m# b\u001B[0m",
  );
  expect(frame(edited("if 1: 'a' # b"), { columns: 80 }).rows[0]).toBe(">>> if 1: 'a' # b");
});

test("the menu has columns below the text, marks the choice, and shows the number of matches", () => {
  const editor = edited("x");
  editor.offer({ start: 0, end: 1, matches: ["xa", "xb", "xccc", "xd"] });
  editor.press({ kind: "key", name: "tab" });
  expect(frame(editor).rows).toEqual([">>> xa", "[xa]   xb    xccc", " xd"]);
  const many = edited("y");
  many.offer({ start: 0, end: 1, matches: Array.from({ length: 100 }, (_, index) => `y${index}`) });
  expect(frame(many, { columns: 10 }).rows.at(-1)).toBe("100 in all");
});

test("for any content, no control character reaches the terminal, and no row is too wide", () => {
  const content = fc.oneof(fc.string({ unit: "binary", maxLength: 80 }), fc.constant("\u001B[2J\u0007\u009B1m\t"));
  fc.assert(
    fc.property(content, content, fc.integer({ min: 10, max: 40 }), fc.boolean(), (text, match, columns, isOn) => {
      const editor = new Editor({ kind: "code", history: [text, match] });
      editor.press({ kind: "key", name: "up" });
      editor.offer({ start: 0, end: editor.cursor, matches: [match, `${match}x`, text] });
      const view = { ...plain, columns, prompt: match.slice(0, 5), palette: new Palette(isOn) };
      for (const row of createFrame(editor, view).rows) {
        // oxlint-disable-next-line no-control-regex -- colours are ours
        const bare = row.replaceAll(/\u001B\[[\d;]*m/g, "");
        // oxlint-disable-next-line no-control-regex -- nothing else is
        expect(bare).not.toMatch(/[\u0000-\u001F\u007F-\u009F]/);
        expect(textWidth(bare)).toBeLessThanOrEqual(columns + 2);
      }
    }),
    { numRuns: 300 },
  );
});
