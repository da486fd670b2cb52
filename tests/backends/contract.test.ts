import { createOpenAI } from "@ai-sdk/openai";
import { createOpenAI as createOpenAIv2 } from "ai-sdk-openai-v2";
import type { Backend } from "../../src/backends/backend.ts";
import { openBackend } from "../../src/backends/open-backend.ts";
import { LanguageModelBackend } from "../../src/backends/providers/language-model-backend.ts";
import { ScriptedBackend } from "../../src/backends/scripted/scripted.ts";
import type { ScriptedAnswer } from "../../src/backends/scripted/script.ts";
import { openMockProvider } from "../fixtures/mock-provider.ts";
import type { MockReply } from "../fixtures/mock-provider.ts";
import { describeBackend } from "./describe-backend.ts";
import type { ContractReply, OpenedBackend } from "./describe-backend.ts";

describeBackend("scripted", {
  open: async () => {
    let reply: ContractReply = {};
    let markAsked = (): void => {};
    const asked = new Promise<void>((resolve) => void (markAsked = resolve));
    const backend = new ScriptedBackend(() => {
      markAsked();
      return reply.fault === "silent" ? new Promise<never>(() => {}) : toScripted(reply);
    });
    return {
      backend,
      model: "any",
      plan: (next) => void (reply = next),
      requests: () => backend.calls,
      asked: () => asked,
      left: async () => {},
      async [Symbol.asyncDispose]() {},
    };
  },
  capabilities: { canHideUsage: true, countsCacheWrites: true, reportsStart: false },
});

const key = { apiKey: "sk-of-the-test" };

describeBackend("openai", {
  open: () => openAtMock((baseUrl) => openBackend("openai", { ...key, baseUrl, env: {} })),
  capabilities: { canHideUsage: true, countsCacheWrites: false },
});

describeBackend("anthropic", {
  open: () => openAtMock((baseUrl) => openBackend("anthropic", { ...key, baseUrl, env: {} })),
  capabilities: { canHideUsage: false, countsCacheWrites: true },
});

describeBackend("openai-compatible", {
  open: () => openAtMock((baseUrl) => openBackend("openai-compatible", { ...key, baseUrl, env: {} })),
  capabilities: { canHideUsage: true, countsCacheWrites: false },
});

describeBackend("gemini", {
  open: () => openAtMock((baseUrl) => openBackend("gemini", { ...key, baseUrl, env: {} })),
  capabilities: { canHideUsage: true, countsCacheWrites: false },
});

describeBackend("azure", {
  open: () => openAtMock((baseUrl) => openBackend("azure", { ...key, baseUrl, env: {} })),
  capabilities: { canHideUsage: true, countsCacheWrites: false },
});

describeBackend("openrouter", {
  open: () => openAtMock((baseUrl) => openBackend("openrouter", { ...key, baseUrl, env: {} })),
  capabilities: { canHideUsage: true, countsCacheWrites: false },
});

describeBackend("ollama", {
  open: () => openAtMock((baseUrl) => openBackend("ollama", { ...key, baseUrl, env: {} })),
  capabilities: { canHideUsage: true, countsCacheWrites: false, reportsRefusals: false, countsOnlyTotals: true },
});

describeBackend("a model object of version 3, Responses", {
  open: () => openAtMock((baseURL) => new LanguageModelBackend(createOpenAI({ ...key, baseURL })("a-model"))),
  capabilities: { canHideUsage: true, countsCacheWrites: false, reportsRefusals: false },
});

describeBackend("a model object of version 3, Chat Completions", {
  open: () => openAtMock((baseURL) => new LanguageModelBackend(createOpenAI({ ...key, baseURL }).chat("a-model"))),
  capabilities: { canHideUsage: true, countsCacheWrites: false, showsReasoning: false },
});

describeBackend("a model object of version 2", {
  open: () => openAtMock((baseURL) => new LanguageModelBackend(createOpenAIv2({ ...key, baseURL })("a-model"))),
  capabilities: { canHideUsage: false, countsCacheWrites: false, reportsRefusals: false },
});

async function openAtMock(open: (url: string) => Backend | Promise<Backend>): Promise<OpenedBackend> {
  const mock = await openMockProvider();
  const backend = await open(mock.url);
  const asked = mock.nextRequest();
  return {
    backend,
    model: "a-model",
    plan: (reply) => mock.plan(toMock(reply)),
    requests: () => mock.requests.length,
    asked: async () => void (await asked),
    left: async () => {
      if (!(await (await asked).left)) throw new Error("the answer was complete, nobody left");
    },
    [Symbol.asyncDispose]: () => mock[Symbol.asyncDispose](),
  };
}

function toScripted({ text, reasoning, finish, usage, fault }: ContractReply): ScriptedAnswer {
  return {
    ...(text === undefined ? {} : { text: text.join("") }),
    ...(reasoning === undefined ? {} : { reasoning: reasoning.join("") }),
    ...(finish === undefined ? {} : { finishReason: finish }),
    ...(usage === undefined ? {} : { usage }),
    ...(fault === "rate-limit" ? { error: { fault, status: 429, retryable: true, retryAfterMs: 2000 } } : {}),
    ...(fault === "cut" ? { error: { fault: "connection", retryable: true } } : {}),
  };
}

function toMock({ text, reasoning, finish, usage, fault }: ContractReply): MockReply {
  const used =
    usage === undefined || usage === null
      ? usage
      : {
          input: usage.inputTokens,
          output: usage.outputTokens,
          cacheRead: usage.cacheReadTokens,
          cacheWrite: usage.cacheWriteTokens,
          reasoning: usage.reasoningTokens,
        };
  return {
    ...(text === undefined ? {} : { text }),
    ...(reasoning === undefined ? {} : { reasoning }),
    ...(finish === undefined ? {} : { finish }),
    ...(used === undefined ? {} : { usage: used }),
    ...(fault === "silent" || fault === "hangs" ? { fault } : {}),
    ...(fault === "rate-limit" ? { status: 429, headers: { "retry-after": "2" } } : {}),
    ...(fault === "cut" ? { fault: "resets" } : {}),
  };
}
