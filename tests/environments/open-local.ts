// The local environment as tests open it: without preloaded modules and without a pool.

import type { Capabilities } from "../../src/protocol/capabilities.ts";
import type { EnvironmentOptions } from "../../src/environments/environment.ts";
import { LocalEnvironment } from "../../src/environments/local/local.ts";
import { DEFAULT_LIMITS } from "../../src/session/default-limits.ts";
import { PYTHON } from "../open.ts";

export const LOCAL_CAPABILITIES: Capabilities = {
  fork: true,
  checkpoint: true,
  shell: true,
  processes: true,
  threads: true,
  watch: true,
  inspectWhileRunning: true,
  network: "none",
  packages: "none",
  languages: ["python"],
};

export function openLocal(changes: Partial<EnvironmentOptions> = {}): LocalEnvironment {
  return new LocalEnvironment({
    python: PYTHON,
    preload: [],
    poolSize: 0,
    poolOptions: { mounts: [], limits: DEFAULT_LIMITS },
    onLessMemory: () => {},
    ...changes,
  });
}
