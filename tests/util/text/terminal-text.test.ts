import { describe, expect, test } from "vitest";
import { TerminalFilter, toTerminalText } from "../../../src/util/text/terminal-text.ts";

describe("toTerminalText()", () => {
  test.each([
    ["plain text", "héllo 👋\tworld\r\nx\b", "héllo 👋\tworld\r\nx\b"],
    ["colours", "\u001B[1;31mred\u001B[38:2:1:2:3mx\u001B[m", "\u001B[1;31mred\u001B[38:2:1:2:3mx\u001B[m"],
    ["cursor movement and erasing", "a\u001B[2J\u001B[1;1Hb\u001B[Kc", "abc"],
    ["questions to the terminal", "a\u001B[6n\u001B[cb", "ab"],
    ["private modes", "a\u001B[?1049hb\u001B[>4;1mc", "abc"],
    ["a title, ended by BEL", "a\u001B]0;title\u0007b", "ab"],
    ["a link, ended by ST", "\u001B]8;;http://x\u001B\\text\u001B]8;;\u001B\\", "text"],
    ["a device string", "a\u001BPq#0\u001B\\b", "ab"],
    ["a string without end swallows its line only", "a\u001B]0;rest\nnext", "a\nnext"],
    ["one-byte controls", "a\u009B2Jb\u009D0;t\u009Cc\u0085d", "abcd"],
    ["other escapes", "a\u001Bcb\u001B(0c\u001B7d", "abcd"],
    ["bell, NUL, delete", "a\u0007\u0000\u007Fb", "ab"],
    ["an escape inside a sequence", "\u001B[3\u001B[31mx", "\u001B[31mx"],
    ["a sequence without end", `\u001B[${"1;".repeat(100)}mx`, expect.stringMatching(/x$/)],
  ])("%s", (_, text, safe) => {
    expect(toTerminalText(text)).toEqual(safe);
  });
});

test("TerminalFilter gives the same result wherever the text is split", () => {
  const text = "a\u001B[31mb\u001B]0;t\u0007c\u001B[2Jd\u001B]8;;u\u001B\\e\u009B1mf";
  for (let cut = 0; cut <= text.length; cut += 1) {
    const filter = new TerminalFilter();
    expect(filter.write(text.slice(0, cut)) + filter.write(text.slice(cut))).toBe(toTerminalText(text));
  }
});
