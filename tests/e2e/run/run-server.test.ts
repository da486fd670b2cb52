// `rlm run --server`, the built program, against a real server with a scripted model.

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import type { RunResult } from "../../../src/protocol/runs.ts";
import { Folder } from "../../config/folder.ts";
import { countProcesses, uniqueSleep } from "../processes.ts";
import { rlm, start, type Ended, type Program } from "../program.ts";
import { startCuttingProxy } from "../serve/cutting-proxy.ts";
import { startStalledServer } from "./stalled-server.ts";
import { startServing, type Serving } from "../serving.ts";
import { KEYS, TestTerminal } from "../terminal.ts";

const fenced = (code: string): string => `\`\`\`repl\n${code}\n\`\`\``;
const marker = uniqueSleep();

/** The same line again: no more can be sent. */
const STUCK = /(sending the context: [^\r]*)\r\u001B\[K\1\r/; // oxlint-disable-line no-control-regex

/** By a word of the question. */
const RULES = [
  { match: "DESCRIBE", reply: fenced("FINAL(repr(context))") },
  { match: "LENGTH", reply: fenced("FINAL(len(context))") },
  { match: "SUBMIT", reply: fenced("SUBMIT(n=2)") },
  { match: "SLEEP", reply: fenced(`import subprocess\nsubprocess.run(["sleep", "${marker}"])`) },
  { match: "STEPS", reply: fenced("print(1)"), times: 3 },
  { match: "The work has to end", reply: "about 40" },
  { match: "PARTIAL", reply: fenced("print(1)") },
  { reply: fenced("FINAL('done')") },
];

let folder: Folder;
let server: Serving;
beforeAll(async () => {
  folder = new Folder({ "a.txt": "A\r\n", "b.json": '{"n": 12345678901234567890}', "c/d.md": "D", "c/.git/x": "x" });
  server = await serve();
});
afterAll(async () => {
  await server[Symbol.asyncDispose]();
  folder[Symbol.dispose]();
});

async function serve(): Promise<Serving> {
  folder.write("script.json", JSON.stringify({ rules: RULES }));
  return startServing([], { RLM_BACKEND: "scripted", RLM_MODEL: folder.at("script.json"), RLM_MODE: "rlm" });
}

function ask(question: string, args: readonly string[] = [], stdin = "", to = server): Program {
  return start(["run", question, "--server", ...args], { env: to.env, cwd: folder.path, stdin });
}

test("the answer is on stdout, the steps are on stderr, and the exit code is 0", async () => {
  const { code, stdout, stderr } = await ask("Why?").ended;
  expect({ code, stdout }).toEqual({ code: 0, stdout: "done\n" });
  expect(stderr).toMatch(/^n0 starts: Why\?\n[\s\S]*\nfinal · 1 node · 1 call · .* · run r-\w+\n$/);
});

test("more files than a form has parts are sent", async () => {
  using many = new Folder();
  for (let index = 0; index < 1_200; index += 1) many.write(`${index % 7}/${index}.txt`, `text ${index}`);
  const { stdout, stderr } = await ask("LENGTH", ["--context", many.path]).ended;
  expect(stdout).toBe("1200\n");
  expect(stderr).toContain("context: 1,200 files, ");
});

test("the address may follow --server, or be absent where a question follows it", async () => {
  const env = { ...server.env, RLM_URL: "http://127.0.0.1:1" };
  expect(await rlm(["run", "Why?", "--server", server.url, "--quiet"], { env })).toEqual({
    code: 0,
    stdout: "done\n",
    stderr: "",
  });
  expect((await server.rlm(["run", "--quiet", "--server", "Why is it so?"])).stdout).toBe("done\n");
});

test("contexts are variables as in a run on this machine", async () => {
  const answer = (args: readonly string[], stdin?: string): Promise<Ended> => ask("DESCRIBE", args, stdin).ended;
  expect((await answer(["--context", "a.txt"])).stdout).toBe("'A\\r\\n'\n");
  expect((await answer(["--context", "b.json"])).stdout).toBe("{'n': 12345678901234567890}\n");
  const several = await answer(["--context", "a.txt", "c"]);
  expect(several.stdout).toBe("{'a.txt': 'A\\r\\n', 'c/d.md': 'D'}\n");
  expect(several.stderr).toContain("rlm: not in the context: .git folders (1)\n");
  expect((await answer(["--context", "-"], "in\n")).stdout).toBe("'in\\n'\n");
});

test("a large context is streamed, and its progress is shown on a terminal", { tags: "stress" }, async () => {
  writeFileSync(join(folder.path, "large.txt"), "0123456789abcdef".repeat(8 * 1024 * 1024));
  const args = ["run", "LENGTH", "--server", "--context", folder.at("large.txt")];
  await using terminal = new TestTerminal(args, server);
  expect(await terminal.ended).toBe(0);
  expect(terminal.raw).toContain(`${128 * 1024 * 1024}\r\n`);
  expect(terminal.raw).toMatch(/(sending|sent) the context/);
});

test("Ctrl-C while the context is sent stops the sending: exit code 130", { tags: "stress" }, async () => {
  writeFileSync(join(folder.path, "large.txt"), "0123456789abcdef".repeat(8 * 1024 * 1024));
  await using stalled = await startStalledServer(server);
  const args = ["run", "LENGTH", "--server", stalled.url, "--context", folder.at("large.txt")];
  await using terminal = new TestTerminal(args, server);
  await terminal.untilRaw(STUCK);
  terminal.type(KEYS.ctrlC);
  expect(await terminal.ended).toBe(130);
});

test("--json prints the result; the answer follows the schema", async () => {
  folder.write("schema.json", '{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"]}');
  const { code, stdout, stderr } = await ask("SUBMIT", ["--schema", "schema.json", "--json", "--quiet"]).ended;
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  const result = JSON.parse(stdout) as RunResult;
  expect(result).toMatchObject({ status: "final", data: { n: 2 } });
  expect(Object.keys(result.usage.byNode)).toEqual(["n0"]);
});

test("at a limit of the command line the best answer is printed with exit code 3", async () => {
  const { code, stdout, stderr } = await ask("PARTIAL", ["--max-iterations", "1"]).ended;
  expect({ code, stdout }).toEqual({ code: 3, stdout: "about 40\n" });
  expect(stderr).toMatch(/\nrlm: the answer is not complete: /);
});

test("Ctrl-C cancels the run on the server: exit code 130, and no process is left", async () => {
  await using program = ask("SLEEP");
  await vi.waitFor(() => expect(countProcesses(marker)).toBe(1), { timeout: 20_000 });
  program.signal("SIGINT");
  const { code, stderr } = await program.ended;
  expect([code, stderr]).toEqual([130, expect.stringMatching(/\ncancelled · 1 node · /)]);
  await vi.waitFor(() => expect(countProcesses(marker)).toBe(0), { timeout: 20_000 });
});

test("a command that is ended cancels its run, too", async () => {
  await using program = ask("SLEEP");
  await vi.waitFor(() => expect(countProcesses(marker)).toBe(1), { timeout: 20_000 });
  program.signal("SIGTERM");
  expect((await program.ended).code).toBe(143);
  await vi.waitFor(() => expect(countProcesses(marker)).toBe(0), { timeout: 20_000 });
});

test("the events are resumed after the connection is cut", async () => {
  await using proxy = await startCuttingProxy(server.url, 2);
  const { code, stdout, stderr } = await ask("STEPS", ["--server", proxy.url]).ended;
  expect({ code, stdout }).toEqual({ code: 0, stdout: "done\n" });
  expect(stderr).toContain("failed: trying again\n");
  expect(stderr.match(/^n0 starts/gm)).toHaveLength(1);
});

test("a server that is killed and restarted has lost the run: exit code 70", { tags: "stress" }, async () => {
  await using other = await serve();
  await using program = ask("SLEEP", [], "", other);
  await vi.waitFor(() => expect(countProcesses(marker)).toBe(1), { timeout: 20_000 });
  await other.restart();
  const { code, stdout, stderr } = await program.ended;
  expect({ code, stdout }).toEqual({ code: 70, stdout: "" });
  expect(stderr).toMatch(/\nrlm: the connection to .* failed: trying again\n(?:.*\n)*rlm: .*its process is gone.*\n$/);
});

test("no server is exit code 70 with what to do", async () => {
  const { url, env, [Symbol.asyncDispose]: end } = await serve();
  await end();
  expect(await rlm(["run", "Why?", "--server"], { env })).toEqual({
    code: 70,
    stdout: "",
    stderr: `rlm: cannot reach ${url}: nothing listens there. Start a server with 'rlm serve', or check the address\n`,
  });
});

test("a wrong token is exit code 2, and is not repeated", async () => {
  const { code, stderr } = await rlm(["run", "Why?", "--server"], {
    env: { ...server.env, RLM_TOKEN: "not-this-one" },
  });
  expect([code, stderr]).toEqual([2, expect.stringMatching(/^rlm: .* rejected the token .*from RLM_TOKEN\)\n$/)]);
  expect(stderr).not.toContain("not-this-one");
});

test.each([
  [["Why?", "--backend", "openai"], /--backend cannot be used with --server: .* decides which provider is asked/],
  [["Why?", "--base-url", "http://x"], /--base-url cannot be used with --server/],
  [["Why?", "--reasoning-effort", "low"], /--reasoning-effort cannot be used with --server/],
  [["Why?", "--no-cache"], /--no-cache cannot be used with --server/],
  [["Why?", "--env", "local"], /--env cannot be used with --server: .* decides where code runs/],
  [["Why?", "--python", "python3"], /--python cannot be used with --server/],
  [["Why?", "--config", "rlm.toml"], /--config cannot be used with --server/],
  [["--demo"], /--demo cannot be used with --server: the demonstration runs on this machine/],
  [[], /nothing to answer: the question comes first/],
  [["Why?", "--context", "gone.txt"], /cannot take 'gone\.txt' as context: there is no such file/],
])("%j is wrong usage", async (args, message) => {
  const { code, stdout, stderr } = await server.rlm(["run", ...args, "--server"]);
  expect({ code, stdout, lines: stderr.split("\n").length }).toEqual({ code: 2, stdout: "", lines: 2 });
  expect(stderr).toMatch(message);
});
