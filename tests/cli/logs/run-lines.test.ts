import { expect, test } from "vitest";
import { RunLines } from "../../../src/cli/logs/run-lines.ts";
import { Palette } from "../../../src/cli/io/palette.ts";
import { callEnd, codeEnd, numberer, toRunId, type Bare } from "../../store/runs/recorded-run.ts";

function show(event: Bare): string {
  const lines = new RunLines(new Palette(false), { isFull: false });
  return lines.show(numberer(toRunId("r-1"))(event), []);
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
