import { describe, expect, test } from "vitest";
import type { BackendRequest, StreamPart } from "../../../../src/backends/backend.ts";
import { openBackend } from "../../../../src/backends/open-backend.ts";
import { gemini } from "../../../../src/backends/providers/protocols/gemini.ts";
import { openMockProvider, type MockReply } from "../../../fixtures/mock-provider.ts";
import { aRequest } from "../../describe-backend.ts";

const never = new AbortController().signal;

describe("a request to Gemini", () => {
  test("has the model in its path and the key in a header", async () => {
    await using mock = await openMockProvider();
    mock.plan({ text: ["a"] });
    for (const model of ["gemini-2.5-pro", "models/gemini-2.5-pro", "tunedModels/mine", "../../evil?x=1"]) {
      await partsOf(mock.url, { model });
    }
    expect(mock.requests.map(({ path }) => path)).toEqual([
      "/v1/models/gemini-2.5-pro:streamGenerateContent?alt=sse",
      "/v1/models/gemini-2.5-pro:streamGenerateContent?alt=sse",
      "/v1/tunedModels/mine:streamGenerateContent?alt=sse",
      "/v1/models/..%2F..%2Fevil%3Fx%3D1:streamGenerateContent?alt=sse",
    ]);
    expect(mock.requests[0]?.headers["x-goog-api-key"]).toBe("the-key");
  });

  test("has everything in Google's terms", () => {
    const messages = [
      { role: "system", content: "rules" },
      { role: "user", content: "question" },
      { role: "assistant", content: "code" },
      { role: "user", content: "output" },
      { role: "system", content: "a note" },
    ] as const;
    const schema = { type: "object", properties: {} };
    const settings = { maxTokens: 100, temperature: 0.5, seed: 7, reasoningEffort: "low", schema };
    expect(gemini.toBody({ model: "gemini-3-pro-preview", messages, ...settings })).toEqual({
      systemInstruction: { parts: [{ text: "rules" }] },
      contents: [
        { role: "user", parts: [{ text: "question" }] },
        { role: "model", parts: [{ text: "code" }] },
        { role: "user", parts: [{ text: "output" }, { text: "a note" }] },
      ],
      generationConfig: {
        maxOutputTokens: 100,
        temperature: 0.5,
        seed: 7,
        responseMimeType: "application/json",
        responseJsonSchema: schema,
        thinkingConfig: { includeThoughts: true, thinkingLevel: "LOW" },
      },
    });
  });

  test.each<[string, string | undefined, unknown]>([
    ["gemini-2.0-flash", undefined, undefined],
    ["gemini-2.5-flash-image", undefined, undefined],
    ["gemini-2.5-pro", undefined, { includeThoughts: true }],
    ["gemini-flash-latest", undefined, { includeThoughts: true }],
    ["gemini-2.5-flash", "none", { includeThoughts: true, thinkingBudget: 0 }],
    ["gemini-2.5-flash", "high", { includeThoughts: true, thinkingBudget: 24_576 }],
    ["gemini-2.5-flash", "512", { includeThoughts: true, thinkingBudget: 512 }],
    ["gemini-3-pro-preview", "none", { includeThoughts: true, thinkingLevel: "MINIMAL" }],
    ["gemini-3-pro-preview", "high", { includeThoughts: true, thinkingLevel: "HIGH" }],
  ])("to %s with the effort %s thinks accordingly", (model, reasoningEffort, expected) => {
    const request = aRequest({ model, ...(reasoningEffort !== undefined && { reasoningEffort }) });
    expect(gemini.toBody(request)["generationConfig"]).toEqual(
      expected === undefined ? {} : { thinkingConfig: expected },
    );
  });

  test("has the rules in its first turn for Gemma, and always a turn", () => {
    const rules = { role: "system", content: "rules" } as const;
    const question = { role: "user", content: "question" } as const;
    expect(gemini.toBody({ model: "gemma-3-27b-it", messages: [rules, question] })).toMatchObject({
      contents: [{ role: "user", parts: [{ text: "rules" }, { text: "question" }] }],
    });
    expect(gemini.toBody({ model: "gemini-2.5-pro", messages: [rules] })).toMatchObject({
      contents: [{ role: "user", parts: [{ text: "rules" }] }],
    });
  });
});

