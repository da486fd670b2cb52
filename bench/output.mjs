// C. Output: throughput of large and small writes, time to the first byte, and memory of the host.

import { readPipe } from "./lib/channel.mjs";
import { watchLoop } from "./lib/loop-delay.mjs";
import { lineReader, peer, PYTHON, start, within } from "./lib/processes.mjs";
import { openBenchRuntime } from "./lib/runtime.mjs";
import { compare, median, race } from "./lib/stats.mjs";

const BLOCK = 65_536;
const MB = 1e6;

export async function measure({ quick, row, note, delay, part }) {
  const runtime = await openBenchRuntime({ poolSize: 0 });
  const session = await runtime.openSession();
  const stopWatching = watchLoop();
  await part(measureLargeWrites, { session, quick, row });
  await part(measurePrints, { session, quick, row });
  delay("output", stopWatching());
  await part(measureFirstByte, { session, quick, row });
  await part(measureMemory, { session, row, note });
}

async function measureLargeWrites({ session, quick, row }) {
  const count = quick ? 400 : 1600;
  const megabytes = (count * BLOCK) / MB;
  const writeBlocks = openWriter();
  const medians = await race(
    {
      floor: async () => [await writeBlocks(65_536, count, "dd")],
      python: async () => [await writeBlocks(65_536, count, "python")],
      print: async () => [
        await seconds(session, `import sys\nfor _ in range(${count}): sys.stdout.write('x'*${BLOCK})\n`),
      ],
      write: async () => [await seconds(session, `import os\nfor _ in range(${count}): os.write(1, b'x'*${BLOCK})\n`)],
    },
    quick ? 4 : 8,
  );
  const rate = (name) => ({ best: megabytes / Math.min(...medians[name]), unit: "MB/s" });
  for (const [name, how] of [
    ["print", "sys.stdout.write"],
    ["write", "os.write"],
  ]) {
    row({
      question: `${Math.round(megabytes)} MB in large writes, \`${how}\``,
      ours: rate(name),
      other: { name: "dd, same pipe", ...rate("floor") },
      ratio: compare(medians.floor, medians[name]),
      aim: { least: 0.8 },
      floor: medians.floor,
    });
  }
  row({
    question: `${Math.round(megabytes)} MB in large writes, \`os.write\``,
    ours: rate("write"),
    other: { name: "the same loop, plain Python, same pipe", ...rate("python") },
    ratio: compare(medians.python, medians.write),
    floor: medians.python,
  });
}

async function measurePrints({ session, quick, row }) {
  const count = quick ? 200_000 : 1_000_000;
  const loop = `for i in range(${count}): print(i)\n`;
  const medians = await race(
    { floor: async () => [await printToNull(loop)], ours: async () => [await seconds(session, loop)] },
    quick ? 3 : 5,
  );
  const time = (name) => ({ best: Math.min(...medians[name]) * 1000, unit: "ms" });
  row({
    question: `${count.toLocaleString("en-US")} small prints`,
    ours: time("ours"),
    other: { name: "plain Python to the null device", ...time("floor") },
    ratio: compare(medians.floor, medians.ours),
    aim: { least: 0.5 },
    floor: medians.floor,
  });
}

async function measureFirstByte({ session, quick, row }) {
  const times = [];
  for (let index = 0; index < (quick ? 10 : 30); index += 1) {
    const begin = performance.now();
    const execution = session.execute("import time; print('a'); time.sleep(1)");
    for await (const event of execution) {
      if (event.type !== "output-delta") continue;
      times.push(performance.now() - begin);
      session.interrupt();
      break;
    }
    await within(5000, "an interrupt", execution);
  }
  row({
    question: "First byte of `print('a'); time.sleep(1)`: median",
    ours: { best: median(times), unit: "ms" },
    aim: { below: 25 },
  });
  row({
    question: `First byte: longest of ${times.length}`,
    ours: { best: Math.max(...times), unit: "ms" },
    aim: { below: 25 },
  });
}

/** The growth of this process's peak resident memory during 100 MB of output. */
async function measureMemory({ session, row, note }) {
  const code = `import sys\nfor _ in range(1600): sys.stdout.write('x'*${BLOCK})\n`;
  await seconds(session, code);
  globalThis.gc?.();
  const before = process.memoryUsage.rss();
  let peak = before;
  const timer = setInterval(() => (peak = Math.max(peak, process.memoryUsage.rss())), 2);
  await seconds(session, code);
  clearInterval(timer);
  const highest = Math.max(peak, process.memoryUsage.rss());
  globalThis.gc?.();
  const after = process.memoryUsage.rss();
  if (globalThis.gc === undefined) note("without --expose-gc the memory of the host includes garbage");
  row({
    question: "Memory of the host during 105 MB of output",
    ours: { best: (highest - before) / 2 ** 20, unit: "MiB more" },
    aim: { below: 10 },
  });
  row({
    question: "The same, afterwards",
    ours: { best: (after - before) / 2 ** 20, unit: "MiB more" },
    aim: { below: 10 },
  });
}

async function seconds(session, code) {
  const begin = performance.now();
  const result = await within(60_000, "an execution", session.execute(code));
  if (result.status !== "ok") throw new Error(`the code ended with ${result.status}: ${result.error?.traceback}`);
  return (performance.now() - begin) / 1000;
}

/** Seconds from the first to the last byte that another program writes to a pipe of this size. */
function openWriter() {
  const child = start(PYTHON, ["-I", "-S", peer("write_blocks.py")], { stdio: ["pipe", "pipe", "inherit"] });
  const nextLine = lineReader(child.stdout);
  return async (pipeBytes, count, writer) => {
    child.stdin.write(`${pipeBytes} ${count} ${writer}\n`);
    const fd = Number(await nextLine());
    let missing = count * BLOCK;
    let begin;
    const whole = new Promise((resolve) => {
      const socket = readPipe(child.pid, fd, (chunk) => {
        begin ??= performance.now();
        missing -= chunk.length;
        if (missing > 0) return;
        resolve((performance.now() - begin) / 1000);
        socket.destroy();
      });
    });
    child.stdin.write("taken\n");
    return within(20_000, writer, whole);
  };
}

/** Seconds for the same loop in a plain Python, measured there. */
async function printToNull(loop) {
  const code = `import sys, time\nstart = time.perf_counter()\n${loop}sys.stdout.flush()\nsys.stderr.write(f"{time.perf_counter() - start}\\n")`;
  const child = start(PYTHON, ["-I", "-c", code], { stdio: ["ignore", "ignore", "pipe"] });
  return Number(await within(20_000, "printing", lineReader(child.stderr)()));
}
