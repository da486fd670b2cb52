import { readFileSync } from "node:fs";
import { join } from "node:path";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { cleanTerminalText } from "../../../src/util/text/clean-terminal-text.ts";

const FIXTURES = join(import.meta.dirname, "../../fixtures/terminal");

describe("cleanTerminalText()", () => {
  test.each([
    ["plain text", "héllo 👋\tworld\n\nx", "héllo 👋\tworld\n\nx"],
    ["blanks at the end of lines", "a  \n\tb \u001B[m\n", "a  \n\tb \n"],
    ["colours", "\u001B[1;31mred\u001B[38:2:1:2:3m x\u001B[m", "red x"],
    ["a link, ended by ST or BEL", "\u001B]8;;http://x\u001B\\a\u001B]8;;\u0007b", "ab"],
    ["a device string", "a\u001BPq#0\u001B\\b", "ab"],
    ["single escapes and character sets", "a\u001Bcb\u001B(0c\u001B7d\u001B=e", "abcde"],
    ["one-byte controls", "a\u009B1mb\u009D0;t\u009Cc\u0085d", "abcd"],
    ["bell, NUL, form feed, delete", "a\u0007\u0000\f\v\u007Fb", "ab"],
    ["lines that end as on Windows", "a\r\nb\r\r\nc\r\n", "a\nb\nc\n"],
    ["a progress bar", " 10%|#   |\r 50%|##  |\r100%|####|\ndone\n", "100%|####|\ndone\n"],
    ["a bar that waits at the start of its line", "50%\r", "50%"],
    ["a shorter state over a longer one, as it would stand", "100%\rok", "ok0%"],
    ["a state that wipes the last with blanks", "downloading\rok         \nx", "ok\nx"],
    ["erasing to the end of the line", "downloading\rok\u001B[K\n", "ok\n"],
    ["erasing the line, before and after the return", "abc\u001B[2K\rx\nabc\r\u001B[2Ky", "x\ny"],
    ["backspace", "abc\b\bX\b\b\b\b\bY\n|\b/\b-\b\\", "YXc\n\\"],
    ["bars one above the other", "a 0%\nb 0%\u001B[A\ra 9%\nb 9%\n\u001B[2A\ra 99%\n\nend", "a 99%\nb 9%\nend"],
    ["several lines drawn again", "1\n2\n3\n\u001B[3F\u001B[Jone\ntwo\n", "one\ntwo\n"],
    ["columns", "abc\u001B[2GX\u001B[1DY\u001B[9Cend", "aYc end"],
    ["clearing the screen loses nothing", "a\n\u001B[H\u001B[2J\u001B[3Jb", "a\nb"],
    ["movement out of the text", "a\u001B[99A\u001B[99D\u001B[99B\u001B[99999999999C\nb", "a\nb"],
  ])("%s", (_, text, clean) => {
    expect(cleanTerminalText(text)).toBe(clean);
  });

  test.each(["git-log", "ls-color", "pip", "pytest", "spinner", "tqdm", "tqdm-nested"])(
    "shows what a terminal shows in the end of %s",
    (name) => {
      const written = readFileSync(join(FIXTURES, `${name}.written.txt`), "utf8");
      expect(cleanTerminalText(written)).toBe(readFileSync(join(FIXTURES, `${name}.shown.txt`), "utf8"));
    },
  );

  const command = fc
    .constantFrom("A", "B", "C", "D", "E", "F", "G", "J", "K", "m")
    .chain((final) => fc.nat(99).map((n) => `\u001B[${n}${final}`));
  const part = fc.oneof(fc.string({ unit: "binary" }), command, fc.constantFrom("\r", "\n", "\b", "\u001B", "\u001B]"));
  const written = fc.array(part, { maxLength: 60 }).map((parts) => parts.join(""));

  test("leaves no control character, never makes text longer, and is idempotent", () => {
    fc.assert(
      fc.property(written, (text) => {
        const clean = cleanTerminalText(text);
        // oxlint-disable-next-line no-control-regex
        expect(clean).not.toMatch(/[\u0000-\u0008\u000B-\u001F\u007F-\u009F]/);
        expect(clean.length).toBeLessThanOrEqual(text.length);
        expect(cleanTerminalText(clean)).toBe(clean);
      }),
    );
  });

  // Each of these would take hours in quadratic time.
  test.each([
    ["a sequence without end", `\u001B[${"1;".repeat(500_000)}`],
    ["sequences without end", "\u001B[".repeat(500_000)],
    ["strings without end", "\u001B]8;;".repeat(200_000)],
    ["a long line, erased again and again", "x".repeat(500_000) + "\u001B[2Ky\u001B[1K".repeat(60_000)],
    ["a long line, gone back to again and again", `${"x".repeat(500_000)}\n${"\u001B[A\ry\n".repeat(80_000)}`],
    ["movement far to the right", "\u001B[999999Cx".repeat(100_000)],
    ["movement far down and up", "\u001B[999999Bx\u001B[999999A\n".repeat(50_000)],
    ["returns", "x\r".repeat(500_000)],
  ])("takes linear time for %s", (_, text) => {
    expect(cleanTerminalText(text).length).toBeLessThanOrEqual(text.length);
  });
});
