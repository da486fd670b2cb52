import { homedir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, test, vi } from "vitest";
import { dataPath } from "../../src/util/data-folder.ts";

afterEach(() => vi.unstubAllEnvs());

const HOME = join(homedir(), ".local", "share", "rlm", "server");

test.each([
  ["RLM_DATA before all others", { RLM_DATA: "/own", XDG_DATA_HOME: "/shared" }, "/own/server"],
  ["XDG_DATA_HOME", { RLM_DATA: "", XDG_DATA_HOME: "/shared" }, "/shared/rlm/server"],
  ["the home folder", { RLM_DATA: undefined, XDG_DATA_HOME: undefined }, HOME],
  ["the home folder where variables are empty", { RLM_DATA: "", XDG_DATA_HOME: "" }, HOME],
  ["the home folder where XDG_DATA_HOME depends on the current one", { RLM_DATA: "", XDG_DATA_HOME: "data" }, HOME],
])("dataPath() is in %s", (_what, env, expected) => {
  for (const [name, value] of Object.entries(env)) vi.stubEnv(name, value);
  expect(dataPath("server")).toBe(expected);
});
