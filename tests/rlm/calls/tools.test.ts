import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { defineTool, type Runtime, type Tool } from "../../internals.ts";
import { z } from "zod";
import { openTestRuntime } from "../../open.ts";
import { code, questionOf, type ScriptFunction, scripted, stepOf, watch } from "../scripting.ts";

let runtime: Runtime;
beforeAll(async () => {
  runtime = await openTestRuntime({ poolSize: 2 });
});
afterAll(() => runtime.close());

const toTool = (name: string, handler: Tool["handler"]): Tool =>
  defineTool({ name, description: `Does ${name}.`, schema: z.object({}), handler });

/** What the code saw of each call: the value, or the name and message of the exception. */
async function outcomes(tools: readonly Tool[], calls: readonly string[]): Promise<unknown> {
  const attempts = calls.map(
    (call) => `try: seen.append(${call})\nexcept Exception as e: seen.append([type(e).__name__, str(e)])`,
  );
  const script = [code(`seen = []\n${attempts.join("\n")}`), code("FINAL(seen)")];
  const { result } = await watch(scripted(runtime, script, { tools }));
  return result.data;
}

test("a tool that fails, or whose result is no JSON or too large, raises in the code", async () => {
  const circle: Record<string, unknown> = {};
  circle["self"] = circle;
  const tools = [
    toTool("fails", () => {
      throw new RangeError("out of range");
    }),
    toTool("rejects", async () => Promise.reject(new Error("later"))),
    toTool("circles", () => circle),
    toTool("big", () => 10n),
    toTool("huge", () => "x".repeat(20_000_000)),
    toTool("nothing", () => undefined),
    toTool("odd", () => ({ a: undefined, n: Number.NaN, at: new Date(0) })),
  ];
  expect(
    await outcomes(tools, ["fails()", "rejects()", "circles()", "big()", "huge()", "nothing()", "odd()", "fails(1)"]),
  ).toEqual([
    ["ToolError", "out of range"],
    ["ToolError", "later"],
    ["ToolError", expect.stringContaining("nothing that JSON can say")],
    ["ToolError", expect.stringContaining("nothing that JSON can say")],
    ["ToolError", expect.stringContaining("20000002 characters")],
    null,
    { n: null, at: "1970-01-01T00:00:00.000Z" },
    ["TypeError", expect.stringContaining("0 arguments")],
  ]);
});

test("a tool that never returns ends with the run", async () => {
  const controller = new AbortController();
  let heard = false;
  const never = toTool("never", (_, { signal }) => {
    signal.addEventListener("abort", () => (heard = true));
    controller.abort();
    return new Promise(() => {});
  });
  const { result, events } = await watch(scripted(runtime, [code("never()")], { tools: [never] }), {
    signal: controller.signal,
  });
  expect(result.status).toBe("cancelled");
  expect(heard).toBe(true);
  expect(events.map(({ type }) => type)).toContain("tool-call-end");
});

test("parallel calls are kept apart", async () => {
  const one = toTool("one", async () => 1);
  const parallel =
    "import concurrent.futures as c\nwith c.ThreadPoolExecutor(8) as p: r = list(p.map(lambda _: one(), range(20)))";
  const { events, result } = await watch(scripted(runtime, [code(parallel), code("FINAL(sum(r))")], { tools: [one] }));
  expect(result.data).toBe(20);
  const ids = (type: string): unknown[] =>
    events.flatMap((event) => (event.type === type && "callId" in event ? [event.callId] : []));
  expect(new Set(ids("tool-call-start")).size).toBe(20);
  expect(new Set(ids("tool-call-end"))).toEqual(new Set(ids("tool-call-start")));
});

test.each(["FINAL", "llm_query", "chunk", "context", "_out", "class", "a-b", ""])("no tool is named '%s'", (name) => {
  expect(() => scripted(runtime, [], { tools: [toTool(name, () => 1)] })).toThrow(RangeError);
});

test.each(["FINAL", "_out", "for", "a b"])("no variable of the context is named '%s'", (name) => {
  expect(() => scripted(runtime, []).run({ query: "?", context: { [name]: "x", other: "y" } })).toThrow(RangeError);
});

describe("a child", () => {
  const a = toTool("a", () => "A");
  const b = toTool("b", () => "B");
  const script: ScriptFunction = (request) => {
    const question = questionOf(request);
    if (question === "look") return code("FINAL([n in globals() for n in 'ab'])");
    if (question === "reach") return code("import rlm_host\nFINAL(rlm_host.call('tool', tool='b', args={}))");
    if (stepOf(request) > 0) return code("FINAL(seen)");
    return code(
      "seen = [rlm_query('look').data, rlm_query('look', tools=['a']).data, rlm_query('look', tools=[]).data, rlm_query('reach', tools=['a']).data]\ntry: rlm_query('look', tools=['a', 'nope'])\nexcept LLMError as e: seen.append(str(e))",
    );
  };

  test("has the tools that it is granted, and no others", async () => {
    const { result } = await watch(scripted(runtime, script, { tools: [a, b] }));
    expect(result.data).toEqual([
      [true, true],
      [true, false],
      [false, false],
      { ok: false, kind: "ToolNotFoundError", error: expect.stringContaining("'b'") },
      expect.stringContaining("'nope'"),
    ]);
  });
});

test("with tools a small question is not sent straight to the model", async () => {
  const { result } = await watch(
    scripted(runtime, [code("FINAL(a())")], { mode: "auto", tools: [toTool("a", () => "A")] }),
  );
  expect(result).toMatchObject({ answer: "A", usage: { total: { toolCalls: 1 } } });
});
