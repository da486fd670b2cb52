// Models that call tools in place of writing code, over a provider.

import { afterAll, beforeAll, expect, test } from "vitest";
import { openMockProvider, type MockProvider, type MockReply } from "../../fixtures/mock-provider.ts";
import type { Runtime } from "../../internals.ts";
import { openTestRuntime } from "../../open.ts";
import { code, isEnd, scripted, watch, type Watched } from "../scripting.ts";

let runtime: Runtime;
let mock: MockProvider;
beforeAll(async () => {
  runtime = await openTestRuntime({ poolSize: 1 });
  mock = await openMockProvider();
});
afterAll(async () => {
  await mock[Symbol.asyncDispose]();
  await runtime.close();
});

const calling = (name: string, args: object): MockReply => ({
  first: {
    choices: [{ index: 0, delta: { tool_calls: [{ index: 0, function: { name, arguments: JSON.stringify(args) } }] } }],
  },
});

function run(...replies: MockReply[]): Promise<Watched> {
  mock.plan(...replies);
  const dispatcher = { maxTries: 1 };
  const options = {
    backend: "openai-compatible",
    baseUrl: mock.url,
    model: "a-model",
    mode: "rlm",
    cache: false,
    log: false,
    dispatcher,
  } as const;
  return watch(runtime.rlm(options));
}

test("a call of a Python tool is run as a block of code", async () => {
  const { result, events } = await run(calling("python", { code: "FINAL(6 * 7)" }));
  expect(result).toMatchObject({ status: "final", data: 42 });
  const [end] = events.filter((event) => event.type === "model-call-end");
  expect(end?.type === "model-call-end" && end.text).toContain(
    '{"name": "python", "arguments": {"code":"FINAL(6 * 7)"}}',
  );
});

test("a call of another tool is answered with what there is, and is seen by the model later", async () => {
  const { result, observations } = await run(calling("get_weather", { city: "Paris" }), { text: [code("FINAL(1)")] });
  expect(observations[0]).toContain("you called the tool 'get_weather', and there are no tools");
  expect(result.data).toBe(1);
  expect(JSON.stringify(mock.requests.at(-1)?.body)).toContain("get_weather");
});

test("a query that is answered with a call fails with that reason", async () => {
  const { result } = await run(
    { text: [code("try: llm_query('x')\nexcept LLMError as error: FINAL([error.kind, str(error)])")] },
    calling("search", {}),
  );
  expect(result.data).toEqual([
    "empty",
    expect.stringContaining("the model called the tool 'search' in place of an answer"),
  ]);
});

test("a call at a limit is no answer", async () => {
  const call = '<tool_call>\n{"name": "python", "arguments": {"code": "print(1)"}}\n</tool_call>';
  const rlm = scripted(runtime, (request) => (isEnd(request) ? call : code("1")), { limits: { maxIterations: 1 } });
  expect((await watch(rlm)).result).toMatchObject({ status: "failed", answer: null });
});
