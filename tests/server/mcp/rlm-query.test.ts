// Questions to further models: `rlm_query`, with models that are played.

import { mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ScriptedBackend, type RLM, type RLMOptions, type Runtime } from "../../internals.ts";
import { selectTools } from "../../../src/server/mcp/tools/select-tools.ts";
import { countOpen } from "../../count-open.ts";
import { connect, ERAS, factsOf, textOf, type Connection } from "./connect.ts";
import { openWire } from "./wire.ts";

type Options = Partial<RLMOptions & { log: boolean }>;
type Script = ConstructorParameters<typeof ScriptedBackend>[0];

const WAITS = { pythonMs: 300, shellMs: 300, progressMs: 20 };
const code = (text: string): string => `\`\`\`repl\n${text}\n\`\`\``;

let folder: string;
beforeAll(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), "rlm-query-")));
  writeFileSync(join(folder, "log.txt"), "hay\n".repeat(50_000) + "the needle is 7\n");
  writeFileSync(join(folder, "bytes"), Buffer.from([0xff, 0xfe, 0x00]));
});
afterAll(() => rmSync(folder, { recursive: true }));

const PRICE = { inputUsd: 1, outputUsd: 10, cacheReadUsd: 1, cacheWriteUsd: 1 };

function toRLM(script: Script, options: Options = {}): (runtime: Runtime) => RLM {
  const backend = new ScriptedBackend(script);
  return (runtime) =>
    runtime.rlm({ backend, model: "root", mode: "rlm", cache: false, log: false, prices: { root: PRICE }, ...options });
}

function open(script: Script, options: Options = {}, more: Parameters<typeof connect>[0] = {}): Promise<Connection> {
  return connect({ mounts: [{ path: folder, mode: "ro" }], toRLM: toRLM(script, options), ...more });
}

/** A script that waits at its first call until it is let go. */
function held(answers: readonly string[]): { readonly script: Script; readonly release: () => void } {
  let release = (): void => {};
  const gate = new Promise<void>((resolve) => {
    release = resolve;
  });
  return { script: (_, n) => gate.then(() => answers[n] ?? ""), release: () => release() };
}

