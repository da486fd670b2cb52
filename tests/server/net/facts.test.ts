import { expect, test } from "vitest";
import { SessionBusyError, TokenBudgetExhausted, ToolNotFoundError, WorkerLostError } from "../../../src/errors.ts";
import { toBody, toProblem, toSummary } from "../../../src/server/net/problem.ts";

test("a problem has the fields of its error, in bodies and in summaries", () => {
  const problem = toProblem(new SessionBusyError({ sessionId: "demo", waiting: 128 }, { cause: new Error("secret") }));
  const facts = { sessionId: "demo", waiting: 128 };
  expect(toBody(problem, "req-1")).toMatchObject({ status: 429, code: "SESSION_BUSY", facts, requestId: "req-1" });
  expect(toSummary(problem)).toEqual({ status: 429, code: "SESSION_BUSY", detail: problem.detail, facts });
  expect(JSON.stringify(toBody(problem))).not.toContain("secret");
});

test("an error without fields, and one that is not ours, have no facts", () => {
  expect(toBody(toProblem(new WorkerLostError("gone")))).not.toHaveProperty("facts");
  expect(toBody(toProblem(Object.assign(new Error("x"), { path: "/etc" })))).not.toHaveProperty("facts");
});

test("facts are bounded, and only what JSON can express", () => {
  const large = new TokenBudgetExhausted({ used: Number.NaN, limit: 5, partial: "x".repeat(1_000_000) });
  Object.assign(large, { nested: { a: 1 }, call: () => 1, big: 10n });
  expect(toProblem(large).facts).toEqual({ limit: 5, partial: "x".repeat(100_000) });
});

test("lists are bounded, too", () => {
  const error = new SessionBusyError({ sessionId: "demo", waiting: 1 });
  const known = Array.from({ length: 1_000 }, () => "y".repeat(10_000));
  Object.assign(error, { known: new ToolNotFoundError({ tool: "t", known }).known });
  const listed = toProblem(error).facts?.["known"] as string[];
  expect(listed).toEqual(Array.from({ length: 100 }, () => "y".repeat(1_000)));
});
