// D. Five hundred sessions at once: the memory of each, their joint throughput, and their cost when idle.

import { openKernel } from "./lib/ipykernel.mjs";
import { watchLoop } from "./lib/loop-delay.mjs";
import { cpuMicroseconds, cpuTicks, descendants, forkServers, proportionalBytes, within } from "./lib/processes.mjs";
import { openBenchRuntime } from "./lib/runtime.mjs";

const MIB = 2 ** 20;
const AT_ONCE = 50;

export async function measure({ quick, row, note, delay, absent, part }) {
  const count = quick ? 100 : 500;
  const runtime = await openBenchRuntime({ poolSize: 0, limits: { sessions: count } });
  const stopWatching = watchLoop();
  const begin = performance.now();
  const sessions = await openMany(runtime, count);
  await Promise.all(sessions.map((session) => session.execute("x=1")));
  const eachMs = (performance.now() - begin) / count;
  delay(`opening ${count} sessions`, stopWatching());

  await part(measureMemory, { count, row, note, absent });
  await part(measureThroughput, { sessions, quick, row, note, delay });
  await part(measureIdle, { count, row, note });
  await part(measureCreation, { count, eachMs, row, absent });
}

async function openMany(runtime, count) {
  const sessions = [];
  while (sessions.length < count) {
    const group = Array.from({ length: Math.min(AT_ONCE, count - sessions.length) }, () => runtime.openSession());
    sessions.push(...(await within(60_000, "opening sessions", Promise.all(group))));
  }
  return sessions;
}

async function measureCreation({ count, eachMs, row, absent }) {
  const kernel = await openKernel(absent);
  if (kernel === undefined) return;
  const startMs = await kernel.start();
  row({
    question: `Create to first result, ${count} sessions that all stay alive: per session`,
    ours: { best: eachMs, unit: "ms" },
    other: { name: "ipykernel, alone", best: startMs, unit: "ms" },
    ratio: { best: startMs / eachMs },
    aim: { least: 50 },
  });
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

async function measureThroughput({ sessions, quick, row, note, delay }) {
  const seconds = quick ? 1.5 : 3;
  const run = async (until, code) => {
    let done = 0;
    const loop = async (session) => {
      while (performance.now() < until) {
        await session.execute(code);
        done += 1;
      }
    };
    await within(60_000, "executions", Promise.all(sessions.map(loop)));
    return done;
  };
  await run(performance.now() + 500, "x=1");
  const [server] = forkServers();
  const workers = descendants(server);
  const stopWatching = watchLoop();
  const before = sum(workers.map(cpuMicroseconds));
  const own = process.cpuUsage();
  const begin = performance.now();
  const done = await run(begin + seconds * 1000, "x=1");
  const rate = done / ((performance.now() - begin) / 1000);
  delay("executes of many sessions", stopWatching());
  const { user, system } = process.cpuUsage(own);
  const hostUs = (user + system) / done;
  const workerUs = (sum(workers.map(cpuMicroseconds)) - before) / done;
  note(`processor time of one execute among many: host ${hostUs.toFixed(0)} us, worker ${workerUs.toFixed(0)} us`);
  row({
    question: `Executes per second, ${sessions.length} sessions, one in flight in each`,
    ours: { best: rate, unit: "/s" },
    aim: { least: 10_000 },
  });
}

async function measureIdle({ count, row, note }) {
  await new Promise((resolve) => setTimeout(resolve, 1500)); // let the host collect garbage
  const [server] = forkServers();
  const sandboxes = descendants(server);
  const read = () => ({ sandboxes: sum(sandboxes.map(cpuTicks)), server: cpuTicks(server) });
  const before = read();
  const hostBefore = cpuTicks(process.pid); // after reading, which costs the host time
  await new Promise((resolve) => setTimeout(resolve, 3000));
  const host = cpuTicks(process.pid) - hostBefore;
  const after = read();
  const others = { sandboxes: after.sandboxes - before.sandboxes, server: after.server - before.server };
  const total = host + others.server + others.sandboxes;
  if (total > 0) note(`idle: host ${host}, fork server ${others.server}, sandboxes ${others.sandboxes} ticks in 3 s`);
  row({
    question: `Processor time of ${count} idle sessions and the host in 3 s`,
    ours: { best: total, unit: "ticks of 10 ms" },
    aim: { most: 1 },
  });
}

function sum(values) {
  return values.reduce((a, b) => a + b, 0);
}