describe.each(ERAS)("in the %s era", (era) => {
  test("the answer comes first, then one line with the usage", async () => {
    await using mcp = await open([code("n = context.count('a')"), code("FINAL(f'{n} of them')")], {}, { era });
    const result = await mcp.call("rlm_query", { query: "How many?", context: "banana" });
    expect(textOf(result)).toMatch(/^3 of them\n\[[\d,]+ tokens · \$0\.\d{4} · 2 calls · [\d.]+ s\]$/);
    expect(result.isError ?? false).toBe(false);
    expect(factsOf(result)).toMatchObject({ status: "final", stop_reason: "answered", llm_calls: 2, kind: "run" });
  });

  test("a long run becomes a task, with a line for each step and the answer at the end", async () => {
    const { script, release } = held([code("print('looked')\nx = 1"), code("FINAL('forty-two')")]);
    await using mcp = await open(script, {}, { era, timings: WAITS });
    const started = await mcp.text("rlm_query", { query: "?" });
    expect(started).toMatch(
      /^Still running: task (t\d+) \([\d.]+ s so far\)\. Now: n0 (starts|step 1: the model thinks)\.\nNo output yet\./,
    );
    const id = /task (t\d+)/.exec(started)?.[1] ?? "";
    const waiting = mcp.text("shell_status", { task_id: id, wait: 50 });
    release();
    expect(await waiting).toMatch(/^forty-two\n\[[\d,]+ tokens/);
    const story = await mcp.text("shell_status", { task_id: id, offset: 0 });
    expect(story).toMatch(
      /^n0 step 1: 2 lines of code, [\d.]+ s → looked\nn0 step 2: 1 line of code, [\d.]+ s → gives the answer\nAnswer:\nforty-two\n\[.* 2 calls/,
    );
  });

  test("progress names the step", async () => {
    const { script, release } = held([code("FINAL(1)")]);
    await using mcp = await open(script, {}, { era, timings: { ...WAITS, pythonMs: 10_000 } });
    const heard: (string | undefined)[] = [];
    const onprogress = ({ message }: { message?: string | undefined }): void => {
      heard.push(message);
      if (message?.includes("step 1") === true) release();
    };
    await mcp.client.callTool({ name: "rlm_query", arguments: { query: "?" } }, { onprogress });
    // Code may still be reported to run, after the model was let go.
    expect(heard).toContainEqual(expect.stringMatching(/^\d+ s: n0 step 1: the model thinks$/));
  });
});

describe("the context", () => {
  const count = (): string => code("FINAL([type(context).__name__, len(context), context[-2:]])");

  test("is a visible file, which no message carries", async () => {
    await using mcp = await open(count);
    const text = await mcp.text("rlm_query", { query: "?", path: join(folder, "log.txt") });
    expect(text).toMatch(/^\["str", 200016, "7\\n"\]/);
  });

  test("is a file of the default session", async () => {
    await using mcp = await open(count);
    const program = "open('own.txt', 'w').write('abc'); print(__import__('os').path.abspath('own.txt'), end='')";
    for (const path of ["own.txt", await mcp.text("execute_python", { code: program })]) {
      expect(await mcp.text("rlm_query", { query: "?", path })).toMatch(/^\["str", 3, "bc"\]/);
    }
  });

  test.each([
    ["both", { context: "a", path: "b" }, "takes one of context and path"],
    ["a file elsewhere", { path: "/etc/passwd" }, "none of the folders that sessions see"],
    ["a file that is not there", { path: "nothing.txt" }, "nothing.txt"],
    ["a depth below zero", { max_depth: -1 }, "max_depth"],
    ["a budget of nothing", { token_budget: 0 }, "token_budget"],
    ["an empty question", { query: " " }, "give a question"],
  ])("refuses %s before a model is called", async (_, args, message) => {
    await using mcp = await open(() => {
      throw new Error("a model was asked");
    });
    const result = await mcp.call("rlm_query", { query: "?", ...args });
    expect(result.isError).toBe(true);
    expect(textOf(result)).toContain(message);
    expect(mcp.unexpected).toEqual([]);
  });

  test("that is not text is bytes, and errors do not reveal how it was opened", async () => {
    const seen: string[] = [];
    await using mcp = await open(({ messages }) => {
      seen.push(...messages.map(({ content }) => content));
      return code("FINAL(type(context).__name__)");
    });
    const result = await mcp.call("rlm_query", { query: "?", path: join(folder, "bytes") });
    expect(textOf(result)).toMatch(/^bytes\n/);
    expect(seen.join()).not.toContain("/proc/");
  });

  test("stays open until the run has ended, and no longer", async () => {
    const { script, release } = held([code("FINAL(len(context))")]);
    await using mcp = await open(script, { log: true }, { timings: WAITS });
    const path = join(folder, "log.txt");
    await mcp.text("rlm_query", { query: "?", path });
    await expect.poll(() => countOpen(path)).toBe(1); // a second is there while the session is given the text
    release();
    await Promise.all(mcp.runtime.runs.list().map(({ id }) => mcp.runtime.runs.settled(id)));
    await expect.poll(() => countOpen(path)).toBe(0);
    expect(mcp.runtime.tasks.list().at(-1)?.status).toBe("completed");
  });
});

describe("limits", () => {
  test("may be lowered by the call", async () => {
    await using mcp = await open([code("FINAL(budget()['tokens']['limit'])")]);
    expect(await mcp.text("rlm_query", { query: "?", token_budget: 50_000 })).toMatch(/^50000\n/);
  });

  test("of the configuration are not raised by the call", async () => {
    const seen: unknown[] = [];
    const limits = { tokens: 40_000, maxDepth: 1 };
    await using mcp = await open([code("FINAL(budget()['tokens']['limit'])")], { limits });
    expect(await mcp.text("rlm_query", { query: "?", token_budget: 900_000, max_depth: 20 })).toMatch(/^40000\n/);
    for await (const event of mcp.runtime.runs.list().at(-1) ?? [])
      if (event.type === "run-start") seen.push(event.maxDepth);
    expect(seen).toEqual([1]);
  });

  test("end a run with its best answer, and the line says so", async () => {
    const script: Script = ({ messages }) =>
      (messages.at(-1)?.content ?? "").includes("has to end here") ? "about 7" : code("pass");
    await using mcp = await open(script, { limits: { maxIterations: 2 } });
    const result = await mcp.call("rlm_query", { query: "?" });
    expect(textOf(result)).toMatch(/^about 7\n\[partial: Cannot go on: .*1 step, .* · 3 calls · /);
    expect(result.isError ?? false).toBe(false);
  });
});

test("a run that fails is an error that says why", async () => {
  await using mcp = await open([]);
  const result = await mcp.call("rlm_query", { query: "?" });
  expect(result.isError).toBe(true);
  expect(textOf(result)).toMatch(/^\[failed: .*the script has 0 answers/);
});

test("an answer too long for a result is truncated, and can be read by offset to its last character", async () => {
  await using mcp = await open([code("FINAL('\\n'.join(f'line {n} ' + 'é' * 20 for n in range(2_000)))")]);
  const text = await mcp.text("rlm_query", { query: "?" });
  expect(text.length).toBeLessThanOrEqual(10_000);
  const next = /shell_status\(task_id="(?<id>t\d+)", offset=(?<offset>\d+)\)/.exec(text)?.groups;
  const page = await mcp.text("shell_status", { task_id: next?.["id"] ?? "", offset: Number(next?.["offset"]) });
  const lastBefore = Number(/line (\d+) é+\s+\[…/.exec(text)?.[1]);
  expect(page.startsWith(`line ${lastBefore + 1} é`)).toBe(true);
});

test("cancelling the request ends the run, and kill ends one that became a task", async () => {
  const { script } = held([]);
  await using mcp = await open(script, {}, { timings: { ...WAITS, pythonMs: 10_000 } });
  const request = new AbortController();
  const call = mcp.client.callTool(
    { name: "rlm_query", arguments: { query: "?" } },
    { signal: request.signal, onprogress: () => request.abort() },
  );
  await expect(call).rejects.toThrow(/abort/i);
  expect(await mcp.runtime.runs.list().at(-1)?.result).toMatchObject({ status: "cancelled" });

  await using other = await open(script, {}, { timings: WAITS });
  const id = /task (t\d+)/.exec(await other.text("rlm_query", { query: "?" }))?.[1] ?? "";
  const killed = await other.call("shell_status", { task_id: id, kill: true });
  expect(textOf(killed)).toMatch(/^\[cancelled/);
  expect(killed.isError ?? false).toBe(false);
  expect(other.runtime.tasks.get(id).info()).toMatchObject({ kind: "run", status: "cancelled", sessionId: null });
});

test("a run cannot be paused or written to", async () => {
  await using mcp = await open([code("FINAL(1)")]);
  await mcp.text("rlm_query", { query: "?" });
  const task = mcp.runtime.tasks.list().at(-1);
  await expect(task?.pause()).rejects.toThrow("it is a run");
  await expect(task?.write("x")).rejects.toThrow("it is a run");
});

test("a client that supports tasks gets one, and the answer when it polls", async () => {
  const { script, release } = held([code("FINAL('here')")]);
  const capabilities = { extensions: { "io.modelcontextprotocol/tasks": {} } };
  await using wire = await openWire({ capabilities, timings: WAITS, toRLM: toRLM(script) });
  const created = await wire.call("rlm_query", { query: "?" });
  expect(created.result).toMatchObject({ resultType: "task", taskId: "t1", status: "working" });
  expect(created.result?.["statusMessage"]).toMatch(/^[\d.]+ s: n0 /);
  release();
  await wire.call("shell_status", { task_id: "t1", wait: 50 });
  expect((await wire.request("tasks/get", { taskId: "t1" })).result).toMatchObject({
    status: "completed",
    result: { content: [{ text: expect.stringMatching(/^here\n\[/) }] },
  });
});

test("structured results match the schema", async () => {
  await using mcp = await open([code("FINAL(1)")], {}, { isStructured: true });
  await mcp.client.listTools(); // the client then checks results against their schemas
  const result = await mcp.call("rlm_query", { query: "?" });
  expect(result.structuredContent).toMatchObject({ status: "final", llm_calls: 1, text: textOf(result) });
});

test("without a model the tool is not listed, and selecting it by name says why", () => {
  const why = "none is configured";
  expect(selectTools("all", why).map(({ group }) => group)).not.toContain("rlm");
  expect(selectTools("all")).toHaveLength(selectTools("all", why).length + 1);
  expect(() => selectTools("rlm_query", why)).toThrow(
    "There is no tool 'rlm_query': it needs a model to ask, and none is configured",
  );
  expect(() => selectTools("core,rlm", why)).toThrow("needs a model to ask");
});
