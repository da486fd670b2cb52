// What the implementations of `Runtime` are tested with: the same limits, models and data.

import { rmSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, vi } from "vitest";
import { contractScript, createScriptedBackend } from "../../src/testing/index.ts";
import { LOCAL_CAPABILITIES } from "../environments/open-local.ts";
import { makeDataFolder } from "../make-data-folder.ts";

export const MAX_WAITING = 8;
export const SHARED = { capabilities: LOCAL_CAPABILITIES, maxWaiting: MAX_WAITING };

/** Makes a data folder for the tests of a file. Returns the options of a runtime there, on this machine or behind a server. */
export function useDataFolder() {
  let data = "";
  beforeAll(() => {
    data = makeDataFolder();
    vi.stubEnv("RLM_DATA", data);
  });
  afterAll(() => {
    vi.unstubAllEnvs();
    rmSync(data, { recursive: true, force: true });
  });
  return () => ({ preload: [], poolSize: 1, limits: { waiting: MAX_WAITING }, stdlibPath: join(data, "stdlib.py") });
}

export function scripted() {
  return { model: "root", backend: createScriptedBackend(contractScript), cache: false } as const;
}
