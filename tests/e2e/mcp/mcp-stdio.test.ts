// The built program as an MCP server on standard input and output.

import { spawn } from "node:child_process";
import { once } from "node:events";
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { afterAll, afterEach, beforeEach, describe, expect, test } from "vitest";
import { makeDataFolder } from "../../make-data-folder.ts";
import { PYTHON } from "../../open.ts";
import { TIER } from "../../tier.ts";
import { CLI, MCPProgram } from "./mcp-program.ts";
import { countProcesses, isRunning, uniqueSleep } from "../processes.ts";
import { rlm } from "../program.ts";
import { remove } from "../../remove.ts";

/** The data folder of all servers in this file. */
const data = makeDataFolder();
let folder: string;
beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), "rlm-mcp-e2e-")));
  mkdirSync(join(folder, "project"));
});
afterEach(() => remove(folder));
afterAll(() => remove(data));

const start = (args: readonly string[] = [], dataFolder = data): Promise<MCPProgram> =>
  MCPProgram.start({ args, cwd: join(folder, "project"), env: { RLM_DATA: dataFolder } });

describe.each(["legacy", "modern"] as const)("the official client in the %s era", (era) => {
  test("lists and calls tools", async () => {
    const client = new Client(
      { name: "test", version: "1" },
      { versionNegotiation: { mode: era === "modern" ? { pin: "2026-07-28" } : "legacy" } },
    );
    const env = { PATH: process.env["PATH"] ?? "", RLM_PYTHON: PYTHON, RLM_DATA: data };
    await client.connect(
      new StdioClientTransport({ command: process.execPath, args: [CLI, "mcp-serve"], env, cwd: folder }),
    );
    try {
      expect((await client.listTools()).tools).toHaveLength(19);
      const result = await client.callTool({ name: "execute_python", arguments: { code: "print('hi')\n6 * 7" } });
      expect(result.content).toEqual([{ type: "text", text: "hi\n→ 42" }]);
    } finally {
      await client.close();
    }
  });
});

describe("start", () => {
  test("has no side effects: no Python, no folders but the cache of the program", async () => {
    await using program = await start([], join(folder, "data"));
    await program.request("tools/list");
    await program.request("resources/templates/list");
    const children = readFileSync(`/proc/${program.child.pid}/task/${program.child.pid}/children`, "utf8");
    expect(children.trim()).toBe("");
    expect(readdirSync(join(folder, "data"))).toEqual(["code-cache"]);
  });

  test.each([
    [["--tools", "core,nonsense"], /^rlm: --tools: there is no tool 'nonsense'/i],
    [["--tools", "rlm_query"], /needs a model to ask/],
    [["--mount", "/no/such/folder"], /cannot mount '\/no\/such\/folder': it does not exist/],
    [["--mount", "/"], /cannot mount '\/'/],
    [["extra"], /^rlm: /],
  ])("%j is refused before anything starts", async (args, reason) => {
    const { code, stdout, stderr } = await rlm(["mcp-serve", ...args]);
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr).toMatch(reason);
  });

  test("--tools selects the tools, --structured adds JSON", async () => {
    await using program = await start(["--tools", "core", "--structured"]);
    const { result } = (await program.request("tools/list")) as { result?: { tools?: { name: string }[] } };
    expect(result?.tools?.map(({ name }) => name)).toEqual(["execute_python", "shell", "shell_status"]);
    const called = await program.request("tools/call", { name: "shell", arguments: { command: "echo a" } });
    expect(called.result).toMatchObject({ structuredContent: { stdout: "a\n", exit_code: 0 } });
  });
});

describe("what is visible", () => {
  test("the current folder, read-only at its own path, and mounted folders", async () => {
    const project = join(folder, "project");
    const other = join(folder, "other");
    mkdirSync(other, { mode: 0o777 });
    writeFileSync(join(project, "a.txt"), "from the host");
    await using program = await start(["--mount", `${other}:rw`]);
    expect(await program.call("shell", { command: `cat ${project}/a.txt` })).toMatch(/^from the host/);
    const writing = await program.call("shell", { command: `echo > ${project}/b` });
    expect(writing).toContain(TIER === "C" ? "Permission denied" : "Read-only file system");
    const listing = await program.call("shell", { command: `ls ${folder}` });
    if (TIER === "C") expect(listing).toContain("Permission denied");
    else expect(listing).toMatch(/^other\nproject/);
    expect(await program.call("shell", { command: `ls -A ${homedir()} /root 2>&1` })).not.toContain(".bash");
  });

  test("a deleted folder is reported with what to do", async () => {
    await using program = await start();
    rmSync(join(folder, "project"), { recursive: true });
    expect(await program.call("execute_python", { code: "1" })).toMatch(/Cannot mount .*project.*restart the server/);
  });
});

