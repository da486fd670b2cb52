// The contract of sessions, in the `local` environment.

import { openRuntime } from "../../src/index.ts";
import { LOCAL_CAPABILITIES } from "../environments/open-local.ts";
import { PYTHON } from "../open.ts";
import { TIER } from "../tier.ts";
import { useDataFolder } from "./contract.ts";
import { describeSessions } from "./sessions/describe-sessions.ts";

const toOptions = useDataFolder();

describeSessions("local", {
  open: (options) => openRuntime({ python: PYTHON, ...toOptions(), ...options }),
  capabilities: LOCAL_CAPABILITIES,
  unsupported: TIER === "C" ? { "disk-quota": "tier C has no quota on disk space" } : {},
});
