// Models whose server leaves their reasoning in the text. What they consider there is neither run nor taken for an answer.

import { afterAll, beforeAll, expect, test } from "vitest";
import type { Runtime } from "../../internals.ts";
import { openTestRuntime } from "../../open.ts";
import { code, lastOf, scripted, stepOf, watch } from "../scripting.ts";

let runtime: Runtime;
beforeAll(async () => {
  runtime = await openTestRuntime({ poolSize: 1 });
});
afterAll(() => runtime.close());

test.each([
  `<think>I could try\n${code("FINAL('guess')")}\nor\nFINAL(guess)\n</think>\n${code("FINAL('known')")}`,
  `Okay, I could try\n${code("FINAL('guess')")}\nor not.\n</think>\n${code("FINAL('known')")}`,
  `[THINK]FINAL(guess)\n[/THINK]\n${code("FINAL('known')")}`,
  `<|channel|>analysis<|message|>FINAL(guess)\n<|end|><|start|>assistant<|channel|>final<|message|>${code("FINAL('known')")}`,
])("reasoning in the text of a reply is not followed: %j", async (reply) => {
  const { result, events } = await watch(scripted(runtime, (request) => (stepOf(request) > 0 ? "FINAL(late)" : reply)));
  expect(result).toMatchObject({ status: "final", answer: "known" });
  const [call] = events.filter((event) => event.type === "model-call-end");
  expect(call).toMatchObject({
    reasoning: expect.stringContaining("guess"),
    text: expect.not.stringContaining("guess"),
  });
});

test("reasoning of a sub-model is no part of its answer, and text about markers is", async () => {
  const answers = [
    "<think>Rome?\nNo.</think>\n\nParis",
    "Lyon? No.</think>\n\nParis",
    "`<think>` opens it, `</think>` closes it",
  ];
  const script = [code("FINAL([str(a) for a in llm_query_batched(['0', '1', '2'], model='other')])")];
  const rlm = scripted(runtime, (request) =>
    request.model === "other" ? (answers[Number(lastOf(request))] ?? "") : (script[stepOf(request)] ?? ""),
  );
  const { result } = await watch(rlm);
  expect(result.data).toEqual(["Paris", "Paris", "`<think>` opens it, `</think>` closes it"]);
});

test("a reply that used all its tokens on reasoning is told so", async () => {
  const { result, observations } = await watch(
    scripted(runtime, (request) =>
      stepOf(request) > 0 ? code("FINAL(1)") : { text: "<think>I could\n", finishReason: "length" },
    ),
  );
  expect(observations[0]).toContain("limit of tokens on reasoning");
  expect(result.data).toBe(1);
});
