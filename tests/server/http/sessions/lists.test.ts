import { rmSync } from "node:fs";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { ScriptedBackend, type Runtime } from "../../../internals.ts";
import { makeDataFolder } from "../../../make-data-folder.ts";
import { openTestRuntime } from "../../../open.ts";
import { openTestServer, type Ask } from "../request.ts";

let data: string;
let runtime: Runtime;
let ask: Ask;
beforeAll(async () => {
  data = makeDataFolder();
  vi.stubEnv("RLM_DATA", data);
  runtime = await openTestRuntime();
  const backend = new ScriptedBackend(() => "FINAL(1)");
  ({ ask } = openTestServer(runtime, { model: { backend, model: "root", mode: "direct", cache: false } }));
});
afterAll(async () => {
  await runtime.close();
  vi.unstubAllEnvs();
  rmSync(data, { recursive: true, force: true });
});

interface Page {
  readonly ids: readonly string[];
  readonly next: string | null;
}

async function page(path: string, key: string, query: string): Promise<Page> {
  const { status, body } = await ask("GET", `${path}?${query}`);
  expect(status).toBe(200);
  return { ids: (body[key] as { id: string }[]).map(({ id }) => id), next: body["next"] as string | null };
}

async function all(path: string, key: string, limit: number): Promise<readonly (readonly string[])[]> {
  const pages: (readonly string[])[] = [];
  for (let after: string | null = ""; after !== null;) {
    const { ids, next } = await page(path, key, `limit=${limit}${after === "" ? "" : `&after=${after}`}`);
    pages.push(ids);
    after = next;
  }
  return pages;
}

test("sessions come in pages, the oldest first", async () => {
  const ids = [];
  for (let n = 0; n < 5; n += 1) ids.push((await runtime.openSession()).id);
  expect(await all("/v1/sessions", "sessions", 2)).toEqual([ids.slice(0, 2), ids.slice(2, 4), ids.slice(4)]);
  expect(await all("/v1/sessions", "sessions", 5)).toEqual([ids]);
  const { next } = await page("/v1/sessions", "sessions", "limit=2");
  // The last one of the page goes, and another comes: nothing repeats, nothing is left out.
  await runtime.sessions.get(ids[1] ?? "").close();
  const late = await runtime.openSession();
  const rest = await page("/v1/sessions", "sessions", `after=${next}`);
  expect(rest).toEqual({ ids: [...ids.slice(2), late.id], next: null });
  for (const session of runtime.sessions.list()) await session.close();
});

test("tasks come in pages, in the order of their start, with the filters", async () => {
  const tasks = Array.from({ length: 12 }, () => runtime.shell("true"));
  await Promise.all(tasks.map((task) => task.result));
  const ids: readonly string[] = tasks.map(({ id }) => id);
  expect((await all("/v1/tasks", "tasks", 5)).flat()).toEqual(ids);
  const { next } = await page("/v1/tasks", "tasks", "limit=11&status=completed");
  expect(await page("/v1/tasks", "tasks", `after=${next}&status=completed`)).toEqual({
    ids: ids.slice(11),
    next: null,
  });
  expect(await page("/v1/tasks", "tasks", "status=failed")).toEqual({ ids: [], next: null });
});

test("runs come in pages, the latest first", async () => {
  const ids: string[] = [];
  for (let n = 0; n < 5; n += 1) {
    const { body } = await ask("POST", "/v1/runs", { json: { query: "?", waitMs: 20_000 } });
    ids.unshift(body["id"] as string);
  }
  const pages = await all("/v1/runs", "runs", 2);
  expect(pages.map(({ length }) => length)).toEqual([2, 2, 1]);
  expect(new Set(pages.flat())).toEqual(new Set(ids));
  const starts = (await ask("GET", "/v1/runs")).body["runs"] as { startedAt: string }[];
  expect(starts.map(({ startedAt }) => startedAt)).toEqual(
    starts
      .map(({ startedAt }) => startedAt)
      .toSorted()
      .toReversed(),
  );
});

test.each(["/v1/sessions", "/v1/tasks", "/v1/runs"])("%s refuses what is no page", async (path) => {
  const cursor = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString("base64url");
  for (const query of [
    "limit=0",
    "limit=1001",
    "limit=x",
    "after=",
    "after=nonsense",
    `after=${cursor([1])}`,
    `after=${cursor([1, 2])}`,
    `after=${cursor(["1", ""])}`,
    `after=${cursor(null)}`,
    `after=${"A".repeat(600)}`,
  ]) {
    const refusal = { status: 422, body: { code: expect.stringMatching(/^INVALID/) as string } };
    expect(await ask("GET", `${path}?${query}`), query).toMatchObject(refusal);
  }
});
