// What tests open: a runtime without preloaded modules, on Debian's interpreter where there is one.

import { existsSync } from "node:fs";
import { openRuntime, type Runtime, type RuntimeOptions } from "../src/index.ts";

export const PYTHON = existsSync("/usr/bin/python3") ? "/usr/bin/python3" : "python3";

export function openTestRuntime(options: RuntimeOptions = {}): Promise<Runtime> {
  return openRuntime({ python: PYTHON, preload: [], poolSize: 1, ...options });
}
