// A program that uses the SDK ends by itself when nothing runs, also if it closes nothing, and leaves nothing behind.

import { mkdirSync, mkdtempSync, readdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { hasPyodide, installWasm } from "../environments/wasm/open-wasm.ts";
import { comesTrue, isAlive } from "../hostile/machine.ts";
import { makeDataFolder } from "../make-data-folder.ts";
import { remove } from "../remove.ts";
import { Program, type Ended } from "./program.ts";
import { uniqueSleep } from "./processes.ts";

const SDK = new URL("../../dist/index.js", import.meta.url).href;
const TESTING = new URL("../../dist/testing.js", import.meta.url).href;
const REPORT = new URL("../fixtures/report-processes.mjs", import.meta.url).href;

/** Unsettled top-level `await`: Node ends the program with this code. */
const UNSETTLED = 13;

const START = `
import { openRuntime } from ${JSON.stringify(SDK)};
import { createScriptedBackend } from ${JSON.stringify(TESTING)};
const print = (text) => void process.stdout.write(text + "\\n");
`;
/** No timeout keeps the program alive, those of the SDK included, so only the work that is tested does. */
const UNREFERENCED = `
const { setTimeout: setReferenced } = globalThis;
globalThis.setTimeout = (...args) => setReferenced(...args).unref();
const soon = () => new Promise((resolve) => setTimeout(resolve, 300));
`;
const RUNTIME = `
const runtime = await openRuntime({ preload: [], poolSize: 1 });
`;
const SESSION = `${RUNTIME}
const session = await runtime.openSession();
`;

/** Runs a program until it has ended. Fails if a process or a temporary file of it is left. */
async function run(code: string, env: Readonly<Record<string, string>> = {}): Promise<Pick<Ended, "code" | "stdout">> {
  const folder = mkdtempSync(join(tmpdir(), "end-of-program-"));
  const temp = join(folder, "tmp");
  mkdirSync(temp, { mode: 0o1777 });
  const data = makeDataFolder(join(folder, "data"));
  const args = ["--import", REPORT, "--input-type=module", "--eval", START + code];
  const program = new Program(process.execPath, args, { env: { TMPDIR: temp, RLM_DATA: data, ...env } });
  onTestFinished(() => program[Symbol.asyncDispose]()); // also if it never ends
  const ended = await program.ended;
  const report = /^\[[\d,]*\]/m.exec(ended.stderr)?.[0];
  if (report === undefined || ended.code === 1) throw new Error(`the program failed: ${ended.stderr}`);
  const processes = JSON.parse(report) as number[];
  expect(await comesTrue(() => !processes.some(isAlive)), `${processes.length} processes end`).toBe(true);
  expect(readdirSync(temp)).toEqual([]);
  remove(folder);
  return { code: ended.code, stdout: ended.stdout };
}

describe("a program ends without close()", () => {
  test("after an execution, with all defaults", async () => {
    const code = `
const runtime = await openRuntime();
const session = await runtime.openSession();
print((await session.execute("1 + 1")).value["text/plain"]);`;
    expect(await run(code)).toEqual({ code: 0, stdout: "2\n" });
  });

  test("with an idle session, a subscription, a watch and an open file", async () => {
    const code = `${SESSION}
session.subscribe(({ type }) => print(type));
session.hold();
await session.files.write("kept", "text");
const pieces = session.files.readStream("kept")[Symbol.asyncIterator]();
await pieces.next();
const watch = await session.files.watch();
void watch[Symbol.asyncIterator]().next();
await session.execute("x = 1");`;
    expect(await run(code)).toEqual({ code: 0, stdout: "execution-start\nexecution-end\n" });
  });

  test("with a pool that was filled", async () => {
    const code = `
const runtime = await openRuntime({ preload: [], poolSize: 2 });
await runtime.warm();
print((await runtime.info()).environment);`;
    expect(await run(code)).toEqual({ code: 0, stdout: "local\n" });
  });

  test("with a fork, a checkpoint and threads and processes that earlier code left", async () => {
    const left = `import subprocess, threading; subprocess.Popen(["sleep", "${uniqueSleep()}"]); x = 1`;
    const code = `${SESSION}
await session.execute("x = 0");
const copy = await session.fork();
await session.checkpoint();
await session.execute(${JSON.stringify(left)});
await session.execute("threading.Thread(target=threading.Event().wait, daemon=True).start()");
print((await copy.execute("x")).value["text/plain"]);`;
    expect(await run(code)).toEqual({ code: 0, stdout: "0\n" });
  });

  test("after a task whose command left a process", async () => {
    const code = `${RUNTIME}
const task = runtime.shell("sleep ${uniqueSleep()} & echo started");
const { stdout, background } = await task;
print(stdout.trim() + " " + background);`;
    expect(await run(code)).toEqual({ code: 0, stdout: "started true\n" });
  });

  test("after opening failed, because there is no Python", async () => {
    const code = `${RUNTIME}
await runtime.openSession().catch(({ code }) => print(code));`;
    expect(await run(code, { RLM_PYTHON: "/nowhere/python3" })).toEqual({
      code: 0,
      stdout: "ENVIRONMENT_UNAVAILABLE\n",
    });
  });

  test.skipIf(!hasPyodide).each([
    ["with an idle session in wasm, behind the seat belt", `await opening;`],
    ["while a session in wasm is being opened that nobody awaits", `await started(); await runtime.close();`],
  ])("%s", { tags: "stress" }, async (_name, end) => {
    installWasm();
    const code = `
import { readdirSync } from "node:fs";
const started = async () => {
  while (!readdirSync(process.env.TMPDIR).some((name) => name.startsWith("rlm-wasm-"))) await new Promise(setImmediate);
};
const runtime = await openRuntime({ environment: "wasm", preload: [], poolSize: 0 });
const opening = runtime.openSession();
opening.catch(() => {});
${end}
print("end");`;
    const env = { RLM_DATA: process.env["RLM_DATA"] ?? "", RLM_SANDBOX_TIER: "seat-belt" };
    expect(await run(code, env)).toEqual({ code: 0, stdout: "end\n" });
  });

  test("although it awaits what an idle session never sends", async () => {
    const code = `${SESSION}
await new Promise((resolve) => session.subscribe(resolve));`;
    expect(await run(code)).toEqual({ code: UNSETTLED, stdout: "" });
  });
});

describe("a program does not end", () => {
  test("before executions that nobody awaits have ended, waiting ones too", async () => {
    const code = `${SESSION}
session.subscribe((event) => {
  if (event.type === "output-delta") print(event.text.trim());
  if (event.type === "execution-end") print(event.result.status);
});
session.execute("import time; time.sleep(0.3); print('first')");
session.execute("time.sleep(0.3); print('second')");`;
    expect(await run(UNREFERENCED + code)).toEqual({ code: 0, stdout: "first\nok\nsecond\nok\n" });
  });

  test("while it iterates an execution that runs", async () => {
    const code = `${SESSION}
const execution = session.execute("import time\\nfor n in range(3):\\n time.sleep(0.1)\\n print(n, flush=True)");
for await (const event of execution) if (event.type === "output-delta") print(event.text.trim());`;
    expect(await run(UNREFERENCED + code)).toEqual({ code: 0, stdout: "0\n1\n2\n" });
  });

  test("before a call from inside was answered, also one of a thread that outlived its execution", async () => {
    const code = `${RUNTIME}
const session = await runtime.openSession({
  onCall: async ({ name }) => {
    if (name === "late") await soon();
    await soon();
    print(name);
  },
});
await session.execute("import rlm_host, threading");
session.execute("rlm_host.call('first')");
session.execute("threading.Thread(target=rlm_host.call, args=('late',)).start(); rlm_host.call('second')");`;
    expect(await run(UNREFERENCED + code)).toEqual({ code: 0, stdout: "first\nsecond\nlate\n" });
  });

  test("before a task has ended, also a paused one", async () => {
    const code = `${RUNTIME}
const task = runtime.shell("read line; echo $line", { stdin: "open" });
task.then(({ stdout }) => print(stdout.trim()));
await task.pause();
soon().then(async () => {
  print((await task.info()).status);
  await task.resume();
  await soon();
  await task.write("given\\n");
});`;
    expect(await run(UNREFERENCED + code)).toEqual({ code: 0, stdout: "paused\ngiven\n" });
  });

  test("before a run has ended and is recorded, though its model uses nothing but timers", async () => {
    const code = `${RUNTIME}
const backend = createScriptedBackend(async (_request, n) => {
  await soon();
  return n === 0 ? "\`\`\`repl\\nx = 6 * 7\\n\`\`\`" : "FINAL_VAR(x)";
});
const run = runtime.rlm({ backend, model: "scripted", mode: "rlm" }).run({ query: "What is it?" });
run.then(({ status, answer }) => print(status + " " + answer));
process.on("exit", () => print(readdirSync(join(process.env.RLM_DATA, "runs")).length + " recorded"));`;
    const imports = `import { readdirSync } from "node:fs"; import { join } from "node:path";`;
    expect(await run(imports + UNREFERENCED + code)).toEqual({ code: 0, stdout: "final 42\n1 recorded\n" });
  });

  test("before any other operation has settled", async () => {
    const file = "join(process.env.RLM_DATA, 'state.rlm')";
    const imports = `import { join } from "node:path";`;
    const code = `${SESSION}
const steps = {
  set: () => session.set("x", { json: [1] }),
  save: () => session.save(${file}),
  load: async () => (await runtime.loadSession(${file})).close(),
  checkpoint: () => session.checkpoint(),
  rewind: () => session.rewind("c1"),
  fork: async () => (await session.fork()).close(),
  variables: () => session.variables(),
  inspect: () => session.inspect("x"),
  complete: () => session.complete("pri", 3),
  info: () => session.info(),
  get: () => session.get("x"),
  write: () => session.files.write("a", "content"),
  stream: () => session.files.write("b", (async function* () { await soon(); yield "late"; })()),
  read: () => session.files.read("b"),
  list: () => session.files.list(),
  missing: () => session.files.read("c").catch(() => {}),
  watch: async () => (await session.files.watch()).close(),
  reset: () => session.reset(),
  add: () => runtime.stdlib.add("def double(n): return 2 * n"),
  functions: () => runtime.stdlib.list(),
  once: () => runtime.execute("1"),
  shell: async () => {
    const task = runtime.shell("sleep ${uniqueSleep()} & true");
    await task;
    await task.info();
    await task.cancel();
  },
  warm: () => runtime.warm(),
  close: () => session.close(),
};
for (const [name, step] of Object.entries(steps)) {
  await step();
  print(name);
}`;
    const { stdout, ...ended } = await run(imports + UNREFERENCED + code);
    expect([stdout.split("\n").at(-2), ended]).toEqual(["close", { code: 0 }]);
  });

  test("before close() has ended everything, and ends then", async () => {
    const code = `${SESSION}
session.execute("while True: pass", { timeoutMs: null });
await runtime.close();
print("closed");`;
    expect(await run(UNREFERENCED + code)).toEqual({ code: 0, stdout: "closed\n" });
  });
});
