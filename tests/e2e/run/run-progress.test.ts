// What `rlm run` shows while it runs, the built program against a provider on loopback: the context, batches, waits and the budget.

import { afterAll, beforeAll, expect, test } from "vitest";
import { Folder } from "../../config/folder.ts";
import { openMockProvider, type MockProvider, type MockReply, type MockRequest } from "../../fixtures/mock-provider.ts";
import { makeDataFolder } from "../../make-data-folder.ts";
import { rlm, start } from "../program.ts";
import { startServing, type Serving } from "../serving.ts";
import { KEYS, TestTerminal } from "../terminal.ts";

const BATCH = '```repl\nFINAL("".join(llm_query_batched(["piece-A", "piece-B", "piece-C", "piece-D"])))\n```\n';
const LINE = /n0 rate-limited, trying again in \d+ s\n/;

let folder: Folder;
let provider: MockProvider;
let server: Serving;
let models = 0;
beforeAll(async () => {
  folder = new Folder({ "notes/a.txt": "A".repeat(1024), "notes/b.txt": "B".repeat(1024) });
  folder.write("notes/report.pdf", Buffer.from([0x25, 0x50, 0x44, 0x46, 0]));
  provider = await openMockProvider();
  provider.plan(reply);
  const settings = {
    RLM_BACKEND: "openai",
    RLM_BASE_URL: provider.url,
    RLM_MODEL: "m",
    RLM_MODE: "rlm",
    RLM_CACHE: "false",
  };
  server = await startServing([], { ...settings, OPENAI_API_KEY: "sk-test" });
});
afterAll(async () => {
  await server[Symbol.asyncDispose]();
  await provider[Symbol.asyncDispose]();
  folder[Symbol.dispose]();
});

/** Two of four prompts are answered, one is turned away for a long time, one gets no answer. */
function reply({ body }: MockRequest): MockReply {
  const text = JSON.stringify(body);
  const isRoot = text.includes("What is in the notes?");
  if (text.includes("piece-C") && !isRoot) return { status: 429, headers: { "retry-after": "100" }, body: "{}" };
  if (text.includes("piece-D") && !isRoot) return { fault: "silent" };
  if (!isRoot) return { text: ["yes"] };
  return { text: [BATCH], usage: { input: 6000, output: 2000 } };
}

function command(where: "here" | "server"): { readonly args: readonly string[]; readonly env: Record<string, string> } {
  models += 1; // a model of its own, since the others are told to wait
  const model = ["--model", `m${models}`];
  const asked = ["run", "What is in the notes?", ...model, "--token-budget", "20000", "--context", "notes"];
  if (where === "server") return { args: [...asked, "--server"], env: { ...server.env } };
  const here = ["--backend", "openai", "--base-url", provider.url, "--mode", "rlm", "--no-cache"];
  const env = { HOME: folder.path, RLM_DATA: makeDataFolder(folder.at("data")), OPENAI_API_KEY: "sk-test" };
  return { args: [...asked, ...here], env };
}

test.each([
  ["here", 80],
  ["here", 60],
  ["server", 80],
] as const)("%s, a terminal of %i columns: the context, n of m, the wait and the budget", async (where, columns) => {
  const { args, env } = command(where);
  await using terminal = new TestTerminal(args, { env, columns, cwd: folder.path });
  await terminal.until(/▸ n0 2 of 4 answered ·/);
  const screen = await terminal.until(/\nrate-limited, trying again in (100|\d\d) s\n/);
  expect(screen).toMatch(/^context: 2 files, 2 KiB\nrlm: not in the context: files that are not text \(1: /);
  expect(screen.replaceAll("\n", "")).toContain("convert it, e.g. pdftotext notes/report.pdf)");
  await terminal.until(/3 calls · 8,030 tokens · cost unknown · .*40 % of 20k tokens/s);
  terminal.type(KEYS.ctrlC);
  expect(await terminal.ended).toBe(130);
});

test.each(["here", "server"] as const)("%s, without a terminal: the same in a few plain lines", async (where) => {
  const { args, env } = command(where);
  await using program = start(args, { env, cwd: folder.path });
  await program.until(LINE, "stderr");
  program.signal("SIGINT");
  const { code, stderr } = await program.ended;
  expect(code).toBe(130);
  expect(stderr.split("\n").slice(0, 2)).toEqual([
    "context: 2 files, 2 KiB",
    "rlm: not in the context: files that are not text (1: notes/report.pdf; convert it, e.g. pdftotext notes/report.pdf)",
  ]);
  expect(stderr).toMatch(/\nn0 0 of 4 answered · 40 % of 20k tokens\n/);
  expect(stderr.match(new RegExp(LINE, "g"))).toHaveLength(1);
  const { stdout: shown } = await rlm(["logs", "show", "last"], { env });
  expect(shown).toContain("n0 context  context: 2 files, 2.0 KiB");
});

test("a context that is not text is refused with what to do, before a model is asked", async () => {
  const { args, env } = command("here");
  const asked = args.map((word) => (word === "notes" ? "notes/report.pdf" : word));
  expect(await start(asked, { env, cwd: folder.path }).ended).toEqual({
    code: 2,
    stdout: "",
    stderr: "rlm: notes/report.pdf is not text: convert it, e.g. pdftotext notes/report.pdf\n",
  });
});
