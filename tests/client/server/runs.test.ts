import { rmSync } from "node:fs";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { z } from "zod";
import { ScriptedBackend } from "../../internals.ts";
import { makeDataFolder } from "../../make-data-folder.ts";
import { code } from "../../rlm/scripting.ts";
import { collect, failureOf } from "../fakes/fake-server.ts";
import { openRemote, type Remote } from "./remote.ts";

let data: string;
let remote: Remote;
beforeAll(async () => {
  data = makeDataFolder();
  vi.stubEnv("RLM_DATA", data);
  const backend = new ScriptedBackend(({ messages }) => {
    const asked = messages.map(({ content }) => content).join("\n");
    if (asked.includes("for ever")) return code("import time\nwhile True: time.sleep(0.01)");
    return code(
      "FINAL(repr([(name, type(value).__name__, len(value)) for name, value in sorted(globals().items()) if name in ('context', 'a', 'b')]))",
    );
  });
  remote = await openRemote({ model: { backend, model: "root", mode: "rlm", cache: false } });
});
afterAll(async () => {
  await remote[Symbol.asyncDispose]();
  vi.unstubAllEnvs();
  rmSync(data, { recursive: true, force: true });
});

async function* stream(): AsyncGenerator<string> {
  yield "stre";
  yield "amed";
}

test("a path of this machine is no context", () => {
  const rlm = remote.runtime.rlm();
  const ask = (context: object) => () => rlm.run({ query: "What is it?", context: context as never });
  for (const context of [{ file: "notes.txt" }, { file: "notes.json", as: "json" }])
    expect(ask(context)).toThrow(TypeError);
});

test("the context arrives in every form", async () => {
  const rlm = remote.runtime.rlm();
  const answer = async (context: Parameters<typeof rlm.run>[0]["context"]): Promise<string | null> =>
    (await rlm.run({ query: "What is it?", context })).answer;
  expect(await answer("small")).toBe("[('context', 'str', 5)]");
  expect(await answer("x".repeat(2 * 1024 * 1024))).toBe("[('context', 'str', 2097152)]");
  expect(await answer({ text: stream() })).toBe("[('context', 'str', 8)]");
  expect(await answer({ json: [1, 2, 3] })).toBe("[('context', 'list', 3)]");
  expect(await answer({ text: '{"n": 12345678901234567890}', as: "json" })).toBe("[('context', 'dict', 1)]");
  const files = [
    { name: 'a "quoted" name.txt', content: "1" },
    { name: "ü", content: new Blob(["2"]) },
  ];
  expect(await answer({ files })).toBe("[('context', 'dict', 2)]");
  expect(await answer({ a: "one", b: { json: { x: 1, y: 2 } } })).toBe("[('a', 'str', 3), ('b', 'dict', 2)]");
});

test("a run whose context was a stream goes on where only the response was lost", async () => {
  const { proxy, runtime } = remote;
  proxy.onAnswer = (piece) => {
    if (!piece.includes("201 Created")) return undefined;
    proxy.onAnswer = undefined;
    return 0;
  };
  const request = { id: "r-lost", query: "What is it?" };
  expect((await runtime.rlm().run({ ...request, context: { text: stream() } })).answer).toBe("[('context', 'str', 8)]");
  expect(proxy.onAnswer).toBeUndefined();
  expect((await runtime.rlm().run({ ...request, context: { text: stream() } })).runId).toBe("r-lost");
});

test("a run is awaited, iterated, and found again", async () => {
  const run = remote.runtime.rlm({ limits: { maxIterations: 3 } }).run({ query: "What is it?", id: "r-mine" });
  const events = await collect(run);
  expect([events[0]?.type, events.at(-1)?.type]).toEqual(["run-start", "run-end"]);
  expect(await run).toMatchObject({ status: "final", runId: "r-mine" });
  expect(await remote.runtime.runs.get("r-mine")).toEqual(await run);
  expect(await run.info()).toMatchObject({ id: "r-mine", status: "final" });
  expect((await remote.runtime.runs.list({ limit: 1 })).items).toHaveLength(1);
});

test("a run ends when its signal is aborted", async () => {
  const controller = new AbortController();
  const run = remote.runtime.rlm().run({ query: "Go on for ever", signal: controller.signal });
  for await (const event of run) if (event.type === "code-start") controller.abort();
  expect(await run).toMatchObject({ status: "cancelled" });
});

test("a limit that is reached rejects with its error where that is asked for", async () => {
  const limited = remote.runtime.rlm({ limits: { tokens: 1 }, onLimit: "throw" }).run({ query: "Go on for ever" });
  expect(await failureOf(limited)).toMatchObject({
    name: "TokenBudgetExhausted",
    code: "TOKEN_BUDGET_EXHAUSTED",
    limit: 1,
  });
});

test("a schema is JSON Schema, or describes itself as such", async () => {
  const rlm = remote.runtime.rlm();
  const run = rlm.run({ query: "What is it?", schema: z.string(), limits: { maxIterations: 2 } });
  expect((await run).status).toBeTypeOf("string");
  const mute = { "~standard": { version: 1, vendor: "mute" } } as const;
  expect(() => rlm.run({ query: "?", schema: mute })).toThrow("Cannot use the schema of mute");
  expect(() => rlm.run({ query: "?", context: 5 as never })).toThrow(TypeError);
});
