import { describe, expect, test } from "vitest";
import { Environments } from "../../src/environments/environments.ts";
import { ENVIRONMENT_NAMES, loadEnvironment } from "../../src/environments/registry.ts";
import { openRuntime } from "../internals.ts";
import { DEFAULT_LIMITS } from "../../src/session/default-limits.ts";

const options = {
  python: "python3",
  preload: [],
  poolSize: 0,
  poolOptions: { mounts: [], limits: DEFAULT_LIMITS },
  onLessMemory: () => {},
};

describe("the registry", () => {
  test("knows environments by name, and creates one without starting anything", async () => {
    expect(ENVIRONMENT_NAMES).toEqual(["local", "docker", "wasm"]);
    const create = await loadEnvironment("local");
    await using environment = create(options);
    expect(environment.report()).toMatchObject({ name: "local", python: null, tier: null, waiting: 0 });
  });

  test.each(ENVIRONMENT_NAMES)("has capabilities of '%s' that nobody can change", async (name) => {
    const create = await loadEnvironment(name);
    await using environment = create(options);
    expect(Object.isFrozen(environment.capabilities)).toBe(true);
    expect(Object.isFrozen(environment.capabilities.languages)).toBe(true);
  });

  test.each([
    ["locla", "there is no such environment. Did you mean 'local'? Known are: local, docker, wasm"],
    ["moon", "there is no such environment. Use one of: local, docker, wasm"],
    ["toString", "there is no such environment. Use one of: local, docker, wasm"],
  ])("refuses '%s'", async (name, reason) => {
    const message = `Cannot use environment '${name}': ${reason}`;
    await expect(loadEnvironment(name)).rejects.toMatchObject({ code: "ENVIRONMENT_UNAVAILABLE", message });
    await expect(openRuntime({ environment: name })).rejects.toThrow(message);
  });
});

test("a runtime has one environment for each name and interpreter", async () => {
  const environments = await Environments.load("local", options);
  const both = [environments.obtain("local", "/usr/bin/other"), environments.obtain("local", "/usr/bin/other")];
  const [first, second] = await Promise.all(both);
  expect(first).toBe(second);
  expect(first).not.toBe(environments.default);
  expect(await environments.obtain()).toBe(environments.default);
  expect(await environments.obtain("local", "python3")).toBe(environments.default);
  await environments.close();
});

test.each([
  ["docker", "that of their image. Choose the image with [docker] image in rlm.toml, or docker.image in the SDK"],
  ["wasm", "that of Pyodide. Leave it out"],
])("an interpreter for a session in %s is refused; that of the runtime is for others", async (name, own) => {
  const environments = await Environments.load("local", options);
  await expect(environments.obtain(name, "/usr/bin/other")).rejects.toThrow(
    `Cannot use python '/usr/bin/other' in the '${name}' environment: sessions there use ${own}`,
  );
  expect(await environments.obtain(name)).toBe(await environments.obtain(name));
  await environments.close();
});
