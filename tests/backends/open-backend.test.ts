import { inspect } from "node:util";
import { describe, expect, test } from "vitest";
import { baseUrlOf, openBackend } from "../../src/backends/open-backend.ts";
import { openMockProvider } from "../fixtures/mock-provider.ts";
import { aRequest } from "./describe-backend.ts";

describe("openBackend()", () => {
  test("lists the known names for an unknown one", async () => {
    await expect(openBackend("constructor")).rejects.toMatchObject({
      fault: "configuration",
      retryable: false,
      message:
        "Cannot get an answer from constructor: there is no backend 'constructor', only openai, anthropic, openai-compatible, scripted",
    });
  });

  test.each([
    ["openai", "OPENAI_API_KEY"],
    ["anthropic", "ANTHROPIC_API_KEY"],
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
  ])("of %s takes key and address from the environment, trimmed", async (name, prefix) => {
    await using mock = await openMockProvider();
    mock.plan({ text: ["a"] });
    const env = { [`${prefix}_API_KEY`]: " sk-from-the-environment\n", [`${prefix}_BASE_URL`]: mock.url };
    const backend = await openBackend(name, { env });
    for await (const _ of backend.stream(aRequest(), { signal: new AbortController().signal }));
    const { authorization, "x-api-key": key } = mock.requests[0]?.headers ?? {};
    expect(authorization ?? `Bearer ${String(key)}`).toBe("Bearer sk-from-the-environment");
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
  ])("of %s given %s is %s", (name, baseUrl, expected) => {
    expect(baseUrlOf(name, { env: {}, ...(baseUrl !== undefined && { baseUrl }) })).toBe(expected);
  });

  test.each([
    ["ftp://host/v1", "no URL with http or https"],
    ["not a url", "no URL with http or https"],
    ["http://me:hunter2@host/v1", "may not have a user"],
    ["http://host/v1?key=hunter2", "may not have a user"],
    ["", "--base-url"],
  ])("may not be '%s', and is not repeated", (baseUrl, why) => {
    const open = (): string => baseUrlOf("openai-compatible", { baseUrl, env: {} });
    expect(open).toThrow(why);
    expect(open).not.toThrow("hunter2");
  });
});
