// Hostile and ordinary work, mixed at random for a given time, and what it leaves behind.
//
//   node --expose-gc scripts/soak.mjs --minutes 10             in the tier that this machine has
//   RLM_SANDBOX_TIER=C node --expose-gc scripts/soak.mjs       in another
//
// Needs a built dist/. It samples processes, descriptors, memory, mounts, temporary files and cgroups each minute between two rounds, while
// no session is open. Other programs that mount meanwhile are seen as well: `unshare --mount` hides them. Exit code 1: something grew
// without end, was left at the end, or a session did what it must not.

import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";

const { values } = parseArgs({
  options: {
    minutes: { type: "string", default: "10" },
    actors: { type: "string", default: "4" },
    seed: { type: "string" },
  },
});
const ENDLESS = new URL("../tests/fixtures/endless/", import.meta.url);
const LIMIT_MS = 800;
/** Limit, grace, the promised second, and what a saturated machine may add. */
const MOST_MS = LIMIT_MS + 2_000 + 1_000 + 10_000;
const ROUND_MS = 20_000;
const MIB = 2 ** 20;

let state = Number(values.seed ?? Date.now() % 1_000_000);
print(`seed ${state}`);
/** Every process below this one that was ever sampled. */
const known = new Set();
const random = () => (state = (state * 1_103_515_245 + 12_345) % 2 ** 31) / 2 ** 31;
const pick = (list) => list[Math.floor(random() * list.length)];

const scratch = mkdtempSync(join(tmpdir(), "rlm-soak-"));
chmodSync(scratch, 0o1777);
process.env.TMPDIR = scratch;
const data = mkdtempSync(join(scratch, "data-"));
process.env.RLM_DATA = data;
const { openRuntime } = await import(new URL("../dist/index.js", import.meta.url).href);

const faults = [];
const counts = new Map();

const ordinary = {
  async compute(session) {
    const { value } = await session.execute("sum(range(100_000))");
    check(value?.["text/plain"] === "4999950000", `a sum was ${JSON.stringify(value)}`);
  },
  async print(session) {
    await session.execute("for n in range(20_000): print(n, 'x' * 50)");
  },
  async files(session) {
    await session.files.write("a/b.bin", Buffer.alloc(MIB, 7));
    check((await session.files.read("a/b.bin")).length === MIB, "a file has another length");
    await session.execute("import os; os.remove('a/b.bin')");
  },
  async fork(session) {
    await session.execute("x = [1] * 100_000");
    const copy = await session.fork();
    const { value } = await copy.execute("len(x)");
    check(value?.["text/plain"] === "100000", "a fork has another variable");
    await copy.close();
  },
  async rewind(session) {
    await session.execute("y = 1");
    const checkpoint = await session.checkpoint();
    await session.execute("y = 2");
    await session.rewind(checkpoint);
    const { value } = await session.execute("y");
    check(value?.["text/plain"] === "1", "a rewind went elsewhere");
  },
  async save(session, runtime) {
    const path = join(data, `${session.id}.rlm`);
    await session.set("z", { json: [1, 2, 3] });
    await session.save(path);
    const other = await runtime.loadSession(path, { id: `${session.id}-loaded` });
    await other.close();
    rmSync(path);
  },
  async shell(session, runtime) {
    const { exitCode } = await runtime.shell("seq 1000 | tail -1; exit 3", { session });
    check(exitCode === 3, `a command ended with ${exitCode}`);
  },
  async interrupt(session) {
    const execution = session.execute("while True: pass");
    setTimeout(() => session.interrupt(), 50);
    check((await execution).status === "interrupted", "an interrupt did nothing");
  },
};

const hostile = {
  ...Object.fromEntries(
    readdirSync(ENDLESS).map((name) => [
      name,
      async (session) => {
        const { status, durationMs } = await session.execute(readFileSync(new URL(name, ENDLESS), "utf8"), {
          timeoutMs: LIMIT_MS,
        });
        check(
          status === "interrupted" && durationMs < MOST_MS,
          `${name} was ${status} after ${Math.round(durationMs)} ms`,
        );
      },
    ]),
  ),
  async memory(session) {
    const { status } = await session.execute("a = []\nwhile True: a.append(bytearray(16 << 20))", {
      timeoutMs: 20_000,
    });
    check(status !== "ok", "memory has no limit");
  },
  async crash(session) {
    await session.execute("import ctypes; ctypes.string_at(0)");
  },
  async daemon(session) {
    await session.execute(
      "import os\nif os.fork() == 0:\n  os.setsid()\n  if os.fork() == 0:\n    import time; time.sleep(1000)\n  os._exit(0)",
    );
  },
  async disk(session) {
    await session.execute("f = open('big', 'wb')\ntry:\n  while True: f.write(bytes(1 << 20))\nexcept OSError: pass", {
      timeoutMs: 20_000,
    });
  },
  async output(session) {
    await session.execute("while True: print('x' * 100_000)", { timeoutMs: LIMIT_MS });
  },
  async task(session, runtime) {
    const task = runtime.shell("(setsid sleep 1000 &); while :; do :; done", { session, timeoutMs: LIMIT_MS });
    await task;
  },
};

