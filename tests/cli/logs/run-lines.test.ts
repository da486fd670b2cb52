import { expect, test } from "vitest";
import { RunLines } from "../../../src/cli/logs/run-lines.ts";
import { Palette } from "../../../src/cli/io/palette.ts";
import { callEnd, callStart, codeEnd, numberer, toRunId, type Bare } from "../../store/runs/recorded-run.ts";

function show(event: Bare): string {
  const lines = new RunLines(new Palette(false), { isFull: false });
  return lines.show(numberer(toRunId("r-1"))(event));
}

test("code that ends with FINAL() shows no error", () => {
  const bare = codeEnd("n0", 1, "six\n") as Extract<Bare, { type: "code-end" }>;
  const error = { name: "Final", value: "", traceback: "Traceback: rlm_session.Final" };
  const { value: _, ...fields } = bare.result as Extract<typeof bare.result, { status: "ok" }>;
  const event = { ...bare, result: { ...fields, status: "error" as const, error } };
  expect(show(event)).toBe("  n0 output  answer, 3 ms\n    six\n");
  const failed = { ...event, result: { ...event.result, error: { ...error, name: "ValueError", traceback: "no" } } };
  expect(show(failed)).toBe("  n0 output  error, 3 ms\n    six\n    no\n");
});

test("reasoning tokens and estimates are shown separately", () => {
  const bare = callEnd({ nodeId: "n0", callId: "c1", text: "" }) as Extract<Bare, { type: "model-call-end" }>;
  const usage = { ...bare.usage, outputTokens: 2000, reasoningTokens: 1500, estimatedTokens: 2000 };
  expect(show({ ...bare, usage })).toContain("100 in, 2,000 out (1,500 reasoning, 2,000 estimated), $0.0012");
});

test("what code printed on both streams is shown in print order", () => {
  const bare = codeEnd("n0", 1, "one\nthree\n") as Extract<Bare, { type: "code-end" }>;
  const result = { ...bare.result, stderr: "two\n" };
  const order = [
    { stream: "stdout" as const, characters: 4 },
    { stream: "stderr" as const, characters: 4 },
    { stream: "stdout" as const, characters: 6 },
  ];
  expect(show({ ...bare, result, order })).toMatch(/one\n\s+two\n\s+three\n/);
  expect(show({ ...bare, result })).toMatch(/one\n\s+three\n\s+two\n/);
});

function query(ordinal: number): Bare {
  const batch = { id: "b1", ordinal, size: 200 };
  return callStart({ nodeId: "n0", callId: `c${ordinal}`, purpose: "query", model: "small", batch });
}

test("a call of code has its number in the batch, and its prompt and its answer on one line each", () => {
  const lines = new RunLines(new Palette(false), { isFull: false, columns: 60 });
  const number = numberer(toRunId("r-1"));
  expect(lines.show(number(query(37)), { prompt: `Copy every line.\n\n\u001B[2JDay 1: ${"fog ".repeat(500)}` })).toBe(
    "",
  );
  expect(lines.show(number(query(38)), { prompt: "Short?" })).toBe("");
  const answer = "Two lines:\n- one\n- two";
  expect(lines.show(number(callEnd({ nodeId: "n0", callId: "c37", text: answer, durationMs: 400 })))).toBe(
    [
      "  n0 query 37 of 200  small  100 in, 20 out, $0.0012, 400 ms",
      "    prompt  Copy every line. Day 1: fog fog fog fog fog fog…",
      "    answer  Two lines: - one - two",
      "",
    ].join("\n"),
  );
  const failed = callEnd({ nodeId: "n0", callId: "c38", ok: false, text: "", error: "no", durationMs: 400 });
  expect(lines.show(number(failed))).toMatch(/^ {2}n0 query 38 of 200 .*, failed: no\n {4}prompt {2}Short\?\n$/);
});

test("with isFull the whole prompt and answer of such a call are shown, with its number", () => {
  const lines = new RunLines(new Palette(false), { isFull: true });
  const number = numberer(toRunId("r-1"));
  const content = `Copy\n${"fog ".repeat(500)}end`;
  const asked = { added: [{ role: "user", content }], prompt: "Copy" };
  const start = lines.show(number(query(37)), asked);
  expect(start).toMatch(/^ {2}n0 user to small, 37 of 200\n {4}Copy\n {4}fog [^…]* end\n$/);
  const end = lines.show(number(callEnd({ nodeId: "n0", callId: "c37", text: "a\nb\nc\nd\ne\nf" })));
  expect(end).toMatch(/n0 query 37 of 200 .*\n {4}a\n {4}b\n {4}c\n {4}d\n {4}e\n {4}f\n$/);
});

test("calls that wait for the same reason take one line, unless all is shown", () => {
  const wait = (callId: string, fault = "rate-limit"): Bare => {
    return { type: "model-call-wait", nodeId: "n0", callId, fault, delayMs: 1500, attempts: 1, error: "429" };
  };
  const shownBy = (isFull: boolean): string => {
    const lines = new RunLines(new Palette(false), { isFull });
    const number = numberer(toRunId("r-1"));
    const events = [
      wait("c1"),
      wait("c2"),
      wait("c3", "server"),
      callEnd({ nodeId: "n0", callId: "c9" }),
      wait("c3", "server"),
    ];
    return events.map((event) => lines.show(number(event))).join("");
  };
  expect(shownBy(false).match(/n0 wait .*/g)).toEqual([
    "n0 wait  rate-limited, trying again in 2 s",
    "n0 wait  the provider failed, trying again in 2 s",
    "n0 wait  the provider failed, trying again in 2 s",
  ]);
  expect(shownBy(true).match(/n0 wait .*\n +429/g)?.length).toBe(4);
});

test("a compaction has its line; the strategy of the root is shown with isFull", () => {
  const strategy = { name: "small\nx", digest: "0123456789abcdef" };
  const limits = {};
  const models = { model: "m", subModel: "m", childModel: "m", extractModel: null };
  const start = { type: "run-start", query: "?", ...models, limits, maxDepth: 4, strategy } as const;
  const tokens = { tokensBefore: 6_100, tokensAfter: 2_050 };
  const compaction = { type: "compaction", nodeId: "n0", step: 9, replaced: 5, ...tokens } as const;
  const shownBy = (isFull: boolean): string => {
    const lines = new RunLines(new Palette(false), { isFull });
    const number = numberer(toRunId("r-1"));
    return [start, compaction].map((event) => lines.show(number(event))).join("");
  };
  const line = "  n0 compaction  5 steps are in a summary now: about 6,100 tokens become 2,050\n";
  expect(shownBy(false)).toBe(line);
  expect(shownBy(true)).toBe(`strategy  small x 0123456789abcdef\n${line}`);
});
