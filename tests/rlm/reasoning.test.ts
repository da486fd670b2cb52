import { expect, test } from "vitest";
import { openMockProvider } from "../fixtures/mock-provider.ts";
import { openTestRuntime } from "../open.ts";
import { code, watch } from "./scripting.ts";

test("reasoning of an OpenAI model is counted, shown and charged, with the requested effort", async () => {
  await using runtime = await openTestRuntime({ poolSize: 1 });
  await using mock = await openMockProvider();
  const reasoning = ["They want ", "a number."];
  const usage = { input: 900, output: 320, reasoning: 300 };
  mock.plan({ reasoning, text: [code("FINAL(llm_query('How many?'))"), "\n"], usage }, { text: ["six"], usage });
  const rlm = runtime.rlm({
    backend: "openai",
    baseUrl: mock.url,
    apiKey: "sk-test",
    model: "gpt-5",
    reasoningEffort: "low",
    prices: { "gpt-5": { inputUsd: 1, outputUsd: 10, cacheReadUsd: 1, cacheWriteUsd: 1 } },
    mode: "rlm",
    cache: false,
    log: false,
  });
  const { result, events } = await watch(rlm);
  expect(result).toMatchObject({ status: "final", answer: "six" });
  expect(result.usage.total).toMatchObject({
    inputTokens: 1800,
    outputTokens: 640,
    reasoningTokens: 600,
    tokens: 2440,
    estimatedTokens: 0,
    costUsd: (1800 + 640 * 10) / 1e6,
  });
  const [call] = events.filter((event) => event.type === "model-call-end");
  expect(call).toMatchObject({ reasoning: "They want a number.", usage: { reasoningTokens: 300 } });
  expect(mock.requests.map(({ body }) => body["reasoning"])).toEqual([{ effort: "low" }, { effort: "low" }]);
  // Reasoning is not part of the conversation: the next request does not contain it.
  expect(JSON.stringify(mock.requests.map(({ body }) => body))).not.toContain("They want");
});
