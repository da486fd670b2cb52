// E. Control: how soon does an endless loop stop when asked? And code that does all it can to run on, at its time limit?

import { readdirSync, readFileSync } from "node:fs";
import { openBenchRuntime } from "./lib/runtime.mjs";
import { within } from "./lib/processes.mjs";
import { median } from "./lib/stats.mjs";

const HOSTILE = new URL("../tests/fixtures/endless/", import.meta.url);
const LIMIT_MS = 1000;
const GRACE_MS = 2000;

export async function measure({ quick, row }) {
  await measureInterrupts(quick, row);
  await measureLimits(row);
}

/** The time that code ran beyond its limit and the grace after the interrupt. */
async function measureLimits(row) {
  const limits = { memoryBytes: 512 * 2 ** 20, diskBytes: 64 * 2 ** 20 };
  const runtime = await openBenchRuntime({ poolSize: 0, limits });
  const beyond = [];
  for (const name of readdirSync(HOSTILE)) {
    const session = await runtime.openSession();
    const code = readFileSync(new URL(name, HOSTILE), "utf8");
    const { durationMs } = await session.execute(code, { timeoutMs: LIMIT_MS });
    beyond.push(durationMs - LIMIT_MS - GRACE_MS);
    await session.close();
  }
  await runtime.close();
  row({
    question: `Hostile code that has a time limit, beyond limit and grace: longest of ${beyond.length}`,
    ours: { best: Math.max(...beyond), unit: "ms" },
    aim: { below: 1000 },
  });
}

async function measureInterrupts(quick, row) {
  const runtime = await openBenchRuntime({ poolSize: 0 });
  const session = await runtime.openSession();
  const times = [];
  for (let index = 0; index < (quick ? 20 : 50); index += 1) {
    const execution = session.execute("while True: pass");
    await new Promise((resolve) => setTimeout(resolve, 10 + Math.random() * 60));
    const begin = performance.now();
    session.interrupt();
    const { status } = await within(5000, "an interrupt", execution);
    times.push(performance.now() - begin);
    if (status !== "interrupted") throw new Error(`the loop ended with ${status}`);
  }
  await runtime.close();
  const aim = { below: 10 };
  row({ question: "Endless loop to `interrupted`: median", ours: { best: median(times), unit: "ms" }, aim });
  row({ question: `Endless loop: longest of ${times.length}`, ours: { best: Math.max(...times), unit: "ms" }, aim });
}
