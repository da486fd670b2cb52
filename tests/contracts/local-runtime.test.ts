// The contract of `Runtime`, for the one on this machine.

import { afterAll, describe, test } from "vitest";
import type { LocalRuntime } from "../../src/api/local.ts";
import { openRuntime } from "../../src/index.ts";
import { describeRuntime } from "../../src/testing/index.ts";
import { PYTHON } from "../open.ts";
import { scripted, SHARED, useDataFolder } from "./contract.ts";

const toOptions = useDataFolder();

describeRuntime(
  "on this machine",
  {
    ...SHARED,
    open: () => openRuntime({ python: PYTHON, ...toOptions() }),
    rlm: (runtime, options) => (runtime as LocalRuntime).rlm({ ...scripted(), ...options }),
  },
  { describe, test, afterAll },
);
