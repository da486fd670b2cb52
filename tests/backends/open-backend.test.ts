import { inspect } from "node:util";
import { describe, expect, test } from "vitest";
import { baseUrlOf, openBackend, secretsOf } from "../../src/backends/open-backend.ts";
import { openMockProvider } from "../fixtures/mock-provider.ts";
import { aRequest } from "./describe-backend.ts";

describe("openBackend()", () => {
  test("lists the known names for an unknown one", async () => {
    await expect(openBackend("constructor")).rejects.toMatchObject({
      fault: "configuration",
      retryable: false,
      message:
        "Cannot get an answer from constructor: there is no backend 'constructor', only openai, anthropic, gemini, azure, openrouter, deepseek, groq, mistral, together, xai, ollama, openai-compatible, scripted",
    });
  });

  test.each([
    ["openai", "OPENAI_API_KEY"],
    ["anthropic", "ANTHROPIC_API_KEY"],
    ["gemini", "GEMINI_API_KEY"],
    ["azure", "AZURE_OPENAI_API_KEY"],
    ["openrouter", "OPENROUTER_API_KEY"],
  ])("of %s without a key names %s", async (name, variable) => {
    for (const env of [{}, { [variable]: "" }, { [variable]: "  \n" }]) {
      await expect(openBackend(name, { env })).rejects.toMatchObject({
        fault: "configuration",
        message: expect.stringContaining(variable),
      });
    }
  });

  test("does not show an invalid key", async () => {
    const error: unknown = await openBackend("openai", { apiKey: "sk-one\nsk-two", env: {} }).catch(
      (thrown: unknown) => thrown,
    );
    expect(inspect(error)).not.toContain("sk-");
    expect(error).toMatchObject({ fault: "configuration" });
  });

  test.each([
    ["openai", "OPENAI"],
    ["anthropic", "ANTHROPIC"],
    ["openai-compatible", "OPENAI_COMPATIBLE"],
    ["gemini", "GEMINI"],
    ["azure", "AZURE_OPENAI"],
    ["openrouter", "OPENROUTER"],
    ["deepseek", "DEEPSEEK"],
    ["groq", "GROQ"],
    ["mistral", "MISTRAL"],
    ["together", "TOGETHER"],
    ["xai", "XAI"],
    ["ollama", "OLLAMA"],
  ])("of %s takes key and address from the environment, trimmed", async (name, prefix) => {
    await using mock = await openMockProvider();
    mock.plan({ text: ["a"] });
    const env = { [`${prefix}_API_KEY`]: " sk-from-the-environment\n", [`${prefix}_BASE_URL`]: mock.url };
    const backend = await openBackend(name, { env });
    for await (const _ of backend.stream(aRequest(), { signal: new AbortController().signal }));
    const headers = mock.requests[0]?.headers ?? {};
    const key = ["x-api-key", "api-key", "x-goog-api-key"].map((header) => headers[header]).find(Boolean);
    expect(headers.authorization ?? `Bearer ${String(key)}`).toBe("Bearer sk-from-the-environment");
  });

  test("of gemini also takes the key of Google's other clients", async () => {
    expect(secretsOf("gemini", { env: { GOOGLE_API_KEY: "the-other" } })).toEqual(["the-other"]);
    expect(secretsOf("gemini", { env: { GOOGLE_API_KEY: "the-other", GEMINI_API_KEY: "own" } })).toEqual(["own"]);
  });

  test.each(["firstByteMs", "betweenBytesMs", "totalMs"])("refuses an invalid limit %s", async (limit) => {
    for (const value of [0, -1, Number.NaN, null]) {
      const limits = { [limit]: value } as Record<string, number>;
      await expect(openBackend("openai", { apiKey: "k", limits })).rejects.toThrow(RangeError);
    }
  });

  test("refuses a firstByteMs above 300 s", async () => {
    await expect(openBackend("openai", { apiKey: "k", limits: { firstByteMs: 300_001 } })).rejects.toThrow(RangeError);
  });
});

