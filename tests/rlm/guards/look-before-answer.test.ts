import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { defineTool, type RLMOptions, type Runtime } from "../../internals.ts";
import { z } from "zod";
import { openTestRuntime } from "../../open.ts";
import { code, lastOf, scripted, stepOf, watch, type ScriptFunction } from "../scripting.ts";

let runtime: Runtime;
beforeAll(async () => {
  runtime = await openTestRuntime({ poolSize: 2 });
});
afterAll(() => runtime.close());

const context = `${"filler\n".repeat(100)}the number is 17`;
const run = (script: ScriptFunction, options: Partial<RLMOptions> = {}, request = {}) =>
  watch(scripted(runtime, script, options), { query: "Which number is it?", context, ...request });

/** Answers from the question alone, in text or in code, and looks only when it is told to. */
const guesses =
  (guess: string): ScriptFunction =>
  (request) =>
    lastOf(request).includes("you have not looked at `context`") ? code("FINAL(context[-2:])") : guess;

describe("an answer from a model that has not looked at its context", () => {
  test.each([
    ["in code", code("FINAL('42')")],
    ["in text", "FINAL(42)"],
    ["of no variable of it", code("x = '42'\nFINAL_VAR('x')")],
  ])("is sent back once, %s", async (_, guess) => {
    const { result } = await run(guesses(guess));
    expect(result).toMatchObject({ status: "final", answer: "17", usage: { total: { iterations: 2 } } });
  });

  test("is the answer of the run where the guard is off", async () => {
    const { result } = await run(guesses("FINAL(42)"), { strategy: { guards: { lookBeforeAnswer: false } } });
    expect(result).toMatchObject({ answer: "42", usage: { total: { iterations: 1 } } });
  });

  test("is accepted from a model that insists, and from one whose last block it is", async () => {
    expect((await run(() => "FINAL(42)")).result).toMatchObject({ answer: "42", usage: { total: { iterations: 2 } } });
    const last = await run(guesses("FINAL(42)"), { limits: { maxIterations: 1 } });
    expect(last.result).toMatchObject({ status: "final", answer: "42" });
  });
});

describe("an answer is accepted at once", () => {
  test.each([
    ["that uses the context", code("FINAL(len(context))")],
    ["that finds it without its name", code("FINAL(globals()['con' + 'text'])")],
    ["that names it", code("FINAL_VAR('context')")],
    ["that names it in text", "FINAL_VAR(context)"],
    ["from code that Python cannot parse", code("!true\nFINAL(1)")],
    ["that rests on a model", code("FINAL(llm_query('?'))")],
    ["that rests on a tool", code("FINAL(dice())")],
  ])("%s", async (_, reply) => {
    const dice = defineTool({ name: "dice", description: "Rolls.", schema: z.object({}), handler: () => 4 });
    const { result } = await run((request) => (request.model === "sub" ? "1" : reply), { tools: [dice] });
    expect(result).toMatchObject({ status: "final", usage: { total: { iterations: 1 } } });
  });

  test("after a block that has looked", async () => {
    const script: ScriptFunction = (request) => (stepOf(request) === 0 ? code("print(context[-20:])") : "FINAL(17)");
    expect((await run(script)).result).toMatchObject({ answer: "17", usage: { total: { iterations: 2 } } });
  });

  test.each([
    ["no context", { context: undefined }],
    ["a context that its description shows", { context: "17" }],
  ])("with %s", async (_, request) => {
    const { result } = await run(() => "FINAL(17)", {}, request);
    expect(result.usage.total.iterations).toBe(1);
  });
});
