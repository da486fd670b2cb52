// The product as users have it: the built SDK and fully sandboxed sessions with only the standard library.

import { PYTHON } from "./processes.mjs";

const opened = [];

/** Opens a runtime with a running fork server and a full pool; `closeRuntimes` closes it. */
export async function openBenchRuntime(options) {
  const { openRuntime } = await import(new URL("../../dist/index.js", import.meta.url).href);
  const runtime = await openRuntime({ python: PYTHON, preload: [], idleTimeoutMs: null, ...options });
  opened.push(runtime);
  await runtime.warm();
  return runtime;
}

export async function closeRuntimes() {
  await Promise.all(opened.map((runtime) => runtime.close()));
}