describe("the address of a backend", () => {
  test.each([
    ["openai", undefined, "https://api.openai.com/v1"],
    ["anthropic", undefined, "https://api.anthropic.com/v1"],
    ["anthropic", "https://api.anthropic.com", "https://api.anthropic.com/v1"],
    ["openai-compatible", "http://localhost:11434", "http://localhost:11434/v1"],
    ["openai-compatible", "http://localhost:4000/proxy/v1/", "http://localhost:4000/proxy/v1"],
    ["openai-compatible", "https://gw.example/v1/chat/completions?region=eu", "https://gw.example/v1?region=eu"],
    ["gemini", undefined, "https://generativelanguage.googleapis.com/v1beta"],
    ["gemini", "http://localhost:4000", "http://localhost:4000/v1beta"],
    ["openrouter", undefined, "https://openrouter.ai/api/v1"],
    ["openrouter", "https://openrouter.ai", "https://openrouter.ai/api/v1"],
    ["groq", "https://api.groq.com/", "https://api.groq.com/openai/v1"],
  ])("of %s given %s is %s", (name, baseUrl, expected) => {
    expect(baseUrlOf(name, { env: {}, ...(baseUrl !== undefined && { baseUrl }) })).toBe(expected);
  });

  test.each([
    ["ftp://host/v1", "not an http or https URL"],
    ["not a url", "not an http or https URL. Give one such as http://localhost:8000"],
    ["http://me:hunter2@host/v1", "may not have a user"],
    ["http://host/v1?key=hunter2", "a key or a fragment"],
    ["http://host/v1?api-version=1&subscription-key=hunter2", "a key or a fragment"],
    ["http://host/v1?sig=hunter2", "a key or a fragment"],
    ["", "--base-url"],
  ])("may not be '%s', and is not repeated", (baseUrl, why) => {
    const open = (): string => baseUrlOf("openai-compatible", { baseUrl, env: {} });
    expect(open).toThrow(why);
    expect(open).not.toThrow("hunter2");
  });
});

describe("the address of Azure", () => {
  const endpoint = "https://mine.openai.azure.com";

  test.each([
    ["an endpoint, which means the form without versions", endpoint, undefined, `${endpoint}/openai/v1`],
    ["that form itself", `${endpoint}/openai/v1/`, "2024-10-21", `${endpoint}/openai/v1`],
    [
      "its preview",
      `${endpoint}/openai/v1?api-version=preview`,
      undefined,
      `${endpoint}/openai/v1?api-version=preview`,
    ],
    ["a version beside it", endpoint, "2024-10-21", `${endpoint}/openai?api-version=2024-10-21`],
    ["a version in it", `${endpoint}/?api-version=2025-01-01`, "old", `${endpoint}/openai?api-version=2025-01-01`],
    [
      "what the portal shows",
      `${endpoint}/openai/deployments/gpt-4o/chat/completions?api-version=2025-01-01-preview`,
      undefined,
      `${endpoint}/openai/deployments/gpt-4o?api-version=2025-01-01-preview`,
    ],
    ["a gateway", "https://gw.example/azure", "2024-10-21", "https://gw.example/azure?api-version=2024-10-21"],
  ])("may be %s", (_, baseUrl, version, expected) => {
    expect(baseUrlOf("azure", { baseUrl, env: { OPENAI_API_VERSION: version } })).toBe(expected);
    const env = { AZURE_OPENAI_ENDPOINT: baseUrl, OPENAI_API_VERSION: version };
    expect(baseUrlOf("azure", { env })).toBe(expected);
  });

  test("needs a version where it names a deployment", () => {
    const baseUrl = `${endpoint}/openai/deployments/gpt-4o`;
    expect(() => baseUrlOf("azure", { baseUrl, env: {} })).toThrow(
      "Append ?api-version=..., or set OPENAI_API_VERSION",
    );
  });

  test("has to be given", () => {
    expect(() => baseUrlOf("azure", { env: {} })).toThrow("or set AZURE_OPENAI_ENDPOINT");
  });
});

describe("the address of Ollama", () => {
  test.each([
    ["", "http://127.0.0.1:11434"],
    ["gpu-box", "http://gpu-box:11434"],
    ["gpu-box:8080", "http://gpu-box:8080"],
    [":8080", "http://127.0.0.1:8080"],
    ["0.0.0.0", "http://127.0.0.1:11434"],
    ["0.0.0.0:8080", "http://127.0.0.1:8080"],
    ["::", "http://[::1]:11434"],
    ["[::]:8080", "http://[::1]:8080"],
    ["::1", "http://[::1]:11434"],
    ["gpu-box:8080/ollama/", "http://gpu-box:8080/ollama"],
    ["http://gpu-box", "http://gpu-box"],
    ["https://gpu-box/ollama/api", "https://gpu-box/ollama"],
    ["http://localhost:11434/v1", "http://localhost:11434"],
  ])("may be '%s', as its own variable has it", (host, expected) => {
    expect(baseUrlOf("ollama", { env: { OLLAMA_HOST: host } })).toBe(expected);
  });

  test("may not be unusable", () => {
    for (const host of ["gpu box", "gpu-box:port", "http://"]) {
      expect(() => baseUrlOf("ollama", { env: { OLLAMA_HOST: host } })).toThrow("not an http or https URL");
    }
  });
});
