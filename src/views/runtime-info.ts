// What is known about a runtime, in the form that every interface shows.

import type { RuntimeInfo } from "../protocol/api/about.ts";
import { PROTOCOL } from "../protocol/api/web-socket.ts";
import type { Runtime } from "../runtime.ts";
import { VERSION } from "../util/version.ts";

export function toRuntimeInfo(runtime: Runtime): RuntimeInfo {
  const { name, tier, notStopped, strongerTier, python, capabilities } = runtime.report();
  const versions = {
    version: VERSION,
    protocol: PROTOCOL,
    node: process.versions.node,
    python: python?.version ?? null,
  };
  return { ...versions, environment: name, tier, notStopped, strongerTier, capabilities };
}
