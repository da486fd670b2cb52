// The contracts of sessions and of the runtime, and the hostile corpus, in the `docker` environment. Skipped with the reason where it
// cannot be had, unless RLM_REQUIRE_DOCKER is 1.

import { afterAll, describe, test } from "vitest";
import type { LocalRuntime } from "../../src/api/local.ts";
import { openRuntime } from "../../src/index.ts";
import { describeRuntime } from "../../src/testing/index.ts";
import { useWasm, WASM_CAPABILITIES } from "../environments/wasm/open-wasm.ts";
import { LOCAL_CAPABILITIES } from "../environments/open-local.ts";
import { PYTHON } from "../open.ts";
import { useDocker } from "../docker/use-docker.ts";
import { scripted, SHARED, useDataFolder } from "./contract.ts";
import { CORE, describeSessions, REST } from "./sessions/describe-sessions.ts";
import { describeWhereAvailable } from "./sessions/availability.ts";
import { describeProbes, KERNEL_CATEGORIES } from "./sessions/probes.ts";
import { describeStateTransfer } from "./sessions/state.ts";
import type { SessionsContract } from "./sessions/suite.ts";

const noWasm = await useWasm();

await describeWhereAvailable("docker", useDocker, () => {
  const toOptions = useDataFolder();
  const docker: SessionsContract = {
    open: (options) => openRuntime({ environment: "docker", ...toOptions(), ...options }),
    capabilities: LOCAL_CAPABILITIES,
  };
  const local: SessionsContract = {
    open: (options) => openRuntime({ python: PYTHON, ...toOptions(), ...options }),
    capabilities: LOCAL_CAPABILITIES,
  };
  const wasm: SessionsContract = {
    open: (options) => openRuntime({ environment: "wasm", ...toOptions(), ...options }),
    capabilities: WASM_CAPABILITIES,
  };
  describeSessions("docker", docker, CORE);
  describe("stress", { tags: "stress" }, () => {
    describeSessions("docker", docker, REST);
    describeStateTransfer(["docker", docker], ["local", local]);
    describe.skipIf(noWasm !== undefined)(`and wasm${noWasm === undefined ? "" : ` (skipped: ${noWasm})`}`, () => {
      describeStateTransfer(["docker", docker], ["wasm", wasm]);
    });
    describeProbes("docker", {
      options: { environment: "docker" },
      categories: KERNEL_CATEGORIES,
      languages: ["python", "shell"],
      expectedDifferences: {
        "res-infinite-output": "printing without end ends with its time limit, and keeps the state",
      },
    });
    describeRuntime(
      "in docker",
      {
        ...SHARED,
        open: () => docker.open({ stdlibPath: `${toOptions().stdlibPath}-of-the-runtime.py` }),
        rlm: (runtime, options) => (runtime as LocalRuntime).rlm({ ...scripted(), ...options }),
      },
      { describe, test, afterAll },
    );
  });
});
