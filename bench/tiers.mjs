// J. The tiers of the sandbox beside tier A: a new session, a warm execution, the memory of an idle session.

import { descendants, forkServers, pin, proportionalBytes, unpin, within } from "./lib/processes.mjs";
import { openAndExecute, openAndKeep, openBenchRuntime, timeFromPool } from "./lib/runtime.mjs";
import { compare, race, timeEach } from "./lib/stats.mjs";

const WEAKER = ["A-no-landlock", "B", "C"];
const TIMEOUT_MS = 30_000;
const MIB = 2 ** 20;
const POOL = 3;

export async function measure({ quick, row, note, absent }) {
  const tiers = { A: await openTier("A", quick) };
  for (const tier of WEAKER) {
    try {
      tiers[tier] = await openTier(tier, quick);
    } catch (error) {
      absent(`tier ${tier}`, error.why ?? error.message);
    }
  }
  const names = Object.keys(tiers);
  const rounds = quick ? 3 : 8;
  const samples = quick ? 5 : 10;
  if (!pin()) note("taskset is absent: host and workers may be on different cores");
  const questions = {
    "create to first result, from the pool": [({ pooled }) => timeFromPool(pooled, samples), "ms"],
    "create to first result, empty pool": [({ unpooled }) => timeEach(samples, () => openAndExecute(unpooled)), "ms"],
    "warm `x=1`": [({ session }) => timeEach(samples * 50, () => execute(session, "x=1")), "us"],
  };
  for (const [question, [time, unit]] of Object.entries(questions)) {
    const medians = await race(Object.fromEntries(names.map((name) => [name, () => time(tiers[name])])), rounds);
    for (const name of names.slice(1)) addRow(row, name, question, unit, medians[name], medians.A);
  }
  unpin();
  for (const name of names.slice(1)) {
    const [ours, other] = [tiers[name].bytes, tiers.A.bytes];
    if (ours === undefined || other === undefined) {
      note(`memory in tier ${name} was not measured: it takes root, or the user that sessions run as`);
      continue;
    }
    row({
      question: `Tier ${name}: memory of an idle session, all of its processes`,
      ours: { best: ours / MIB, unit: "MiB" },
      other: { name: "tier A", best: other / MIB, unit: "MiB" },
      ratio: { best: ours / other },
    });
  }
}

function addRow(row, tier, question, unit, ours, other) {
  const scale = unit === "ms" ? 1000 : 1;
  row({
    question: `Tier ${tier}: ${question}`,
    ours: { best: Math.min(...ours) / scale, unit },
    other: { name: "tier A", best: Math.min(...other) / scale, unit },
    ratio: compare(ours, other),
    floor: other,
  });
}

/** Runtimes of one tier, and the memory of each of its sessions. */
async function openTier(tier, quick) {
  process.env["RLM_SANDBOX_TIER"] = tier;
  try {
    const count = quick ? 20 : 50;
    const unpooled = await openBenchRuntime({ poolSize: 0, limits: { sessions: 2 * count } });
    const before = forkServers();
    const many = await openBenchRuntime({ poolSize: 0, limits: { sessions: count } });
    const sessions = [];
    while (sessions.length < count) sessions.push(await openAndKeep(many));
    const bytes = memoryOf(forkServers().filter((pid) => !before.includes(pid)));
    await Promise.all(sessions.map((session) => session.close()));
    const pooled = await openBenchRuntime({ poolSize: POOL });
    return {
      unpooled,
      pooled,
      session: await openAndKeep(unpooled),
      bytes: bytes === undefined ? undefined : bytes / count,
    };
  } finally {
    delete process.env["RLM_SANDBOX_TIER"];
  }
}

function memoryOf(servers) {
  const pids = new Set(servers.flatMap((server) => [server, ...descendants(server)]));
  const sizes = [...pids].map(proportionalBytes);
  return sizes.includes(undefined) ? undefined : sizes.reduce((sum, size) => sum + size, 0);
}

async function execute(session, code) {
  const { status } = await within(TIMEOUT_MS, "an execution", session.execute(code));
  if (status !== "ok") throw new Error(`an execution ended with ${status}`);
}
