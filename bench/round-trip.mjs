// B. A warm session: how long from `execute` to the result of a statement that does nothing?

import { openEcho } from "./lib/channel.mjs";
import { openKernel } from "./lib/ipykernel.mjs";
import { watchLoop } from "./lib/loop-delay.mjs";
import { cpuMicroseconds, descendants, forkServers, lineReader, peer, pin, PYTHON, start } from "./lib/processes.mjs";
import { openBenchRuntime } from "./lib/runtime.mjs";
import { compare, race, timeEach } from "./lib/stats.mjs";

export async function measure({ quick, row, note, delay, absent }) {
  if (!pin()) note("taskset is absent: host and workers may be on different cores, which costs more than all code");
  const runtime = await openBenchRuntime({ poolSize: 0 });
  const session = await runtime.openSession();
  const { echo, pid: echoPid } = await openEcho();
  const jsonLines = openJSONLines();
  const kernel = await openKernel(absent);
  const samples = quick ? 150 : 300;
  const slow = quick ? 10 : 25;
  const line = '{"id":"s1.1000","cmd":"exec","count":1000,"code":"x=1"}\n';
  let unique = 0;
  const contenders = {
    floor: () => timeEach(samples, () => echo(line)),
    ours: () => timeEach(samples, () => session.execute("x=1")),
    unique: () => timeEach(samples, () => session.execute(`x=${(unique += 1)}`)),
    jsonLines: () => timeEach(samples, () => jsonLines("x=1")),
    ...(kernel && { kernel: () => kernel.roundTrips(slow) }),
  };
  for (let index = 0; index < 3; index += 1) await contenders.ours(); // warm-up
  const medians = await race(contenders, quick ? 8 : 20);
  const us = (name) => ({ best: Math.min(...medians[name]), unit: "us" });

  row({
    question: "Warm `x=1`",
    ours: us("ours"),
    other: { name: "raw pipe echo", ...us("floor") },
    ratio: compare(medians.ours, medians.floor),
    aim: { most: 4.5 },
    floor: medians.floor,
  });
  row({
    question: "Warm `x=N`, new code each time",
    ours: us("unique"),
    other: { name: "raw pipe echo", ...us("floor") },
    ratio: compare(medians.unique, medians.floor),
    aim: { most: 4.5 },
    floor: medians.floor,
  });
  row({
    question: "Warm `x=1`",
    ours: us("ours"),
    other: { name: "JSON line per print", ...us("jsonLines") },
    ratio: compare(medians.jsonLines, medians.ours),
    aim: { least: 2.5 },
    floor: medians.floor,
  });
  if (kernel) {
    row({
      question: "Warm `x=1`",
      ours: us("ours"),
      other: { name: "ipykernel", ...us("kernel") },
      ratio: compare(medians.kernel, medians.ours),
      aim: { least: 100 },
      floor: medians.floor,
    });
  }

  const workers = descendants(forkServers()[0]);
  const many = quick ? 1000 : 3000;
  const ours = await cpuOf(workers, many, () => session.execute("x=1"));
  const floor = await cpuOf([echoPid], many, () => echo(line));
  row({
    question: "Processor time of a warm `x=1`, host and worker",
    ours: { best: ours.host + ours.others, unit: "us" },
    other: { name: "raw pipe echo", best: floor.host + floor.others, unit: "us" },
    ratio: { best: (ours.host + ours.others) / (floor.host + floor.others) },
  });
  note(
    `processor time of one round trip: host ${ours.host.toFixed(1)} us, worker ${ours.others.toFixed(1)} us; ` +
      `of the echo: host ${floor.host.toFixed(1)} us, Python ${floor.others.toFixed(1)} us`,
  );

  const stopWatching = watchLoop();
  await timeEach(many, () => session.execute("x=1"));
  delay("round trips", stopWatching());
}

/** A worker that sends a JSON line per write, over stdin and stdout. */
function openJSONLines() {
  const child = start(PYTHON, ["-I", peer("json_lines.py")], { stdio: ["pipe", "pipe", "inherit"] });
  const nextLine = lineReader(child.stdout);
  let count = 0;
  return async (code) => {
    count += 1;
    child.stdin.write(`${JSON.stringify({ id: String(count), code })}\n`);
    for (;;) {
      const message = JSON.parse(await nextLine());
      if (message.type === "control") return message;
    }
  };
}

/** CPU time per operation in microseconds, of this process and of others. */
async function cpuOf(pids, count, operation) {
  const before = pids.map(cpuMicroseconds);
  const own = process.cpuUsage();
  await timeEach(count, operation);
  const { user, system } = process.cpuUsage(own);
  const others = pids.reduce((sum, pid, index) => sum + cpuMicroseconds(pid) - before[index], 0);
  return { host: (user + system) / count, others: others / count };
}
