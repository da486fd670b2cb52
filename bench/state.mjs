// F. State: the time to fork a live session, to rewind to a checkpoint, to save, to load and to inspect.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { hasModule, lineReader, peer, PYTHON, start, within } from "./lib/processes.mjs";
import { openBenchRuntime } from "./lib/runtime.mjs";
import { median } from "./lib/stats.mjs";

const ROWS = 10_000_000;
const SAVED_MIB = 100;

export async function measure({ quick, row, part, absent }) {
  const runtime = await openBenchRuntime({ poolSize: 1 });
  const rounds = quick ? 5 : 15;
  const plain = openPlain();
  await part(measureCopies, { runtime, plain, rounds, row });
  if (hasModule("numpy")) await part(measureFiles, { runtime, plain, rounds: quick ? 3 : 7, row });
  else absent("saving and loading an array", "numpy is not installed (apt-get install python3-numpy)");
  if (hasModule("pandas")) await part(measureInspection, { runtime, plain, rounds, row });
  else absent("inspecting a frame", "pandas is not installed (apt-get install python3-pandas)");
}

async function measureCopies({ runtime, plain, rounds, row }) {
  for (const mib of [0, 500]) {
    const session = await runtime.openSession();
    const fill = `block = bytearray(${mib} << 20); block[::4096] = b"x" * len(block[::4096])`;
    (await session.execute(mib === 0 ? "pass" : fill)).unwrap();
    const floors = [];
    const forks = [];
    const checkpoints = [];
    const rewinds = [];
    for (let index = 0; index < rounds; index += 1) {
      floors.push(await plain(`fork ${mib}`));
      const fork = await timed(forks, async () => {
        const copy = await session.fork();
        await copy.execute("x=1");
        return copy;
      });
      await fork.close();
      const checkpoint = await timed(checkpoints, () => session.checkpoint());
      await timed(rewinds, async () => {
        await session.rewind(checkpoint);
        await session.execute("x=1");
      });
      await session.dropCheckpoint(checkpoint);
    }
    const heap = `${mib} MB of heap`;
    const other = { name: "os.fork in plain Python", best: Math.min(...floors), unit: "ms" };
    compare(row, { question: `Fork to the first result, ${heap}`, times: forks, other });
    compare(row, { question: `Checkpoint, ${heap}`, times: checkpoints, other });
    compare(row, { question: `Rewind to the first result, ${heap}`, times: rewinds, other });
    await session.close();
  }
}

async function measureFiles({ runtime, plain, rounds, row }) {
  const folder = mkdtempSync(join(tmpdir(), "rlm-bench-"));
  try {
    const session = await runtime.openSession();
    const make = `import numpy; array = numpy.random.default_rng(1).random((${SAVED_MIB} << 20) // 8)`;
    (await session.execute(make)).unwrap();
    const times = { save: [], load: [], plainSave: [], plainLoad: [] };
    for (let index = 0; index < rounds; index += 1) {
      times.plainSave.push(await plain(`save ${SAVED_MIB} ${join(folder, "plain")}`));
      await timed(times.save, () => session.save(join(folder, "ours")));
      times.plainLoad.push(await plain(`load ${join(folder, "plain")}`));
      const loaded = await timed(times.load, () => runtime.loadSession(join(folder, "ours"), { id: "loaded" }));
      await loaded.close();
    }
    const array = `array of ${SAVED_MIB} MiB`;
    const floor = (samples) => ({ name: "plain pickle", best: Math.min(...samples), unit: "ms" });
    compare(row, { question: `Save, ${array}`, times: times.save, other: floor(times.plainSave) });
    compare(row, { question: `Load into a new session, ${array}`, times: times.load, other: floor(times.plainLoad) });
    await session.close();
  } finally {
    rmSync(folder, { recursive: true });
  }
}

async function measureInspection({ runtime, plain, rounds, row }) {
  const session = await runtime.openSession();
  const make = `import numpy, pandas
frame = pandas.DataFrame({"a": numpy.arange(${ROWS}), "b": numpy.arange(${ROWS}) * 0.5})`;
  (await session.execute(make)).unwrap();
  const floors = [];
  const idle = [];
  const names = [];
  const busy = [];
  for (let index = 0; index < rounds; index += 1) {
    floors.push(await plain(`frame ${ROWS}`));
    await timed(idle, () => session.inspect("frame"));
    await timed(names, () => session.variables());
    const running = session.execute("while True: pass");
    await timed(busy, () => session.inspect("frame"));
    session.interrupt();
    await running;
  }
  const other = { name: "repr in plain Python", best: Math.min(...floors), unit: "ms" };
  compare(row, { question: "Inspect a frame of 10 million rows", times: idle, other });
  compare(row, { question: "The same while an endless loop runs", times: busy, other });
  compare(row, { question: "Names and types of all variables", times: names });
  await session.close();
}

function compare(row, { question, times, other }) {
  const ours = { best: Math.min(...times), unit: "ms" };
  if (other === undefined) row({ question, ours });
  else row({ question, ours, other, ratio: { best: ours.best / other.best, typical: median(times) / other.best } });
}

async function timed(samples, work) {
  const begin = performance.now();
  const result = await within(60_000, "a measurement", work());
  samples.push(performance.now() - begin);
  return result;
}

/** Measures in the plain interpreter, in milliseconds. */
function openPlain() {
  const child = start(PYTHON, ["-I", peer("state.py")], { stdio: ["pipe", "pipe", "inherit"] });
  const next = lineReader(child.stdout);
  return async (line) => {
    child.stdin.write(`${line}\n`);
    return Number(await within(60_000, line, next())) / 1000;
  };
}