const baseline = holdings();
const limits = { memoryBytes: 512 * MIB, diskBytes: 64 * MIB };
let runtime = await openRuntime({ limits });
await (await runtime.openSession()).close();
print(`tier ${(await runtime.info()).tier}`);
const samples = [];
const end = performance.now() + Number(values.minutes) * 60_000;
let nextSample = 0;
while (performance.now() < end) {
  const until = Math.min(end, performance.now() + ROUND_MS);
  await Promise.all(Array.from({ length: Number(values.actors) }, () => act(until)));
  if (performance.now() < nextSample) continue;
  nextSample = performance.now() + 60_000;
  await settled();
  samples.push(holdings());
  print(JSON.stringify({ done: total(), ...samples.at(-1) }));
}
const { tier } = await runtime.info();
await runtime.close();
runtime = undefined;
await settled();
const left = holdings();

for (const name of ["processes", "mounts", "files", "cgroups"]) {
  if (left[name] > baseline[name]) faults.push(`${name}: ${left[name]} at the end, ${baseline[name]} at the start`);
}
if (left.descriptors > baseline.descriptors + 5)
  faults.push(`descriptors: ${left.descriptors}, ${baseline.descriptors} at the start`);
// The first samples warm up caches. What grows for ever is larger in the second half than in the first.
const [early, late] = [samples.slice(1, Math.ceil(samples.length / 2)), samples.slice(Math.ceil(samples.length / 2))];
for (const name of ["descriptors", "heapMiB", "processes"]) {
  if (early.length === 0 || late.length === 0) break;
  const [before, after] = [early, late].map((part) => Math.min(...part.map((sample) => sample[name])));
  if (after > before * 1.3 + 8) faults.push(`${name} grew from ${before} to ${after}`);
}
rmSync(scratch, { recursive: true });
print(JSON.stringify({ tier, minutes: Number(values.minutes), done: total(), ...Object.fromEntries(counts) }));
print(JSON.stringify({ atTheStart: baseline, atTheEnd: left }));
for (const fault of new Set(faults)) print(`FAULT ${fault}`);
print(faults.length === 0 ? "clean" : `${faults.length} faults`);
process.exit(faults.length === 0 ? 0 : 1);

/** One session after another, each with a few pieces of work. */
async function act(until) {
  while (performance.now() < until) {
    const session = await runtime.openSession();
    try {
      // Hostile work may take all memory and disk space of its session, so it comes last.
      for (const kind of random() < 0.5 ? [ordinary, ordinary, ordinary] : [ordinary, hostile]) {
        const name = pick(Object.keys(kind));
        counts.set(name, (counts.get(name) ?? 0) + 1);
        await kind[name](session, runtime).catch((error) => faults.push(`${name}: ${error.name}: ${error.message}`));
      }
    } finally {
      await session.close();
    }
  }
}

function print(line) {
  process.stdout.write(`${line}\n`);
}

function check(holds, fault) {
  if (!holds) faults.push(fault);
}

function total() {
  return [...counts.values()].reduce((sum, count) => sum + count, 0);
}

/** Sandboxes of closed sessions end, and the pool is full again. */
async function settled() {
  await new Promise((resolve) => setTimeout(resolve, 3_000));
  globalThis.gc?.();
}

function holdings() {
  const processes = descendants(process.pid);
  for (const pid of processes) known.add(pid);
  return {
    processes: processes.length,
    descriptors: readdirSync("/proc/self/fd").length,
    heapMiB: Math.round(process.memoryUsage().heapUsed / MIB),
    residentMiB: Math.round(process.memoryUsage().rss / MIB),
    mounts: readFileSync("/proc/self/mountinfo", "utf8").split("\n").length,
    files: readdirSync(scratch).length,
    cgroups: cgroups(),
  };
}

function descendants(pid) {
  const parents = new Map();
  for (const name of readdirSync("/proc")) {
    if (!/^\d+$/.test(name)) continue;
    try {
      const stat = readFileSync(`/proc/${name}/stat`, "latin1");
      parents.set(Number(name), Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[1]));
    } catch {
      continue; // it has ended
    }
  }
  const isBelow = (one) => {
    for (let at = parents.get(one); at; at = parents.get(at)) if (at === pid) return true;
    return false;
  };
  return [...parents.keys()].filter(isBelow);
}

/** Those that a process of ours made: they are named after it. */
function cgroups() {
  const memberships = readFileSync("/proc/self/cgroup", "utf8").trim().split("\n");
  let count = 0;
  for (const line of readFileSync("/proc/self/mountinfo", "utf8").split("\n")) {
    const [, folder, kind, options] = /^(?:\S+ ){4}(\S+) .* - (cgroup2?) \S+ (\S+)$/.exec(line) ?? [];
    const own = memberships.find((member) => {
      const [, controllers = ""] = member.split(":");
      return kind === "cgroup2"
        ? controllers === ""
        : controllers.split(",").some((name) => options?.split(",").includes(name));
    });
    if (folder === undefined || own === undefined) continue;
    try {
      const names = readdirSync(join(folder, own.split(":")[2] ?? ""));
      count += names.filter((name) => known.has(Number(/^rlm-(\d+)-\d+$/.exec(name)?.[1]))).length;
    } catch {
      continue; // another part of the tree is mounted
    }
  }
  return count;
}
