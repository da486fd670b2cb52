import { mkdtempSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { IdReusedError } from "../../src/errors.ts";
import { ScriptedBackend, type RunRequest, type Runtime } from "../internals.ts";
import { openTestRuntime } from "../open.ts";
import { remove } from "../remove.ts";
import { code, scripted } from "./scripting.ts";

let runtime: Runtime;
let folder: string;
let asked = 0;
beforeAll(async () => {
  runtime = await openTestRuntime();
  folder = mkdtempSync(join(tmpdir(), "rlm-run-ids-"));
});
afterAll(async () => {
  await runtime.close();
  remove(folder);
});

const answer = () =>
  scripted(runtime, () => {
    asked += 1;
    return code("FINAL(1)");
  });

test("the same id with the same request is the same run, live or ended", async () => {
  const request = { id: "mine", query: "?", context: { text: "abc" }, limits: { tokens: 1_000_000, llmCalls: 9 } };
  const run = answer().run(request);
  expect(run.id).toBe("mine");
  expect(answer().run({ ...request, limits: { llmCalls: 9, tokens: 1_000_000 } })).toBe(run);
  expect((await run.result).status).toBe("final");
  expect(answer().run({ ...request, context: "abc" })).toBe(run);
  expect(asked).toBe(1);
});

test.each<[string, Partial<RunRequest>]>([
  ["another question", { query: "!" }],
  ["another text", { context: "abd" }],
  ["another variable", { context: { other: "abc" } }],
  ["another kind of value", { context: { text: '"abc"', as: "json" } }],
  ["another model", { model: "other" }],
  ["another sub-model", { subModel: "other" }],
  ["another mode", { mode: "direct" }],
  ["other limits", { limits: { llmCalls: 5 } }],
  ["a schema", { schema: { type: "integer" } }],
])("the id of one run with %s is refused", async (_, other) => {
  const request = { id: "base", query: "?", context: "abc" };
  await answer().run(request).result;
  expect(() => answer().run({ ...request, ...other })).toThrow(IdReusedError);
});

test("a file of the context counts by its path, size and time of change", async () => {
  const file = join(folder, "a.txt");
  writeFileSync(file, "one");
  utimesSync(file, 1_000, 1_000);
  const request = { id: "file", query: "?", context: { file } };
  const run = answer().run(request);
  await run.result;
  expect(answer().run(request)).toBe(run);
  utimesSync(file, 1_000, 2_000);
  expect(() => answer().run(request)).toThrow(IdReusedError);
});

test("the id of a run that another runtime recorded is refused", async () => {
  const options = { log: true };
  const request = { id: "recorded-elsewhere", query: "?" };
  await using other = await openTestRuntime();
  await other.rlm({ ...scriptedOptions(), ...options }).run(request).result;
  await other.runs.settled("recorded-elsewhere");
  expect(() => runtime.rlm({ ...scriptedOptions(), ...options }).run(request)).toThrow(IdReusedError);
});

test("an id that is none is refused, and limits that are undefined keep those of the RLM", async () => {
  expect(() => answer().run({ id: "../x", query: "?" })).toThrow(RangeError);
  const limits = { maxDepth: undefined, llmCalls: undefined } as unknown as NonNullable<RunRequest["limits"]>;
  const run = scripted(runtime, [code("FINAL(1)")], { limits: { maxDepth: 2, llmCalls: 7 } }).run({
    query: "?",
    limits,
  });
  expect([run.settings.maxDepth, run.settings.limits.llmCalls]).toEqual([2, 7]);
  await run.result;
});

function scriptedOptions() {
  return { backend: new ScriptedBackend([code("FINAL(1)")]), model: "root", mode: "rlm", cache: false } as const;
}
