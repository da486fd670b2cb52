import { expect, test } from "vitest";
import type { Backend, BackendRequest } from "../../../../src/backends/backend.ts";
import { openBackend } from "../../../../src/backends/open-backend.ts";
import { openMockProvider, type MockReply, type MockRequest } from "../../../fixtures/mock-provider.ts";
import { aRequest } from "../../describe-backend.ts";

const never = new AbortController().signal;

async function ask(backend: Backend, request: Partial<BackendRequest> = {}): Promise<string> {
  let text = "";
  for await (const part of backend.stream(aRequest(request), { signal: never }))
    if (part.type === "text-delta") text += part.text;
  return text;
}

function refusal(message: string, status = 400): MockReply {
  return { status, body: JSON.stringify({ error: { message } }) };
}

/** A server that accepts nothing of what a Chat Completions request usually has. */
function pickyServer({ body }: MockRequest): MockReply {
  if ("stream_options" in body) return refusal("Unrecognized request argument supplied: stream_options");
  if ("max_tokens" in body)
    return refusal(
      "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
    );
  if (Number(body["max_completion_tokens"]) > 4096)
    return refusal("max_tokens is too large: 16000. This model supports at most 4096 completion tokens");
  if ((body["messages"] as { readonly role: string }[]).some(({ role }) => role === "system"))
    return refusal("Unsupported value: 'messages[0].role' does not support 'system' with this model.");
  if ("temperature" in body)
    return refusal(
      "Unsupported value: 'temperature' does not support 0.5 with this model. Only the default (1) value is supported.",
    );
  return { text: ["three"] };
}

test("a server that refuses one field after the other answers the first call, and the next ones at once", async () => {
  await using mock = await openMockProvider();
  mock.plan(pickyServer);
  const backend = await openBackend("openai-compatible", { baseUrl: mock.url });
  const messages = [
    { role: "system", content: "Be brief." },
    { role: "user", content: "How many?" },
  ] as const;
  const request = { model: "o1-mini", messages, maxTokens: 16_000, temperature: 0.5 };
  expect(await ask(backend, request)).toBe("three");
  expect(mock.requests).toHaveLength(6);
  expect(await ask(backend, request)).toBe("three");
  expect(mock.requests).toHaveLength(7);
  expect(mock.requests.at(-1)?.body).toEqual({
    model: "o1-mini",
    messages: [{ role: "user", content: "Be brief.\n\nHow many?" }],
    max_completion_tokens: 4096,
    stream: true,
  });
  expect(backend.factsOf?.("o1-mini")).toEqual({ maxOutputTokens: 4096 });
});

test("64 calls at once are each refused once at most, and later ones not at all", async () => {
  await using mock = await openMockProvider();
  mock.plan(({ body }) =>
    Number(body["max_tokens"]) > 8192 ? refusal("the valid range of max_tokens is [1, 8192]") : { text: ["ok"] },
  );
  const backend = await openBackend("openai-compatible", { baseUrl: mock.url });
  const request = { maxTokens: 16_000 };
  expect(await Promise.all(Array.from({ length: 64 }, () => ask(backend, request)))).toEqual(Array(64).fill("ok"));
  expect(mock.requests.length).toBeLessThanOrEqual(128);
  const before = mock.requests.length;
  await Promise.all(Array.from({ length: 64 }, () => ask(backend, request)));
  expect(mock.requests.length - before).toBe(64);
});

test("Anthropic gets the limit that it demands: what an old model is known or learned to accept", async () => {
  await using mock = await openMockProvider();
  const limitOf = (request: MockRequest | undefined): unknown => request?.body["max_tokens"];
  mock.plan((request) =>
    Number(limitOf(request)) > 4096
      ? refusal("max_tokens: 32000 > 4096, which is the maximum allowed number of output tokens")
      : { text: ["ok"] },
  );
  const backend = await openBackend("anthropic", { baseUrl: mock.url, apiKey: "k" });
  await ask(backend, { model: "claude-3-haiku-20240307" });
  await ask(backend, { model: "some-claude" });
  await ask(backend, { model: "some-claude" });
  expect(mock.requests.map(limitOf)).toEqual([4096, 32_000, 4096, 4096]);
});

test("a window that is too small for input and output together is learned, and the answer is shorter", async () => {
  await using mock = await openMockProvider();
  mock.plan(
    refusal(
      "'max_tokens' or 'max_completion_tokens' is too large: 16000. This model's maximum context length is 8192 tokens and your request has 120 input tokens (16000 > 8192 - 120).",
    ),
    { text: ["ok"] },
  );
  const backend = await openBackend("openai-compatible", { baseUrl: mock.url });
  expect(await ask(backend, { model: "m", maxTokens: 16_000 })).toBe("ok");
  expect(mock.requests.map(({ body }) => body["max_tokens"])).toEqual([16_000, 8072]);
  expect(backend.factsOf?.("m")).toEqual({ contextWindow: 8192 });
});

test("a refusal in the first event counts as one, and a failure in the middle of an answer does not", async () => {
  await using mock = await openMockProvider();
  const event = (data: object): string => `data: ${JSON.stringify(data)}\n\n`;
  const stream = (...events: object[]): MockReply => ({
    headers: { "content-type": "text/event-stream" },
    body: events.map(event).join(""),
  });
  const refused = {
    error: {
      code: "invalid_parameter_error",
      message: "Range of max_tokens should be [1, 8192]",
      type: "invalid_request_error",
    },
  };
  mock.plan(stream(refused), { text: ["ok"] });
  const backend = await openBackend("openai-compatible", { baseUrl: mock.url });
  expect(await ask(backend, { maxTokens: 16_000 })).toBe("ok");
  expect(mock.requests.map(({ body }) => body["max_tokens"])).toEqual([16_000, 8192]);
  const begun = { choices: [{ index: 0, delta: { content: "a" } }] };
  mock.plan(stream(begun, { error: { ...refused.error, message: "temperature" } }));
  await expect(ask(backend, { temperature: 1 })).rejects.toMatchObject({ fault: "bad-request" });
  expect(mock.requests).toHaveLength(3);
});

test("a caller may ask for more than we know of an old model", async () => {
  await using mock = await openMockProvider();
  mock.plan({ text: ["ok"] });
  const backend = await openBackend("anthropic", { baseUrl: mock.url, apiKey: "k" });
  await ask(backend, { model: "claude-3-7-sonnet-latest", maxTokens: 128_000 });
  expect(mock.requests[0]?.body["max_tokens"]).toBe(128_000);
});
