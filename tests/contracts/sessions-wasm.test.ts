// The contracts of sessions and of the runtime, and the hostile corpus, in the `wasm` environment. Skipped with the reason where it
// cannot be had, unless RLM_REQUIRE_WASM is 1.

/** @module-tag stress */

import { afterAll, beforeAll, describe, test, vi } from "vitest";
import type { LocalRuntime } from "../../src/api/local.ts";
import { openRuntime } from "../../src/index.ts";
import { describeRuntime } from "../../src/testing/index.ts";
import { LOCAL_CAPABILITIES } from "../environments/open-local.ts";
import { SEAT_BELT_CAPABILITIES, useWasm, WASM_CAPABILITIES } from "../environments/wasm/open-wasm.ts";
import { PYTHON } from "../open.ts";
import { MAX_WAITING, scripted, useDataFolder } from "./contract.ts";
import { describeSessions } from "./sessions/describe-sessions.ts";
import { describeWhereAvailable } from "./sessions/availability.ts";
import { describeProbes } from "./sessions/probes.ts";
import { describeStateTransfer } from "./sessions/state.ts";
import type { SessionsContract } from "./sessions/suite.ts";

const BROKER_PROBES = ["broker-forge-channel", "broker-flood", "broker-channel-exhaust"];

await describeWhereAvailable("wasm", useWasm, () => {
  const toOptions = useDataFolder();
  const wasm: SessionsContract = {
    open: (options) => openRuntime({ environment: "wasm", ...toOptions(), ...options }),
    capabilities: WASM_CAPABILITIES,
    smallMemoryBytes: 512 * 2 ** 20,
  };
  const local: SessionsContract = {
    open: (options) => openRuntime({ python: PYTHON, ...toOptions(), ...options }),
    capabilities: LOCAL_CAPABILITIES,
  };
  describeSessions("wasm", wasm);
  describe("behind the seat belt", () => {
    beforeAll(() => vi.stubEnv("RLM_SANDBOX_TIER", "seat-belt"));
    afterAll(() => vi.stubEnv("RLM_SANDBOX_TIER", undefined));
    describeSessions("wasm", {
      ...wasm,
      open: () => wasm.open({ stdlibPath: `${toOptions().stdlibPath}-behind-the-seat-belt.py` }),
      capabilities: SEAT_BELT_CAPABILITIES,
      unsupported: {
        "disk-quota": "behind the seat belt files are on the disk of the machine",
        links: "Node's permission model lets nobody make them",
      },
    });
  });
  describeStateTransfer(["wasm", wasm], ["local", local]);
  describeProbes("wasm", {
    options: { environment: "wasm" },
    categories: ["wasm-escape", "protocol", "terminal"],
    languages: ["python", "pyodide"],
    toPrelude: (prelude) => prelude.replace(/^.* = _private\(\)$/m, "EVENTS = os.open('/dev/rlm/events', os.O_WRONLY)"),
    testedElsewhere: Object.fromEntries(BROKER_PROBES.map((id) => [id, "wasm has no socket for copies of a session"])),
  });
  describeRuntime(
    "in wasm",
    {
      open: () => wasm.open({ stdlibPath: `${toOptions().stdlibPath}-of-the-runtime.py` }),
      capabilities: wasm.capabilities,
      unsupported: ["resource"],
      maxWaiting: MAX_WAITING,
      rlm: (runtime, options) => (runtime as LocalRuntime).rlm({ ...scripted(), ...options }),
    },
    { describe, test, afterAll },
  );
});