describe("an answer of Gemini", () => {
  test("has thoughts, whose number is reported before the end", async () => {
    const event = (text: string, thought: boolean, thoughtsTokenCount: number) => ({
      candidates: [{ content: { parts: [{ text, thought }] } }],
      usageMetadata: { promptTokenCount: 9, thoughtsTokenCount },
    });
    const reader = gemini.createReader();
    expect(
      [event("hm", true, 40), event("hm", true, 100), event("yes", false, 100)].flatMap((e) => reader.read(e)),
    ).toEqual([
      { type: "input-usage", usage: { inputTokens: 9, cacheReadTokens: 0, cacheWriteTokens: 0 } },
      { type: "hidden-reasoning", maxTokens: 40 },
      { type: "reasoning-delta", text: "hm" },
      { type: "hidden-reasoning", maxTokens: 60 },
      { type: "reasoning-delta", text: "hm" },
      { type: "text-delta", text: "yes" },
    ]);
  });

  test.each([
    ["SAFETY", "refusal"],
    ["RECITATION", "refusal"],
    ["SPII", "refusal"],
    ["SOMETHING_NEW", "other"],
  ])("may end by %s", (finishReason, expected) => {
    const reader = gemini.createReader();
    expect(reader.read({ candidates: [{ finishReason }] })).toEqual([]);
    expect(reader.finish?.()).toEqual([{ type: "end", finishReason: expected, usage: null }]);
  });

  test("is cut off where no reason came", () => {
    const reader = gemini.createReader();
    reader.read({ candidates: [{ content: { parts: [{ text: "a" }] } }] });
    expect(reader.finish?.()).toEqual([]);
  });

  test.each<[string, MockReply, object]>([
    [
      "a prompt that was blocked",
      { first: { promptFeedback: { blockReason: "PROHIBITED_CONTENT" }, usageMetadata: { promptTokenCount: 5 } } },
      { fault: "refusal", retryable: false, message: expect.stringContaining("PROHIBITED_CONTENT") },
    ],
    [
      "a rate limit, with its delay",
      { status: 429, body: JSON.stringify(quotaError("GenerateRequestsPerMinutePerProjectPerModel-FreeTier")) },
      { fault: "rate-limit", status: 429, retryable: true, retryAfterMs: 34_500 },
    ],
    [
      "a rate limit in a list",
      { status: 429, body: JSON.stringify([quotaError("GenerateContentInputTokensPerModelPerMinute")]) },
      { fault: "rate-limit", retryable: true, retryAfterMs: 34_500 },
    ],
    [
      "a quota of a day",
      { status: 429, body: JSON.stringify(quotaError("GenerateRequestsPerDayPerProjectPerModel-FreeTier")) },
      { fault: "rate-limit", retryable: false },
    ],
    [
      "a key that is refused, which is a 400",
      {
        status: 400,
        body: JSON.stringify({
          error: {
            code: 400,
            message: "API key not valid. Please pass a valid API key.",
            status: "INVALID_ARGUMENT",
            details: [{ "@type": "type.googleapis.com/google.rpc.ErrorInfo", reason: "API_KEY_INVALID" }],
          },
        }),
      },
      { fault: "authentication", status: 400, retryable: false },
    ],
    [
      "a prompt that is too long",
      {
        status: 400,
        body: JSON.stringify({
          error: {
            code: 400,
            message: "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).",
            status: "INVALID_ARGUMENT",
          },
        }),
      },
      { fault: "context-too-long", retryable: false },
    ],
    ["an overloaded model within the answer", { text: ["a"], fault: "error-event" }, { fault: "server", status: 503 }],
  ])("may be %s", async (_, reply, expected) => {
    await using mock = await openMockProvider();
    mock.plan(reply);
    await expect(partsOf(mock.url)).rejects.toMatchObject({ backend: "gemini", ...expected });
  });
});

function quotaError(quotaId: string): object {
  const type = "type.googleapis.com/google.rpc.";
  return {
    error: {
      code: 429,
      message: "You exceeded your current quota, please check your plan and billing details.",
      status: "RESOURCE_EXHAUSTED",
      details: [
        { "@type": `${type}QuotaFailure`, violations: [{ quotaMetric: "requests", quotaId }] },
        { "@type": `${type}Help`, links: [{ description: "Learn more" }] },
        { "@type": `${type}RetryInfo`, retryDelay: "34.5s" },
      ],
    },
  };
}

async function partsOf(baseUrl: string, request: Partial<BackendRequest> = {}): Promise<StreamPart[]> {
  const backend = await openBackend("gemini", { apiKey: "the-key", baseUrl, env: {} });
  const parts: StreamPart[] = [];
  for await (const part of backend.stream(aRequest(request), { signal: never })) parts.push(part);
  return parts;
}
