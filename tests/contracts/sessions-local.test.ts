// The contract of sessions, in the environment `local`.

import { openRuntime } from "../../src/index.ts";
import { LOCAL_CAPABILITIES } from "../environments/open-local.ts";
import { PYTHON } from "../open.ts";
import { TIER } from "../tier.ts";
import { describeSessions } from "./sessions/describe-sessions.ts";

describeSessions("local", {
  open: (options) => openRuntime({ python: PYTHON, preload: [], poolSize: 1, ...options }),
  capabilities: LOCAL_CAPABILITIES,
  differs: TIER === "C" ? { "disk-quota": "tier C has no quota on disk space" } : {},
});