describe("two servers at once", () => {
  test("of one project share saved sessions and the standard library, and nothing else", async () => {
    const shared = makeDataFolder(join(folder, "data"));
    await using one = await start([], shared);
    await using two = await start([], shared);
    await Promise.all([one.call("execute_python", { code: "x = 1" }), two.call("execute_python", { code: "x = 2" })]);
    expect(await one.call("execute_python", { code: "x" })).toBe("→ 1");
    expect(
      await one.call("add_to_stdlib", { function_code: "def twice(n):\n    'Two times.'\n    return 2 * n" }),
    ).toBe("Kept: twice. Sessions created from now on have it.");
    expect(await one.call("add_to_stdlib", { function_code: "def broken(" })).toMatch(
      /^Cannot add to the standard library: /,
    );
    expect(await two.call("list_stdlib_functions")).toBe("twice(n): Two times.");
    expect(await two.call("create_repl_session", { session_id: "s" })).toContain("Standard library: loaded.");
    expect(await two.call("execute_repl", { session_id: "s", code: "twice(21)" })).toBe("→ 42");
    await one.call("save_repl_session", { session_id: "default", filepath: "mine" });
    expect(await two.call("load_repl_session", { session_id: "theirs", filepath: "mine" })).toContain("1 name");
    expect(readdirSync(join(shared, "sessions"))).toEqual(["mine.rlm"]);
  });

  test("nobody else can read what it keeps", async () => {
    const kept = join(folder, "new", "data");
    await using program = await start([], kept);
    await program.call("add_to_stdlib", { function_code: "def kept(): pass" });
    await program.call("execute_python", { code: "x = 1" });
    await program.call("save_repl_session", { session_id: "default", filepath: "mine" });
    const names = readdirSync(kept, { recursive: true, encoding: "utf8" });
    expect(names).toEqual(expect.arrayContaining(["sessions/mine.rlm", "stdlib", "python-cache"]));
    const isOpen = (name: string): boolean =>
      !/^(?:python|code)-cache\//.test(name) && (statSync(join(kept, name)).mode & 0o077) !== 0;
    expect(["", ...names].filter(isOpen)).toEqual([]);
  });

  test("of two projects have each a standard library of its own", async () => {
    const shared = makeDataFolder(join(folder, "data"));
    await using one = await start([], shared);
    await using two = await MCPProgram.start({ cwd: folder, env: { RLM_DATA: shared } });
    await one.call("add_to_stdlib", { function_code: "def planted(): pass" });
    expect(await one.call("list_stdlib_functions")).toBe("planted()");
    expect(await two.call("list_stdlib_functions")).toBe("Nothing is kept yet. add_to_stdlib keeps functions.");
    expect(await two.call("execute_python", { code: "planted" })).toContain("NameError");
    expect(readdirSync(join(shared, "stdlib"))).toEqual([expect.stringMatching(/^project-[0-9a-f]{32}\.py$/)]);
  });
});

describe("standard output", () => {
  test("contains only messages, whatever code prints", async () => {
    await using program = await start();
    const code =
      "import os, sys\nprint('out')\nos.write(1, b'fd 1\\n')\nos.system('echo child')\nsys.stderr.write('err')";
    expect(await program.call("execute_python", { code })).toContain("child");
    expect(program.strange).toEqual([]);
    expect(program.stderr).toBe("");
  });

  test("lines that are not messages are ignored", async () => {
    await using program = await start();
    program.write("this is no JSON\n\n{}\n[1]\n");
    expect(await program.call("execute_python", { code: "1" })).toBe("→ 1");
    expect(program.strange).toEqual([]);
  });

  test("a message of 300 MB is refused with what to do, and is never held in memory", { tags: "stress" }, async () => {
    await using program = await start();
    await program.call("execute_python", { code: "1" });
    const before = peakResidentBytes(program);
    const reply = program.reply("big");
    program.write(
      '{"jsonrpc":"2.0","id":"big","method":"tools/call","params":{"name":"execute_python","arguments":{"code":"',
    );
    const piece = "x".repeat(1024 * 1024);
    for (let written = 0; written < 300; written += 1) {
      if (!program.child.stdin.write(piece))
        await new Promise<void>((resolve) => void program.child.stdin.once("drain", () => resolve()));
    }
    program.write('"}}}\n');
    expect((await reply).error).toMatchObject({
      code: -32600,
      message: expect.stringContaining("Put data into a file"),
    });
    // Chunks that were dropped are collected late, so the bound is generous; the message itself would exceed it twice.
    expect(peakResidentBytes(program) - before).toBeLessThan(150 * 1024 * 1024);
    expect(await program.call("execute_python", { code: "1" })).toBe("→ 1");
  });
});

