import { describe, expect, test } from "vitest";
import { cutText, markMatches, reachOf } from "../../../web/src/runs/transcript/cut-text.ts";
import { printedParts } from "../../../web/src/runs/model/print-order.ts";
import { withoutCode } from "../../../web/src/runs/model/row-text.ts";
import { escapeJSON } from "../../../web/src/state/runs/export/export-file.ts";
import { NO_TEXT, toRunText } from "../../../web/src/state/runs/run-text.ts";
import { toPrompt } from "../../../web/src/state/runs/run-texts.ts";
import { timeOf } from "../time-of.ts";

const LIMITS = { head: 100, tail: 40 };

describe("a long text", () => {
  test("that fits is whole", () => {
    expect(cutText("x".repeat(140), LIMITS)).toEqual({ head: "x".repeat(140), hidden: 0, tail: "" });
  });

  test("shows its head and its tail, and says how much is between", () => {
    const text = Array.from({ length: 100 }, (_, line) => `line ${line}`).join("\n");
    const { head, hidden, tail } = cutText(text, LIMITS);
    expect(head.endsWith("\n")).toBe(true);
    expect(text.startsWith(head)).toBe(true);
    expect(text.endsWith(tail)).toBe(true);
    expect(head.length + hidden + tail.length).toBe(text.length);
    expect(head.length).toBeLessThanOrEqual(101);
  });

  test("shows more of the middle on demand", () => {
    const text = "x".repeat(1_000);
    expect(cutText(text, LIMITS, 300).head).toHaveLength(400);
    expect(cutText(text, LIMITS, 900)).toEqual({ head: text, hidden: 0, tail: "" });
  });

  test("is never cut between the halves of a character", () => {
    const { head, tail } = cutText("😀".repeat(500), { head: 101, tail: 41 });
    for (const part of [head, tail]) expect(part).not.toMatch(/\p{Surrogate}/u);
  });

  test("reaches as far as the first match", () => {
    const text = `${"x".repeat(5_000)}NEEDLE${"y".repeat(5_000)}`;
    const { head } = cutText(text, LIMITS, reachOf(text, "needle", LIMITS.head));
    expect(head).toContain("NEEDLE");
    expect(reachOf(text, "nothing", LIMITS.head)).toBe(0);
  });
});

test("matches are marked without regard to case, and what is sought is no pattern", () => {
  expect(markMatches("A.b a.B aXb", "a.b")).toEqual([
    { text: "A.b", isMatch: true },
    { text: " ", isMatch: false },
    { text: "a.B", isMatch: true },
    { text: " aXb", isMatch: false },
  ]);
  expect(markMatches("(", "(")).toEqual([{ text: "(", isMatch: true }]);
});

describe("what code printed", () => {
  const [stdout, stderr] = [toRunText("one\nthree\n"), toRunText("two\n")];

  test("is in print order", () => {
    const order = [
      { stream: "stdout", characters: 4 },
      { stream: "stderr", characters: 4 },
      { stream: "stdout", characters: 6 },
    ];
    const parts = printedParts(stdout, stderr, order);
    expect(parts.map(({ stream, text }) => [stream, text.kind === "whole" && text.text])).toEqual([
      ["stdout", "one\n"],
      ["stderr", "two\n"],
      ["stdout", "three\n"],
    ]);
  });

  test("loses nothing where the order does not cover it", () => {
    const parts = printedParts(stdout, stderr, [{ stream: "stdout", characters: 4 }]);
    expect(parts.map(({ text }) => text.kind === "whole" && text.text).join("")).toBe("one\nthree\ntwo\n");
  });

  test("comes stream by stream without an order", () => {
    expect(printedParts(stdout, NO_TEXT, undefined).map(({ stream }) => stream)).toEqual(["stdout"]);
  });
});

test("a prompt is what was added, and where the rest is", () => {
  const messages = [
    { $same: "c1", count: 2 },
    { role: "user", content: { $blob: "ab", bytes: 5_000, head: "It begins" } },
  ];
  expect(toPrompt({ type: "model-call-start", seq: 1, messages })).toEqual({
    earlier: { callId: "c1", count: 2 },
    added: [{ role: "user", text: { kind: "blob", hash: "ab", bytes: 5_000, head: "It begins" } }],
  });
  expect(toPrompt({ type: "model-call-start", seq: 1, messages: "damaged" })).toEqual({ earlier: null, added: [] });
});

test("a reply is known by what it says before its code", () => {
  expect(withoutCode("I look first.\n\n```repl\nprint(1)\n```")).toBe("I look first.");
  expect(withoutCode("```python\nprint(1)\n```")).toBe("");
  expect(withoutCode("No code at all")).toBe("No code at all");
  expect(withoutCode("I look first.\n \n\t```repl\nprint(1)\n```")).toBe("I look first.");
  expect(timeOf(() => void withoutCode(`${"\n".repeat(200_000)}x`))).toBeLessThan(2_000);
});

test("no text in an exported file can end the element that it is in", () => {
  const hostile = { text: '</script><script>alert(1)</script><!-- \u2028 "' };
  const json = escapeJSON(JSON.stringify(hostile));
  expect(json).not.toMatch(/[<\u2028]/);
  expect(JSON.parse(json)).toEqual(hostile);
});
