import { afterAll, beforeAll, expect, test } from "vitest";
import type { RunEvent, Runtime } from "../../internals.ts";
import { openTestRuntime } from "../../open.ts";
import { code, lastOf, scripted, watch } from "../scripting.ts";

let runtime: Runtime;
beforeAll(async () => {
  runtime = await openTestRuntime({ poolSize: 2 });
});
afterAll(() => runtime.close());

const DISPATCHER = { firstDelayMs: 1 };

function only<Type extends RunEvent["type"]>(events: readonly RunEvent[], type: Type) {
  return events.filter((event): event is Extract<RunEvent, { type: Type }> => event.type === type);
}

test("a call that is attempted again says why and when, and still succeeds", async () => {
  let asked = 0;
  const rlm = scripted(
    runtime,
    (request) => {
      if (request.model === "root") return code("FINAL(llm_query('x'))");
      asked += 1;
      if (asked === 1)
        return {
          error: { fault: "rate-limit", status: 429, why: "too many requests", retryable: true, retryAfterMs: 20 },
        };
      return asked === 2 ? { text: "half", error: { fault: "connection", retryable: true } } : "whole";
    },
    { dispatcher: DISPATCHER },
  );
  const { events, result } = await watch(rlm);
  expect(result).toMatchObject({ status: "final", answer: "whole" });
  const [call] = only(events, "model-call-start").filter(({ purpose }) => purpose === "query");
  const facts = { nodeId: "n0", callId: call?.callId };
  expect(only(events, "model-call-wait")).toMatchObject([
    {
      ...facts,
      fault: "rate-limit",
      delayMs: expect.toSatisfy((ms: number) => ms > 0 && ms <= 20),
      attempts: 1,
      error: "Cannot get an answer from scripted: too many requests",
    },
    { ...facts, fault: "connection", attempts: 2 },
  ]);
  expect(call).not.toHaveProperty("batch");
});

test("a call that would have to wait for longer than the run lasts fails at once, and says so", async () => {
  const later = { fault: "rate-limit", status: 429, retryable: true, retryAfterMs: 3_000_000 } as const;
  const caught = "try: llm_query('x')\nexcept LLMError as error: FINAL(str(error))";
  const rlm = scripted(runtime, ({ model }) => (model === "root" ? code(caught) : { error: later }));
  const { events, result } = await watch(rlm);
  expect(result.answer).toMatch(/it asks to wait another 3000 s, but only 1[56]\d\d s are left/);
  expect(only(events, "model-call-wait")).toEqual([]);
});

test("the calls of a batch have their numbers, and so have the nodes of one", async () => {
  const rlm = scripted(runtime, (request) => {
    if (request.model === "sub") return `${lastOf(request)}!`;
    if (lastOf(request).includes("child")) return code("FINAL('c')");
    return code(
      "a = llm_query_batched(['x', 'y', 'z'])\nb = rlm_query_batched([('child', None), ('child', None)])\nFINAL(','.join([*a, *b]))",
    );
  });
  const { events, result } = await watch(rlm);
  expect(result).toMatchObject({ status: "final", answer: "x!,y!,z!,c,c" });
  const calls = only(events, "model-call-start").flatMap(({ batch }) => (batch === undefined ? [] : [batch]));
  expect(calls).toEqual([1, 2, 3].map((ordinal) => ({ id: "b1", ordinal, size: 3 })));
  const nodes = only(events, "node-start").map(({ batch }) => batch);
  expect(nodes).toEqual([undefined, { id: "b2", ordinal: 1, size: 2 }, { id: "b2", ordinal: 2, size: 2 }]);
});
