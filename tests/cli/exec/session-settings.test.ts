import { expect, test } from "vitest";
import { toRuntimeOptions } from "../../../src/cli/exec/session-settings.ts";
import { UsageError } from "../../../src/cli/options/usage-error.ts";
import type { Config } from "../../../src/config/config.ts";

test("preload of rlm.toml is for the environments that can preload", () => {
  const config = { rlm: { environment: "wasm" }, sessions: { preload: ["polars"] }, limits: {} } as unknown as Config;
  expect(toRuntimeOptions({ env: "local" }, config)).toMatchObject({ environment: "local", preload: ["polars"] });
  expect(toRuntimeOptions({}, config)).not.toHaveProperty("preload");
});

test("less memory than the environment needs is a usage error, from a flag or from rlm.toml", () => {
  const limits = { memoryBytes: 128 * 2 ** 20 };
  const config = { rlm: { environment: "wasm" }, sessions: {}, limits } as unknown as Config;
  expect(() => toRuntimeOptions({ env: "wasm", memory: limits.memoryBytes })).toThrow(UsageError);
  expect(() => toRuntimeOptions({}, config)).toThrow("limits.memoryBytes in environment 'wasm'");
  expect(toRuntimeOptions({ env: "local" }, config)).toMatchObject({ limits });
});
