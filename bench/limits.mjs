// M. Batches of model calls behind the limits of a provider: over HTTP on loopback, with the settings that users have. The least time is
// what the limit allows, so nobody could be faster.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { lineReader, peer, start, within } from "./lib/processes.mjs";
import { openBenchRuntime } from "./lib/runtime.mjs";

const CALLS = 200;
const DELAY_MS = 500;

/** `leastMs`: in which all calls are accepted, and the last one is answered. */
const CASES = [
  {
    question: (n) => `${CALLS} calls, ${n} a second counted by the second`,
    limit: ["window", 10],
    leastMs: (n) => 1000 * (Math.ceil(CALLS / n) - 1) + DELAY_MS,
  },
  {
    question: (n) => `${CALLS} calls, ${n} a second from a token bucket`,
    limit: ["bucket", 10],
    leastMs: (n) => (1000 * (CALLS - n)) / n + DELAY_MS,
  },
  {
    question: (n) => `${CALLS} calls, ${n} a second, and headers that say what is left`,
    limit: ["headers", 20],
    leastMs: (n) => (1000 * (CALLS - n)) / n + DELAY_MS,
  },
  {
    question: (n) => `${CALLS} calls, ${n} at once, without Retry-After`,
    limit: ["concurrency", 10],
    leastMs: (n) => Math.ceil(CALLS / n) * DELAY_MS,
  },
];

export async function measure({ row, part }) {
  const folder = mkdtempSync(join(tmpdir(), "rlm-bench-"));
  process.env.RLM_DATA = folder;
  const runtime = await openBenchRuntime();
  try {
    for (const one of CASES) await part(measureLimit, one, { row, runtime });
  } finally {
    await runtime.close();
    rmSync(folder, { recursive: true });
  }
}

async function measureLimit({ question, limit, leastMs }, { row, runtime }) {
  const [name, n] = limit;
  const provider = start(process.execPath, [peer("provider.mjs"), DELAY_MS, CALLS, name, n].map(String), {
    stdio: ["pipe", "pipe", "inherit"],
  });
  const baseUrl = await within(10_000, "the provider", lineReader(provider.stdout)());
  const backend = { backend: "openai-compatible", baseUrl, model: "root", subModel: "sub" };
  const rlm = runtime.rlm({ ...backend, mode: "rlm", cache: false, limits: { llmCalls: 2 * CALLS } });
  const began = performance.now();
  const { data, why } = await rlm.run({ query: "?", context: "Is this line about a place?" });
  const ms = performance.now() - began;
  provider.stdin.end();
  if (data !== CALLS) throw new Error(`${String(data)} of ${CALLS} calls were answered: ${why}`);
  const least = leastMs(n);
  row({
    question: question(n),
    ours: { best: ms, unit: "ms" },
    other: { name: "the least that the limit allows", best: least, unit: "ms" },
    ratio: { best: ms / least, typical: ms / least },
    aim: { most: 1.3 },
  });
}
