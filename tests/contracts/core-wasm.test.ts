// The core of sessions in the `wasm` environment. Behind the seat belt it is a stress test. The rest is in sessions-wasm.test.ts.

import { afterAll, beforeAll, describe, vi } from "vitest";
import { openRuntime } from "../../src/index.ts";
import { SEAT_BELT_CAPABILITIES, useWasm, WASM_CAPABILITIES } from "../environments/wasm/open-wasm.ts";
import { useDataFolder } from "./contract.ts";
import { CORE, describeSessions } from "./sessions/describe-sessions.ts";
import { describeWhereAvailable } from "./sessions/availability.ts";
import type { SessionsContract } from "./sessions/suite.ts";

await describeWhereAvailable("wasm", useWasm, () => {
  const toOptions = useDataFolder();
  const open: SessionsContract["open"] = (options) => openRuntime({ environment: "wasm", ...toOptions(), ...options });

  describe("in a tier", () => {
    describeSessions("wasm", { open, capabilities: WASM_CAPABILITIES }, CORE);
  });

  describe("behind the seat belt", { tags: "stress" }, () => {
    beforeAll(() => vi.stubEnv("RLM_SANDBOX_TIER", "seat-belt"));
    afterAll(() => vi.stubEnv("RLM_SANDBOX_TIER", undefined));
    describeSessions("wasm", { open, capabilities: SEAT_BELT_CAPABILITIES }, CORE);
  });
});
