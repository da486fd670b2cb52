import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { countCharacters, truncateText } from "../../../src/util/text/truncate-text.ts";

const hint = (from: number, to: number): string => `read ${from} to ${to}`;
const MARKER =
  /\n\[… (?<omitted>[\d,]+) of (?<total>[\d,]+) characters omitted(?:; read (?<from>\d+) to (?<to>\d+))?\]\n/;

/** As the worker cuts. */
function cutAsWorker(text: string, half: number): string {
  const characters = Array.from(text);
  const omitted = (characters.length - 2 * half).toLocaleString("en-US");
  return `${characters.slice(0, half).join("")}\n… ${omitted} characters omitted …\n${characters.slice(-half).join("")}`;
}

describe("truncateText()", () => {
  test("is never longer than it may be, and what it names is exactly what is missing", () => {
    const texts = fc.string({ unit: fc.constantFrom("a", "é", "漢", "😀", " "), minLength: 300, maxLength: 900 });
    fc.assert(
      fc.property(texts, fc.integer({ min: 100, max: 400 }), fc.boolean(), (text, maxCharacters, isTruncated) => {
        const given = isTruncated ? cutAsWorker(text, 120) : text;
        const shown = truncateText(given, { maxCharacters, hint, isTruncated });
        expect(shown.length).toBeLessThanOrEqual(maxCharacters);
        if (shown === text) return;
        const { omitted, total, from, to } = MARKER.exec(shown)?.groups ?? {};
        const [head = "", tail = ""] = shown
          .split(MARKER)
          .filter((_, at, parts) => at === 0 || at === parts.length - 1);
        expect(Number(total)).toBe(countCharacters(text));
        expect([Number(from), Number(to)]).toEqual([countCharacters(head), Number(total) - countCharacters(tail)]);
        expect(Number(omitted)).toBe(Number(to) - Number(from));
        expect([text.startsWith(head), text.endsWith(tail)]).toEqual([true, true]);
      }),
    );
  });

  test("leaves the hint out where there is no room for it, and all of it where there is none for anything", () => {
    expect(
      truncateText("x".repeat(500), { maxCharacters: 60, hint: () => "a long hint that does not fit any more" }),
    ).toBe(`${"x".repeat(15)}\n[… 475 of 500 characters omitted]\n${"x".repeat(10)}`);
    expect(truncateText("x".repeat(500), { maxCharacters: 10, hint })).toBe("");
    expect(truncateText("", { maxCharacters: -5, hint })).toBe("");
  });

  test("cleans each end by itself, so that neither touches the line between them", () => {
    const text = `${"a".repeat(100)}\u001B[3${"b".repeat(400)}\u001B[A\u001B[2K${"c".repeat(90)}`;
    expect(truncateText(text, { maxCharacters: 250, hint })).toMatch(
      /^a+b*\n\[… \d+ of \d+ characters omitted; read .*\]\nb*c+$/,
    );
  });
});
