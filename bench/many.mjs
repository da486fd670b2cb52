// D. Five hundred sessions at once: what does each cost in memory, what do they do together, what do they do idle?

import { openKernel } from "./lib/ipykernel.mjs";
import { watchLoop } from "./lib/loop-delay.mjs";
import { cpuTicks, descendants, forkServers, proportionalBytes, within } from "./lib/processes.mjs";
import { openBenchRuntime } from "./lib/runtime.mjs";

const MIB = 2 ** 20;
const AT_ONCE = 50;

export async function measure({ quick, row, note, delay, absent }) {
  const count = quick ? 100 : 500;
  const runtime = await openBenchRuntime({ poolSize: 0, limits: { sessions: count } });
  const stopWatching = watchLoop();
  const sessions = await openMany(runtime, count);
  await Promise.all(sessions.map((session) => session.execute("x=1").result));
  delay(`opening ${count} sessions`, stopWatching());

  await measureMemory({ count, row, note, absent });
  await measureThroughput({ sessions, quick, row, delay });
  await measureIdle({ count, row, note });
}

async function openMany(runtime, count) {
  const sessions = [];
  while (sessions.length < count) {
    const group = Array.from({ length: Math.min(AT_ONCE, count - sessions.length) }, () => runtime.openSession());
    sessions.push(...(await within(60_000, "opening sessions", Promise.all(group))));
  }
  return sessions;
}

async function measureMemory({ count, row, note, absent }) {
  const [server] = forkServers();
  const pids = [server, ...descendants(server)];
  const sizes = pids.map(proportionalBytes);
  if (sizes.includes(undefined)) {
    note("memory of sessions was not measured: it takes root, or the user that they run as");
    return;
  }
  const each = sum(sizes) / count / MIB;
  row({
    question: `Memory of an idle session, one of ${count}, all of its processes`,
    ours: { best: each, unit: "MiB" },
    aim: { most: 5 },
  });
  const kernel = await openKernel(absent);
  const peer = kernel && proportionalBytes(kernel.pid);
  if (peer !== undefined) {
    row({
      question: `Memory of an idle session, one of ${count}, all of its processes`,
      ours: { best: each, unit: "MiB" },
      other: { name: "ipykernel", best: peer / MIB, unit: "MiB" },
      ratio: { best: each / (peer / MIB) },
      aim: { most: 0.1 },
    });
  }
}

async function measureThroughput({ sessions, quick, row, delay }) {
  const seconds = quick ? 1.5 : 3;
  const run = async (until, code) => {
    let done = 0;
    const loop = async (session) => {
      while (performance.now() < until) {
        await session.execute(code).result;
        done += 1;
      }
    };
    await within(60_000, "executions", Promise.all(sessions.map(loop)));
    return done;
  };
  await run(performance.now() + 500, "x=1");
  const stopWatching = watchLoop();
  const begin = performance.now();
  const done = await run(begin + seconds * 1000, "x=1");
  const rate = done / ((performance.now() - begin) / 1000);
  delay("executes of many sessions", stopWatching());
  row({
    question: `Executes per second, ${sessions.length} sessions, one in flight in each`,
    ours: { best: rate, unit: "/s" },
    aim: { least: 10_000 },
  });
}

async function measureIdle({ count, row, note }) {
  await new Promise((resolve) => setTimeout(resolve, 500));
  const [server] = forkServers();
  const pids = [process.pid, server, ...descendants(server)];
  const before = pids.map(cpuTicks);
  await new Promise((resolve) => setTimeout(resolve, 3000));
  const used = pids.map((pid, index) => cpuTicks(pid) - before[index]);
  const total = sum(used);
  const [host, forkServer] = used;
  if (total > 0) note(`idle: host ${host}, fork server ${forkServer}, sandboxes ${total - host - forkServer} ticks in 3 s`);
  row({
    question: `Processor time of ${count} idle sessions and the host in 3 s`,
    ours: { best: total, unit: "ticks of 10 ms" },
    aim: { most: 1 },
  });
}

function sum(values) {
  return values.reduce((a, b) => a + b, 0);
}
