// A. A new session: how long from `openSession` to its first result?

import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { openKernel } from "./lib/ipykernel.mjs";
import { watchLoop } from "./lib/loop-delay.mjs";
import { CACHE, lineReader, pin, PYTHON, start, stop, unpin, within } from "./lib/processes.mjs";
import { openAndExecute, openAndKeep, openBenchRuntime, timeFromPool } from "./lib/runtime.mjs";
import { compare, median, race, timeEach } from "./lib/stats.mjs";

const WORKER = fileURLToPath(new URL("../dist/python/worker/__main__.py", import.meta.url));
const TIMEOUT_MS = 30_000;

export async function measure(bench) {
  const pinned = pin();
  if (!pinned) bench.note("taskset is absent: host and workers may be on different cores");
  await bench.part(measureOne, bench);
  if (pinned) unpin();
  await bench.part(measureBurst, bench);
}

async function measureOne({ quick, row, delay, absent }) {
  const pooled = await openBenchRuntime({ poolSize: 3 });
  const unpooled = await openBenchRuntime({ poolSize: 0 });
  const first = await unpooled.openSession();
  await first.close(); // the fork server runs from now on
  const kernel = await openKernel(absent);
  const samples = quick ? 5 : 10;
  const medians = await race(
    {
      spawn: () => timeEach(samples, spawnLean),
      plain: () => timeEach(samples, startWorkerPlainly),
      pooled: () => timeFromPool(pooled, samples),
      unpooled: () => timeEach(samples, () => openAndExecute(unpooled)),
    },
    quick ? 5 : 10,
  );
  const ms = (name) => ({ best: Math.min(...medians[name]) / 1000, unit: "ms" });
  row({
    question: "Create to first result, from the pool",
    ours: ms("pooled"),
    other: { name: "spawn of a bare `python3 -I -S`", ...ms("spawn") },
    ratio: compare(medians.pooled, medians.spawn),
    aim: { most: 1 / 15, text: "≤ 1/15" },
    floor: medians.spawn,
  });
  row({
    question: "Create to first result, empty pool, every wall",
    ours: ms("unpooled"),
    other: { name: "the same worker started plainly", ...ms("plain") },
    ratio: compare(medians.unpooled, medians.plain),
    aim: { most: 0.5 },
    floor: medians.plain,
  });
  if (kernel !== undefined) {
    const starts = [];
    for (let index = 0; index < (quick ? 2 : 4); index += 1) starts.push((await kernel.start()) * 1000);
    row({
      question: "Create to first result, from the pool",
      ours: ms("pooled"),
      other: { name: "ipykernel", best: Math.min(...starts) / 1000, unit: "ms" },
      ratio: {
        best: Math.min(...starts) / Math.min(...medians.pooled),
        typical: median(starts) / median(medians.pooled),
      },
      aim: { least: 500 },
      floor: medians.spawn,
    });
  }
  const stopWatching = watchLoop();
  await timeFromPool(pooled, samples);
  await timeEach(samples, () => openAndExecute(unpooled));
  delay("create", stopWatching());
}

async function measureBurst({ row, note, delay }) {
  const count = 100;
  const runtime = await openBenchRuntime({ poolSize: 0, limits: { sessions: 2 * count } });
  await openAndExecute(runtime);
  const times = [];
  let failed = 0;
  const stopWatching = watchLoop();
  for (let round = 0; round < 3; round += 1) {
    const begin = performance.now();
    const burst = Array.from({ length: count }, () => openAndKeep(runtime));
    const settled = await within(TIMEOUT_MS, "a burst", Promise.allSettled(burst));
    const took = performance.now() - begin;
    const opened = settled.flatMap(({ status, value }) => (status === "fulfilled" ? [value] : []));
    failed += count - opened.length;
    const [failure] = settled.filter(({ status }) => status === "rejected");
    if (failure !== undefined) note(`burst: ${count - opened.length} of ${count} failed: ${failure.reason.message}`);
    else times.push(took / count);
    await Promise.all(opened.map((session) => session.close()));
  }
  delay("burst", stopWatching());
  const plain = await timeEach(10, startWorkerPlainly);
  row({
    question: `Burst of ${count} sessions, each to its first result: per session`,
    ours: { best: Math.min(...times), unit: "ms" },
    other: { name: "the same worker started plainly, alone", best: Math.min(...plain) / 1000, unit: "ms" },
    ratio: { best: Math.min(...times) / (Math.min(...plain) / 1000) },
    aim: { text: failed === 0 ? "no failure" : `no failure: ${failed} of ${3 * count}`, met: failed === 0 },
  });
}

/** The minimum for starting Python: no site, no import, one byte. */
async function spawnLean() {
  const child = start(PYTHON, ["-I", "-S", "-c", "import os; os.write(1, b'1')"], {
    stdio: ["ignore", "pipe", "ignore"],
  });
  await within(TIMEOUT_MS, "a spawn", new Promise((resolve) => child.stdout.once("data", resolve)));
}

/** Our worker without sandbox, pool or fork server: start, and one execution. */
async function startWorkerPlainly() {
  const args = ["-I", "-X", `pycache_prefix=${join(CACHE, "python")}`, WORKER, "3", "4", "5"];
  const child = start(PYTHON, args, { stdio: ["ignore", "ignore", "inherit", "pipe", "pipe", "pipe"] });
  const [, , , commands, , events] = child.stdio;
  commands.on("error", () => {});
  const nextLine = lineReader(events);
  commands.write('{"id":"e1","cmd":"exec","count":1,"code":"1+1"}\n');
  for (let type; type !== "status";) ({ type } = JSON.parse(await within(TIMEOUT_MS, "a plain worker", nextLine())));
  stop(child);
}
