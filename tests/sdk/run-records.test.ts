// Runs of the SDK that are looked at while they go on, that are not recorded, or that another runtime made.

import { rmSync } from "node:fs";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { openRuntime, RunNotFoundError, type LocalRuntime, type RunEvent } from "../../src/index.ts";
import { createScriptedBackend } from "../../src/testing/index.ts";
import { OutlineBuilder } from "../../src/protocol/run-outline/outline-builder.ts";
import { makeDataFolder } from "../make-data-folder.ts";
import { PYTHON } from "../open.ts";
import { code } from "../rlm/scripting.ts";

let data: string;
let runtime: LocalRuntime;
beforeAll(async () => {
  data = makeDataFolder();
  vi.stubEnv("RLM_DATA", data);
  runtime = await openRuntime({ python: PYTHON, preload: [], poolSize: 1 });
});
afterAll(async () => {
  await runtime.close();
  vi.unstubAllEnvs();
  rmSync(data, { recursive: true, force: true });
});

const common = { model: "root", mode: "rlm", cache: false } as const;

async function collect(events: AsyncIterable<RunEvent>): Promise<readonly RunEvent[]> {
  const all: RunEvent[] = [];
  for await (const event of events) all.push(event);
  return all;
}

test("a run in progress has an outline, which its later events complete", async () => {
  let answer: (text: string) => void = () => {};
  const reply = new Promise<string>((resolve) => (answer = resolve));
  const backend = createScriptedBackend((_, n) => (n === 0 ? code("print('first')") : reply));
  const run = runtime.rlm({ ...common, backend }).run({ query: "?" });
  for await (const event of run) if (event.type === "step-start" && event.step === 2) break;
  await expect.poll(async () => (await run.outline()).nodes[0]?.steps).toBe(2);
  const before = await run.outline();
  expect(before).toMatchObject({ endedAt: null, nodes: [{ steps: 2, status: null }] });
  answer(code("FINAL('second')"));
  const builder = new OutlineBuilder(before);
  for await (const event of run.follow({ after: before.seq })) builder.add(event);
  expect(builder.outline.nodes).toMatchObject([{ answer: "second", status: "final" }]);
  expect(await run.outline()).toEqual(builder.outline);
});

test("a run of another runtime is followed as it was recorded", async () => {
  const backend = createScriptedBackend([code("print('x' * 5000)"), code("FINAL(1)")]);
  const run = runtime.rlm({ ...common, backend }).run({ query: "?" });
  const whole = (await collect(run)).filter(({ type }) => type !== "model-call-delta" && type !== "output-delta");
  const outline = await run.outline();
  await using other = await openRuntime({ python: PYTHON, preload: [], poolSize: 0 });
  const found = other.runs.get(run.id);
  expect(await collect(found.follow())).toEqual(whole);
  expect(await collect(found.follow({ after: whole[3]?.seq }))).toEqual(whole.slice(4));
  expect(await found.outline()).toEqual(outline);
  expect(await found).toEqual(await run);
  const reason = new Error("enough");
  const stop = new AbortController();
  const reading = (async () => {
    for await (const event of found.follow({ signal: stop.signal })) if (event.seq > 2) stop.abort(reason);
  })();
  await expect(reading).rejects.toBe(reason);
});

test("a run that is not recorded has no outline, and says so", async () => {
  const run = runtime
    .rlm({ ...common, log: false, backend: createScriptedBackend([code("FINAL(1)")]) })
    .run({ query: "?" });
  await run;
  await expect(run.outline()).rejects.toThrow(RunNotFoundError);
  await expect(run.search("x")).rejects.toThrow("it is not recorded");
});