describe("the end", () => {
  const endInput = (program: MCPProgram): void => void program.child.stdin.end();
  const sendSignal =
    (signal: NodeJS.Signals) =>
    (program: MCPProgram): void =>
      void program.child.kill(signal);
  const plain = (sleep: string) => ({ name: "shell", args: { command: `sleep ${sleep}` } });
  const deaf = (sleep: string) => ({ name: "shell", args: { command: `trap '' TERM INT HUP; sleep ${sleep}` } });
  const stubborn = (sleep: string) => ({ name: "execute_python", args: { code: toStubborn(sleep) } });

  test.each([
    ["the end of standard input", "nothing runs", endInput, undefined],
    ["the end of standard input", "a command runs", endInput, plain],
    ["the end of standard input", "a command runs that ignores signals", endInput, deaf],
    ["the end of standard input", "Python runs that ignores interrupts", endInput, stubborn],
    ["SIGTERM", "nothing runs", sendSignal("SIGTERM"), undefined],
    ["SIGTERM", "a command runs that ignores signals", sendSignal("SIGTERM"), deaf],
    ["SIGTERM", "Python runs that ignores interrupts", sendSignal("SIGTERM"), stubborn],
    ["SIGINT", "a command runs", sendSignal("SIGINT"), plain],
    ["SIGHUP", "a command runs", sendSignal("SIGHUP"), plain],
  ] as const)("%s stops it within a second when %s, and leaves nothing", async (_, __, bringEnd, toWork) => {
    await using program = await start();
    const sleep = uniqueSleep();
    if (toWork !== undefined) {
      const { name, args } = toWork(sleep);
      void program.call(name, args);
      await expect.poll(() => countProcesses(sleep)).toBe(1);
    }
    const asked = performance.now();
    bringEnd(program);
    expect(await program.exit).toBe(0);
    expect(performance.now() - asked).toBeLessThan(15_000); // a second on an idle machine
    await expect.poll(() => countProcesses(sleep)).toBe(0);
    expect(program.strange).toEqual([]);
  });

  test("killing the client stops the server and its processes", async () => {
    const sleep = uniqueSleep();
    const fixture = new URL("../../fixtures/mcp-client.mjs", import.meta.url).pathname;
    const client = spawn(process.execPath, [fixture, CLI, `sleep ${sleep}`], {
      env: { ...process.env, RLM_PYTHON: PYTHON },
    });
    const server = await new Promise<string>((resolve) =>
      client.stdout.once("data", (chunk: Buffer) => resolve(chunk.toString().trim())),
    );
    await expect.poll(() => countProcesses(sleep)).toBe(1);
    client.kill("SIGKILL");
    await expect.poll(() => isRunning(server)).toBe(false);
    await expect.poll(() => countProcesses(sleep)).toBe(0);
  });

  test("a client that does not read does not delay the exit", async () => {
    expect(await runSilentClient("end")).toBe("0");
  });

  test("a client that closes stdout and stderr stops it", async () => {
    expect(await runSilentClient("close")).toBe("0");
  });

  test("an unexpected error is logged and stops it", async () => {
    const flaw = "process.on('SIGUSR2', () => { throw new Error('flaw'); })";
    const env = { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(flaw)}`, RLM_DATA: data };
    await using program = await MCPProgram.start({ env });
    program.child.kill("SIGUSR2");
    expect(await program.exit).toBe(1);
    expect(program.stderr).toContain("flaw");
    expect(program.strange).toEqual([]);
  });

  test("a closed standard output stops it", async () => {
    await using program = await start();
    program.child.stdout.destroy();
    void program.request("tools/list");
    expect(await program.exit).toBe(0);
  });
});

/** The output of a client that sends requests and never reads. */
async function runSilentClient(how: "end" | "close"): Promise<string> {
  const fixture = new URL("../../fixtures/never-reads.py", import.meta.url).pathname;
  const client = spawn(PYTHON, [fixture, how, process.execPath, CLI, "mcp-serve"]);
  let printed = "";
  client.stdout.on("data", (chunk: Buffer) => void (printed += chunk.toString()));
  await once(client, "close");
  return printed.trim();
}

/** Python that ignores interrupts, with a process that the test can find. */
function toStubborn(sleep: string): string {
  return `import signal, subprocess, time
signal.signal(signal.SIGINT, signal.SIG_IGN)
subprocess.Popen(["sleep", "${sleep}"])
while True:
    try: time.sleep(1)
    except BaseException: pass`;
}

function peakResidentBytes({ child }: MCPProgram): number {
  return Number(/VmHWM:\s+(?<kib>\d+)/.exec(readFileSync(`/proc/${child.pid}/status`, "utf8"))?.groups?.["kib"]) * 1024;
}
