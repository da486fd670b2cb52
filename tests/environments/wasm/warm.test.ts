// warm() resolves when the pool is full of sandboxes that can run code at once.

import { expect, test, vi } from "vitest";
import type { Environment } from "../../../src/environments/environment.ts";
import { PLAIN } from "../../contracts/environment.ts";
import { openLocal } from "../open-local.ts";
import { hasPyodide, openWasm } from "./open-wasm.ts";

type Case = readonly [name: string, tier: string, open: (poolSize: number) => Environment];
const cases: readonly Case[] = [
  ["local", "", (poolSize) => openLocal({ poolSize })],
  ["wasm in a tier", "", (poolSize) => openWasm({ poolSize })],
  ["wasm behind the seat belt", "seat-belt", (poolSize) => openWasm({ poolSize })],
];

test.each(cases.filter(([name]) => hasPyodide || name === "local"))(
  "%s: warm() waits for workers that are ready, also where the pool is being filled",
  { tags: "stress" },
  async (...args) => {
    const [, tier, open] = args;
    if (tier !== "") vi.stubEnv("RLM_SANDBOX_TIER", tier);
    try {
      await using environment = open(2);
      const first = environment.warm();
      await environment.warm();
      expect(environment.report().waiting).toBe(2);
      await first;
      const { worker } = await environment.openSandbox(PLAIN);
      let events = "";
      worker.listen({
        onEvents: (buffer, length) => void (events += buffer.toString("utf8", 0, length)),
        onOutput: () => {},
        onBackground: () => {},
        onExit: () => {},
      });
      expect(events).toContain('"ready"'); // it was sent before
    } finally {
      vi.unstubAllEnvs();
    }
  },
);
