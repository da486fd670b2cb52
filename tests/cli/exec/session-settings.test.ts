import { expect, test } from "vitest";
import { toRuntimeOptions } from "../../../src/cli/exec/session-settings.ts";
import type { Config } from "../../../src/config/config.ts";

test("preload of rlm.toml is for the environments that can preload", () => {
  const config = { rlm: { environment: "wasm" }, sessions: { preload: ["polars"] }, limits: {} } as unknown as Config;
  expect(toRuntimeOptions({ env: "local" }, config)).toMatchObject({ environment: "local", preload: ["polars"] });
  expect(toRuntimeOptions({}, config)).not.toHaveProperty("preload");
});
