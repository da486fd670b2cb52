import { expect, test } from "vitest";
import { toRLMOptions } from "../../../src/cli/run/rlm-options.ts";
import { loadConfig } from "../../../src/config/config.ts";

test("the limit on concurrency of the configuration is that of the dispatcher", () => {
  const configured = loadConfig({ cwd: "/", env: { HOME: "/nowhere", RLM_MAX_CONCURRENCY: "5" } });
  expect(toRLMOptions(configured).dispatcher).toEqual({ maxConcurrency: 5 });
});
