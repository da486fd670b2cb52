import { describe, expect, test } from "vitest";
import type { BackendRequest, StreamPart } from "../../../../src/backends/backend.ts";
import { openBackend } from "../../../../src/backends/open-backend.ts";
import {
  openMockProvider,
  type MockProvider,
  type MockReply,
  type MockRequest,
} from "../../../fixtures/mock-provider.ts";
import { aRequest } from "../../describe-backend.ts";

const never = new AbortController().signal;

describe("azure", () => {
  test.each([
    ["/openai/v1", "/openai/v1/chat/completions"],
    ["/openai/v1?api-version=preview", "/openai/v1/chat/completions?api-version=preview"],
    ["?api-version=2024-10-21", "/openai/deployments/my%2Fgpt/chat/completions?api-version=2024-10-21"],
    [
      "/openai/deployments/other?api-version=2024-10-21",
      "/openai/deployments/other/chat/completions?api-version=2024-10-21",
    ],
  ])("at %s is asked at %s", async (path, expected) => {
    await using mock = await openMockProvider();
    const { path: asked, headers } = await ask("azure", mock, { path, request: { model: "my/gpt" } });
    expect(asked).toBe(expected);
    expect(headers).toMatchObject({ "api-key": "the-key" });
    expect(headers.authorization).toBeUndefined();
  });

  test("reports its filter, of the prompt and of the answer", async () => {
    await using mock = await openMockProvider();
    const blocked = { code: "content_filter", message: "The response was filtered", status: 400, type: null };
    mock.plan({ status: 400, body: JSON.stringify({ error: blocked }) });
    await expect(partsOf("azure", mock)).rejects.toMatchObject({ fault: "refusal", retryable: false });
    mock.plan({ text: ["a"], finish: "refusal" });
    expect((await partsOf("azure", mock)).at(-1)).toMatchObject({ type: "end", finishReason: "refusal" });
  });

  test("may begin with what its filter says of the prompt", async () => {
    await using mock = await openMockProvider();
    const filtered = { prompt_filter_results: [{ prompt_index: 0, content_filter_results: {} }], choices: [] };
    mock.plan({ first: filtered, text: ["a"] });
    expect((await partsOf("azure", mock)).map(({ type }) => type)).toEqual(["response-start", "text-delta", "end"]);
  });
});

describe("openrouter", () => {
  const messages = [
    { role: "system", content: "rules" },
    { role: "user", content: "question" },
    { role: "assistant", content: "code" },
  ] as const;
  const request = { messages, stableMessages: 2 };

  test("is sent the effort in its own field", async () => {
    await using mock = await openMockProvider();
    const { body } = await ask("openrouter", mock, { request: { reasoningEffort: "low" } });
    expect(body).toMatchObject({ reasoning: { effort: "low" } });
    expect(body).not.toHaveProperty("reasoning_effort");
  });

  test("is sent marks where the prompt cache of a model of Anthropic may end", async () => {
    await using mock = await openMockProvider();
    const model = "anthropic/claude-sonnet-4.5";
    const { body } = await ask("openrouter", mock, { request: { ...request, model } });
    const mark = { cache_control: { type: "ephemeral" } };
    expect(body["messages"]).toEqual([
      { role: "system", content: [{ type: "text", text: "rules", ...mark }] },
      { role: "user", content: [{ type: "text", text: "question", ...mark }] },
      { role: "assistant", content: "code" },
    ]);
    const plain = await ask("openrouter", mock, { request: { ...request, model: "google/gemini-2.5-pro" } });
    expect(plain.body["messages"]).toEqual(messages);
  });

  test.each<[string, MockReply, object]>([
    [
      "an error within the answer",
      { text: ["a"], last: { choices: [{ delta: { content: "" }, finish_reason: "error" }] } },
      { fault: "server", retryable: true },
    ],
    [
      "an error within the answer that has a code",
      {
        text: ["a"],
        last: {
          error: { code: 429, message: "Rate limited upstream" },
          choices: [{ delta: {}, finish_reason: "error" }],
        },
      },
      { fault: "rate-limit", status: 429, retryable: true },
    ],
    [
      "no credits",
      { status: 402, body: JSON.stringify({ error: { code: 402, message: "Insufficient credits" } }) },
      { fault: "rate-limit", status: 402, retryable: false },
    ],
    [
      "a moderated request",
      {
        status: 403,
        body: JSON.stringify({
          error: { code: 403, message: "Your input was flagged", metadata: { reasons: ["violence"] } },
        }),
      },
      { fault: "refusal", retryable: false },
    ],
    [
      "the error of the provider behind it",
      {
        status: 400,
        body: JSON.stringify({
          error: {
            code: 400,
            message: "Provider returned error",
            metadata: {
              raw: '{"error":{"message":"prompt is too long: 210000 tokens > 200000 maximum"}}',
              provider_name: "Anthropic",
            },
          },
        }),
      },
      { fault: "context-too-long", message: expect.stringContaining("210000 tokens > 200000") },
    ],
  ])("reports %s", async (_, reply, expected) => {
    await using mock = await openMockProvider();
    mock.plan(reply);
    await expect(partsOf("openrouter", mock)).rejects.toMatchObject({ backend: "openrouter", ...expected });
  });
});

test("mistral is not sent fields that it refuses", async () => {
  await using mock = await openMockProvider();
  const { body } = await ask("mistral", mock, { request: { seed: 5, stableMessages: 1 } });
  expect(body).toMatchObject({ random_seed: 5, stream: true, prompt_cache_key: expect.any(String) });
  expect(body).not.toHaveProperty("seed");
  expect(body).not.toHaveProperty("stream_options");
});

interface Asked {
  readonly path?: string;
  readonly request?: Partial<BackendRequest>;
}

async function partsOf(name: string, mock: MockProvider, { path = "/v1", request = {} }: Asked = {}) {
  const baseUrl = `http://127.0.0.1:${mock.port}${path}`;
  const backend = await openBackend(name, { apiKey: "the-key", baseUrl, env: {} });
  const parts: StreamPart[] = [];
  for await (const part of backend.stream(aRequest(request), { signal: never })) parts.push(part);
  return parts;
}

async function ask(name: string, mock: MockProvider, asked: Asked): Promise<MockRequest> {
  mock.plan({ text: ["a"] });
  await partsOf(name, mock, asked);
  const request = mock.requests.at(-1);
  if (request === undefined) throw new Error("nothing was asked");
  return request;
}
