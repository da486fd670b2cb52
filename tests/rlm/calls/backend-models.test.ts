import { expect, onTestFinished, test, vi } from "vitest";
import { Dispatcher } from "../../../src/backends/dispatch/dispatcher.ts";
import { BackendModels } from "../../../src/rlm/calls/backend-models.ts";

test("answers of one address are never used for another, wherever the address is configured", () => {
  onTestFinished(() => void vi.unstubAllEnvs());
  const scopeOf = (options: { readonly baseUrl?: string } = {}): string =>
    new BackendModels({ backend: "openai", ...options }, new Dispatcher()).scopeOf("m");
  vi.stubEnv("OPENAI_BASE_URL", undefined);
  const usual = scopeOf();
  vi.stubEnv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1");
  expect(scopeOf()).not.toBe(usual);
  expect(scopeOf({ baseUrl: "http://127.0.0.1:9" })).toBe(scopeOf());
});
