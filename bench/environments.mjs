// K. The `docker` environment, by both transports, and `wasm`, beside `local`, a plain `docker exec` and a cold Pyodide.

import { existsSync, readdirSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { once } from "node:events";
import { openDocker } from "./lib/docker.mjs";
import { descendants, peer, pin, proportionalBytes, start, unpin, within } from "./lib/processes.mjs";
import { closeRuntimes, openAndKeep, openBenchRuntime } from "./lib/runtime.mjs";
import { compare, race, timeEach } from "./lib/stats.mjs";

const TIMEOUT_MS = 60_000;
const MIB = 2 ** 20;
const BLOCK = 65_536;
/** Between filling the pool and a sample, for what the fork server and the engine do afterwards. */
const SETTLE_MS = 50;
const ROUND_TRIP_AIMS = { "docker, socket": 5, "docker, attach": 20, wasm: 10 };

export async function measure(bench) {
  // Whatever starts from here on, the engine and its containers too, is on the same core.
  if (!pin()) bench.note("taskset is absent: host and workers may be on different cores");
  const docker = await openDocker().catch((error) => bench.absent("docker, all rows skipped", error.message));
  try {
    const pyodide = findPyodide();
    if (pyodide === undefined) bench.absent("wasm, all rows skipped", "Pyodide is not installed: rlm env add wasm");
    const found = await openAll(docker, pyodide);
    await bench.part(measureCreation, found, { docker, pyodide, ...bench });
    await bench.part(measureRoundTrips, found, { docker, ...bench });
    unpinAll();
    await bench.part(measureOutput, found, { docker, ...bench });
    await bench.part(measureMemory, found, bench);
    await closeRuntimes();
  } finally {
    await docker?.close();
  }
}

/** The folder that `rlm env add wasm` made. */
function findPyodide() {
  const data = process.env["RLM_DATA"] ?? join(process.env["XDG_DATA_HOME"] ?? join(homedir(), ".local/share"), "rlm");
  const folder = join(data, "wasm");
  const name = existsSync(folder) ? readdirSync(folder).find((entry) => entry.startsWith("pyodide-")) : undefined;
  return name === undefined ? undefined : join(folder, name);
}

async function openAll(docker, pyodide) {
  const found = { local: await openOne({ environment: "local" }) };
  for (const transport of docker === undefined ? [] : ["socket", "attach"]) {
    process.env["RLM_DOCKER_TRANSPORT"] = transport;
    const options = { environment: "docker", docker: { host: docker.host, image: docker.image } };
    found[`docker, ${transport}`] = await openOne(options);
    delete process.env["RLM_DOCKER_TRANSPORT"];
  }
  if (pyodide !== undefined) found.wasm = await openOne({ environment: "wasm" });
  return found;
}

/** Runtimes of one environment, a warm session, and what each session takes. */
async function openOne(options) {
  const pooled = await openBenchRuntime({ ...options, poolSize: 1 });
  const unpooled = await openBenchRuntime({ ...options, poolSize: 0 });
  const session = await openAndKeep(unpooled);
  return { pooled, unpooled, session };
}

async function measureCreation(found, { quick, row, docker, pyodide }) {
  const names = Object.keys(found);
  const samples = quick ? 2 : 3;
  const rounds = quick ? 2 : 4;
  const contenders = {};
  for (const name of names) {
    const { pooled, unpooled } = found[name];
    contenders[`${name} pooled`] = () => timeReady(pooled, samples);
    contenders[`${name} cold`] = () => timeEach(samples, async () => (await openAndKeep(unpooled)).close());
  }
  if (docker !== undefined) {
    contenders.exec = () => timeEach(samples, () => docker.exec("print(1+1)"));
    contenders.run = () => timeEach(samples, () => docker.run("print(1+1)"));
  }
  if (pyodide !== undefined) contenders.pyodide = () => timeEach(1, () => startPyodide(pyodide));
  const medians = await race(contenders, rounds);
  const add = (question, ours, [name, other], aim, inverse = false) =>
    row({
      question,
      ours: { best: Math.min(...medians[ours]) / 1000, unit: "ms" },
      other: { name, best: Math.min(...medians[other]) / 1000, unit: "ms" },
      ratio: inverse ? compare(medians[other], medians[ours]) : compare(medians[ours], medians[other]),
      ...(aim && { aim }),
      floor: medians[other],
    });
  for (const name of names.slice(1)) {
    const met = Math.min(...medians[`${name} pooled`]) < 5000;
    const aim = { text: "< 5 ms", met };
    const question = `Environment ${name}: create to first result`;
    add(`${question}, from the pool`, `${name} pooled`, ["`local`, from the pool", "local pooled"], aim);
    add(`${question}, empty pool`, `${name} cold`, ["`local`, empty pool", "local cold"]);
    if (name === "wasm") {
      add(`${question}, empty pool, snapshot`, "wasm cold", ["cold Pyodide", "pyodide"], { least: 5 }, true);
      continue;
    }
    add(`${question}, from the pool`, `${name} pooled`, ["`docker exec` of a bare Python", "exec"]);
    add(`${question}, empty pool`, `${name} cold`, ["`docker run` of a bare Python", "run"]);
  }
}

/** Microseconds from `openSession` to the first result, with a sandbox in the pool that is ready. */
async function timeReady(runtime, samples) {
  const times = [];
  for (let index = 0; index < samples; index += 1) {
    await fillPool(runtime);
    const begin = performance.now();
    const session = await openAndKeep(runtime);
    times.push((performance.now() - begin) * 1000);
    await session.close();
  }
  await fillPool(runtime); // else it would be filled while the next contender is measured
  return times;
}

async function fillPool(runtime) {
  await new Promise((resolve) => setTimeout(resolve, 30)); // a refill starts 20 ms after an execution
  await within(TIMEOUT_MS, "filling the pool", runtime.warm());
  await new Promise((resolve) => setTimeout(resolve, SETTLE_MS));
}

async function startPyodide(folder) {
  const child = start(process.execPath, [peer("cold_pyodide.mjs"), folder], { stdio: ["ignore", "pipe", "inherit"] });
  const [printed] = await within(TIMEOUT_MS, "a cold Pyodide", once(child.stdout, "data"));
  if (String(printed) !== "2\n") throw new Error(`Pyodide printed ${printed}`);
}

async function measureRoundTrips(found, { quick, row, docker }) {
  const names = Object.keys(found);
  const samples = quick ? 100 : 200;
  const contenders = Object.fromEntries(
    names.map((name) => [name, () => timeEach(samples, () => execute(found[name].session, "x=1"))]),
  );
  if (docker !== undefined) contenders.exec = () => timeEach(2, () => docker.exec("x=1"));
  for (let index = 0; index < 3; index += 1) for (const name of names) await contenders[name](); // warm-up
  const medians = await race(contenders, quick ? 5 : 10);
  const us = (name) => ({ best: Math.min(...medians[name]), unit: "us" });
  for (const name of names.slice(1)) {
    row({
      question: `Environment ${name}: warm \`x=1\``,
      ours: us(name),
      other: { name: "`local`", ...us("local") },
      ratio: compare(medians[name], medians.local),
      aim: { most: ROUND_TRIP_AIMS[name] },
      floor: medians.local,
    });
    if (name === "wasm") continue;
    row({
      question: `Environment ${name}: warm \`x=1\``,
      ours: us(name),
      other: { name: "`docker exec` of a bare Python", ...us("exec") },
      ratio: compare(medians[name], medians.exec),
      floor: medians.exec,
    });
  }
}

async function measureOutput(found, { quick, row, docker }) {
  const names = Object.keys(found);
  const count = quick ? 400 : 800;
  const megabytes = (count * BLOCK) / 1e6;
  const code = `import sys\nfor _ in range(${count}): sys.stdout.write('x'*${BLOCK})\n`;
  const contenders = Object.fromEntries(
    names.map((name) => [name, () => timeEach(1, () => execute(found[name].session, code))]),
  );
  if (docker !== undefined) {
    contenders.exec = () =>
      timeEach(1, async () => {
        const bytes = await docker.exec(code);
        if (bytes !== count * BLOCK) throw new Error(`docker exec printed ${bytes} bytes`);
      });
  }
  const medians = await race(contenders, quick ? 3 : 5);
  const rate = (name) => ({ best: (megabytes * 1e6) / Math.min(...medians[name]), unit: "MB/s" });
  for (const name of names.slice(1)) {
    for (const other of name === "wasm" || docker === undefined ? ["local"] : ["local", "exec"]) {
      row({
        question: `Environment ${name}: ${Math.round(megabytes)} MB in large writes`,
        ours: rate(name),
        other: { name: other === "exec" ? "`docker exec`, the same loop" : "`local`", ...rate(other) },
        ratio: compare(medians[other], medians[name]),
        floor: medians[other],
      });
    }
  }
}

async function measureMemory(found, { quick, row, note }) {
  const count = quick ? 2 : 4;
  const sizes = {};
  for (const [name, { unpooled }] of Object.entries(found)) {
    const before = totalBytes();
    const sessions = [];
    while (sessions.length < count) sessions.push(await openAndKeep(unpooled));
    const after = totalBytes();
    await Promise.all(sessions.map((session) => session.close()));
    if (before === undefined || after === undefined) return note("memory was not measured: it takes root");
    sizes[name] = (after - before) / count;
  }
  for (const name of Object.keys(found).slice(1)) {
    row({
      question: `Environment ${name}: memory that one more idle session takes`,
      ours: { best: sizes[name] / MIB, unit: "MiB" },
      other: { name: "`local`", best: sizes.local / MIB, unit: "MiB" },
      ratio: { best: sizes[name] / sizes.local },
    });
  }
}

/** Of all processes below this one, the engine's too. */
function totalBytes() {
  const sizes = descendants(process.pid).map(proportionalBytes);
  const known = sizes.filter((size) => size !== undefined);
  return known.length === 0 ? undefined : known.reduce((sum, size) => sum + size, 0);
}

function unpinAll() {
  unpin();
  for (const pid of descendants(process.pid)) unpin(pid);
}

async function execute(session, code) {
  const { status, error } = await within(TIMEOUT_MS, "an execution", session.execute(code));
  if (status !== "ok") throw new Error(`an execution ended with ${status}: ${error?.value}`);
}
