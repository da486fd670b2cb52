// The product as a user has it: the built SDK, sandboxed sessions with every wall, the standard library only.

import { PYTHON } from "./processes.mjs";

const opened = [];

/** A runtime with its fork server started and its pool full; `closeRuntimes` closes it. */
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
