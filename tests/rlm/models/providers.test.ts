// Whole runs over the protocols of providers, against a provider on loopback.

import { expect, test } from "vitest";
import { openMockProvider, type MockRequest } from "../../fixtures/mock-provider.ts";
import { openTestRuntime } from "../../open.ts";
import { code, watch } from "../scripting.ts";

const settings = { apiKey: "the-key", mode: "rlm", cache: false, log: false } as const;

test("a run asks each provider over its own protocol, in all roles", async () => {
  await using runtime = await openTestRuntime({ poolSize: 1 });
  await using mock = await openMockProvider();
  const address = `http://127.0.0.1:${mock.port}`;
  const ask = code("FINAL(llm_query('How many?'))");
  const reply = ({ body }: MockRequest) => ({ text: [JSON.stringify(body).includes("Question:") ? ask : "six"] });
  const providers = [
    ["gemini", address, "/v1beta/models/"],
    ["azure", `${address}?api-version=2024-10-21`, "/openai/deployments/"],
    ["openrouter", `${address}/api/v1`, "/api/v1/chat/completions"],
    ["mistral", address, "/v1/chat/completions"],
    ["ollama", address, "/api/chat"],
  ] as const;
  for (const [backend, baseUrl, path] of providers) {
    mock.plan(reply);
    const from = mock.requests.length;
    const { result } = await watch(runtime.rlm({ ...settings, backend, baseUrl, model: "big", subModel: "small" }));
    expect(result, backend).toMatchObject({ status: "final", answer: "six" });
    expect(result.usage.byModel, backend).toMatchObject({ big: { inputTokens: 10 }, small: { inputTokens: 10 } });
    expect(mock.requests.slice(from).map((request) => request.path.startsWith(path))).toEqual([true, true]);
  }
});
