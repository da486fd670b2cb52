// The contracts of sessions and of the runtime, and the hostile corpus, in the environment `wasm`. Skipped with the reason where it
// cannot be had, unless RLM_REQUIRE_WASM is 1.

import { afterAll, describe, test } from "vitest";
import type { LocalRuntime } from "../../src/api/local.ts";
import { openRuntime } from "../../src/index.ts";
import type { Capabilities } from "../../src/protocol/capabilities.ts";
import { describeRuntime } from "../../src/testing/index.ts";
import { LOCAL_CAPABILITIES } from "../environments/open-local.ts";
import { PYTHON } from "../open.ts";
import { MAX_WAITING, scripted, useDataFolder } from "./contract.ts";
import { describeSessions } from "./sessions/describe-sessions.ts";
import { describeWhereAvailable } from "./sessions/obstacle.ts";
import { describeProbes } from "./sessions/probes.ts";
import { describeAcross } from "./sessions/state.ts";
import type { SessionsContract } from "./sessions/suite.ts";

const CAPABILITIES: Capabilities = {
  fork: false,
  checkpoint: false,
  shell: false,
  network: "none",
  packages: "wheels",
  languages: ["python"],
};

await describeWhereAvailable(
  "wasm",
  () => Promise.resolve(undefined),
  () => {
    const toOptions = useDataFolder();
    const wasm: SessionsContract = {
      open: (options) => openRuntime({ environment: "wasm", ...toOptions(), ...options }),
      capabilities: CAPABILITIES,
      differs: {
        processes: "WebAssembly has no processes",
        threads: "Pyodide has no threads",
        mounts: "its files are in memory",
        "host-processes": "code starts no processes that the host could see",
      },
      smallMemoryBytes: 512 * 2 ** 20,
    };
    const local: SessionsContract = {
      open: (options) => openRuntime({ python: PYTHON, ...toOptions(), ...options }),
      capabilities: LOCAL_CAPABILITIES,
    };
    describeSessions("wasm", wasm);
    describeAcross(["wasm", wasm], ["local", local]);
    describe("stress", { tags: "stress" }, () => {
      describeProbes("wasm", {
        options: { environment: "wasm" },
        categories: ["wasm-escape", "protocol", "terminal"],
        languages: ["python", "pyodide"],
      });
      describeRuntime(
        "in wasm",
        {
          open: wasm.open,
          capabilities: wasm.capabilities,
          maxWaiting: MAX_WAITING,
          rlm: (runtime, options) => (runtime as LocalRuntime).rlm({ ...scripted(), ...options }),
        },
        { describe, test, afterAll },
      );
    });
  },
);
