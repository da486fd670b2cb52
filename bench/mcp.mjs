// G. MCP: the cost of a call compared with the protocol itself, the time to the list of tools, and memory growth. And a shell
// command, compared with starting bash.

import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import {
  cleanEnvironment,
  descendants,
  lineReader,
  peer,
  pin,
  proportionalBytes,
  PYTHON,
  start,
  unpin,
  within,
} from "./lib/processes.mjs";
import { openBenchRuntime } from "./lib/runtime.mjs";
import { compare, median, race, timeEach } from "./lib/stats.mjs";

const CLI = fileURLToPath(new URL("../dist/cli.cjs", import.meta.url));
const CODE = "1+1";
const INITIALIZE = {
  method: "initialize",
  params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "bench", version: "1" } },
};

export async function measure({ quick, row, note, part }) {
  const folder = mkdtempSync(join(tmpdir(), "rlm-bench-"));
  const env = { ...cleanEnvironment(), RLM_PYTHON: PYTHON, RLM_DATA: folder };
  const open = (command) => openClient(command, env, folder);
  try {
    await part(measureStart, { quick, row, open });
    if (!pin()) note("taskset is absent: client, server and worker may be on different cores");
    await part(measureCalls, { quick, row, open });
    await part(measureGrowth, { quick, row, open });
    await part(measureShell, { quick, row });
    unpin();
  } finally {
    rmSync(folder, { recursive: true });
  }
}

const OURS = [CLI, "mcp-serve"];
const NOOP = [peer("noop_mcp.mjs")];

async function measureStart({ quick, row, open }) {
  const timeStart = (command) => async () => {
    const begin = performance.now();
    const client = await open(command);
    const { tools } = await client.request({ method: "tools/list", params: {} });
    const ms = performance.now() - begin;
    if (tools.length === 0) throw new Error("no tools");
    await client.close();
    return [ms];
  };
  const medians = await race({ ours: timeStart(OURS), floor: timeStart(NOOP) }, quick ? 3 : 10);
  row({
    question: "MCP on stdio: start to the answer of `tools/list`",
    ours: { best: median(medians.ours), unit: "ms" },
    aim: { below: 400 },
  });
  row({
    question: "MCP on stdio: start to the answer of `tools/list`",
    ours: { best: Math.min(...medians.ours), unit: "ms" },
    other: { name: "a server with one tool, same SDK, not bundled", best: Math.min(...medians.floor), unit: "ms" },
    ratio: compare(medians.ours, medians.floor),
  });
}

async function measureCalls({ quick, row, open }) {
  const ours = await open(OURS);
  const noop = await open(NOOP);
  const call = (client, name) => () =>
    client.request({ method: "tools/call", params: { name, arguments: { code: CODE } } }).then(expectTwo);
  const samples = quick ? 100 : 200;
  const contenders = {
    ours: () => timeEach(samples, call(ours, "execute_python")),
    floor: () => timeEach(samples, call(noop, "noop")),
  };
  for (let index = 0; index < 3; index += 1) for (const contender of Object.values(contenders)) await contender();
  const medians = await race(contenders, quick ? 6 : 15);
  row({
    question: 'MCP on stdio: `execute_python("1+1")`',
    ours: { best: Math.min(...medians.ours), unit: "us" },
    other: { name: "a tool that does nothing, same SDK", best: Math.min(...medians.floor), unit: "us" },
    ratio: compare(medians.ours, medians.floor),
    aim: { most: 1.5 },
    floor: medians.floor,
  });
  await Promise.all([ours.close(), noop.close()]);
}

async function measureGrowth({ quick, row, open }) {
  const client = await open(OURS);
  const calls = quick ? 300 : 1000;
  const run = async () => {
    for (let index = 0; index < calls; index += 1) {
      const isShell = index % 50 === 0;
      const args = isShell ? { command: "true" } : { code: `print("x" * 1000); ${CODE}` };
      await client.request({
        method: "tools/call",
        params: { name: isShell ? "shell" : "execute_python", arguments: args },
      });
    }
    return (
      [client.pid, ...descendants(client.pid)].reduce((sum, pid) => sum + (proportionalBytes(pid) ?? 0), 0) / 2 ** 20
    );
  };
  for (let index = 0; index < 3; index += 1) await run(); // warm-up
  const before = await run();
  const after = await run();
  row({
    question: `MCP: memory of server and session after ${calls} more calls`,
    ours: { best: after, unit: "MiB" },
    other: { name: `before them, after ${4 * calls} others`, best: before, unit: "MiB" },
    ratio: { best: after / before },
    aim: { most: 1.05 },
  });
  await client.close();
}

async function measureShell({ quick, row }) {
  const runtime = await openBenchRuntime({ poolSize: 0 });
  const session = await runtime.openSession();
  const contenders = {
    ours: () => timeEach(20, () => runtime.shell("true", { session })),
    floor: () =>
      timeEach(
        20,
        () => new Promise((resolve) => spawn("bash", ["-c", "true"], { stdio: "pipe" }).once("close", resolve)),
      ),
  };
  const medians = await race(contenders, quick ? 4 : 12);
  row({
    question: "Shell command `true`, every wall",
    ours: { best: Math.min(...medians.ours) / 1000, unit: "ms" },
    other: { name: "spawn of `bash -c true`", best: Math.min(...medians.floor) / 1000, unit: "ms" },
    ratio: compare(medians.ours, medians.floor),
  });
}

/** A client of one server: newline-delimited JSON-RPC, one request at a time. */
async function openClient([script, ...args], env, cwd) {
  const child = start(process.execPath, [script, ...args], { stdio: ["pipe", "pipe", "inherit"], env, cwd });
  const next = lineReader(child.stdout);
  let made = 0;
  const request = async (message) => {
    made += 1;
    const id = made;
    child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", id, ...message })}\n`);
    for (;;) {
      const answer = JSON.parse(await within(30_000, message.method, next()));
      if (answer.id !== id) continue; // a notification
      if (answer.error !== undefined) throw new Error(answer.error.message);
      return answer.result;
    }
  };
  const close = () =>
    new Promise((resolve) => {
      child.once("exit", resolve);
      child.stdin.end();
      setTimeout(() => child.kill("SIGKILL"), 3000).unref(); // the peer may not exit by itself
    });
  await request(INITIALIZE);
  child.stdin.write('{"jsonrpc":"2.0","method":"notifications/initialized"}\n');
  return { request, close, pid: child.pid };
}

function expectTwo({ content }) {
  if (content[0]?.text !== "→ 2") throw new Error(`an answer of another kind: ${content[0]?.text}`);
}
