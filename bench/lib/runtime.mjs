// The product as users have it: the built SDK and fully sandboxed sessions with only the standard library.

import { PYTHON, within } from "./processes.mjs";

const TIMEOUT_MS = 30_000;
const opened = [];

/** Opens a runtime with a running fork server and a full pool; `closeRuntimes` closes it. */
export async function openBenchRuntime(options = {}) {
  const { openRuntime } = await import(new URL("../../dist/index.js", import.meta.url).href);
  const { environment = "local" } = options;
  // Sessions in docker have the Python of their image, and those in wasm have their modules in a snapshot.
  const own = { ...(environment !== "docker" && { python: PYTHON }), ...(environment !== "wasm" && { preload: [] }) };
  const runtime = await openRuntime({ ...own, idleTimeoutMs: null, ...options });
  opened.push(runtime);
  await runtime.warm();
  return runtime;
}

export async function closeRuntimes() {
  await Promise.all(opened.map((runtime) => runtime.close()));
}

/** From `openSession` to the first result with a warm sandbox in the pool, in microseconds. */
export async function timeFromPool(runtime, samples) {
  const times = new Float64Array(samples);
  for (let index = 0; index < samples; index += 1) {
    await new Promise((resolve) => setTimeout(resolve, 30)); // a refill starts 20 ms after an execution
    await within(TIMEOUT_MS, "filling the pool", runtime.warm());
    await new Promise((resolve) => setTimeout(resolve, 20));
    const begin = performance.now();
    const session = await openAndKeep(runtime);
    times[index] = (performance.now() - begin) * 1000;
    await session.close();
  }
  return times;
}

export async function openAndExecute(runtime) {
  const session = await openAndKeep(runtime);
  void session.close();
}

export async function openAndKeep(runtime) {
  const session = await within(TIMEOUT_MS, "opening a session", runtime.openSession());
  const { status } = await within(TIMEOUT_MS, "a first execution", session.execute("1+1"));
  if (status !== "ok") throw new Error(`the first execution ended with ${status}`);
  return session;
}
