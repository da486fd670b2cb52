// Where no tier can be had: the same contract behind Node's permission model, and every report says what that is.

import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { describeEnvironment, PLAIN } from "../../contracts/environment.ts";
import { hasPyodide, openWasm, WASM_CAPABILITIES } from "./open-wasm.ts";

describe.skipIf(!hasPyodide)("wasm without a tier", () => {
  beforeAll(() => {
    process.env["RLM_SANDBOX_TIER"] = "seat-belt";
  });
  afterAll(() => {
    delete process.env["RLM_SANDBOX_TIER"];
  });

  describeEnvironment("wasm, seat belt", { open: () => openWasm(), capabilities: WASM_CAPABILITIES });

  test("the report says that it is a seat belt and no wall, and how to get a wall", async () => {
    await using environment = openWasm();
    await (await environment.openSandbox(PLAIN)).close();
    expect(environment.report()).toMatchObject({
      tier: "seat-belt",
      notStopped: expect.arrayContaining([expect.stringContaining("a seat belt and no wall")]),
      strongerTier: { fix: "Unset RLM_SANDBOX_TIER" },
    });
  });

  test.each(["A", "a", "no-such-tier"])("a tier that is asked for, '%s', is never replaced by it", async (tier) => {
    process.env["RLM_SANDBOX_TIER"] = tier;
    await using environment = openWasm({ python: "/nowhere/python3" });
    await expect(environment.openSandbox(PLAIN)).rejects.toMatchObject({
      environment: "wasm",
      why: expect.stringMatching(/\/nowhere\/python3|asks for tier/),
    });
    process.env["RLM_SANDBOX_TIER"] = "seat-belt";
  });

  test("without any Python it is what sessions get", async () => {
    delete process.env["RLM_SANDBOX_TIER"];
    await using environment = openWasm({ python: "/nowhere/python3" });
    await (await environment.openSandbox(PLAIN)).close();
    expect(environment.report()).toMatchObject({
      tier: "seat-belt",
      strongerTier: { why: expect.stringContaining("/nowhere/python3") },
    });
    process.env["RLM_SANDBOX_TIER"] = "seat-belt";
  });
});
