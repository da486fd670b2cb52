import { appendFileSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { type RunOutline } from "../../../../src/protocol/run-outline/run-outline.ts";
import { runOutline } from "../../../../src/protocol/run-outline/run-outline.ts";
import { searchRun } from "../../../../src/views/run-records.ts";
import type { Runtime } from "../../../internals.ts";
import { makeDataFolder } from "../../../make-data-folder.ts";
import { openTestRuntime } from "../../../open.ts";
import { record, recorded, smallRun, toRunId } from "../../../store/runs/recorded-run.ts";
import { writeLongLog } from "../../../store/runs/indexed/long-log.ts";
import { openTestServer, type Ask } from "../request.ts";

const ID = toRunId("r-0123456789abcdef");
const PATH = `/v1/runs/${ID}`;

let data: string;
let runtime: Runtime;
let ask: Ask;
beforeAll(async () => {
  data = makeDataFolder();
  vi.stubEnv("RLM_DATA", data);
  await record(smallRun(ID), ID, { folder: join(data, "runs") });
  runtime = await openTestRuntime({ poolSize: 0 });
  ({ ask } = openTestServer(runtime));
});
afterAll(async () => {
  await runtime.close();
  vi.unstubAllEnvs();
  rmSync(data, { recursive: true, force: true });
});

test("a few searches run at a time, the others wait, and one that is given up waits no longer", async () => {
  const held = await Promise.all(Array.from({ length: 4 }, () => runtime.searches.acquire()));
  expect(held).toEqual([true, true, true, true]);
  const waiting = ask("GET", `${PATH}/search?text=first`);
  const givenUp = searchRun(runtime, ID, "first", { signal: AbortSignal.timeout(20) });
  await expect(givenUp).rejects.toThrow("timeout");
  expect(runtime.searches.held).toBe(4);
  for (const _ of held) runtime.searches.release();
  expect(await waiting).toMatchObject({ status: 200, body: { next: null } });
  expect(runtime.searches.held).toBe(0);
});

describe("the outline of a run", () => {
  test("has its nodes and spans", async () => {
    const { status, type, body } = await ask("GET", `${PATH}/outline`);
    expect({ status, type }).toEqual({ status: 200, type: "application/json" });
    expect(runOutline.parse(body)).toMatchObject({ runId: ID, nodes: [{ id: "n0" }, { id: "n1" }], marks: [{}] });
  });

  test("is sent piece by piece, however long it is", async () => {
    const id = toRunId("r-long");
    writeLongLog(join(data, "runs"), id, { nodes: 500, bytes: 500_000 });
    const { body } = await ask("GET", `/v1/runs/${id}/outline`);
    const { nodes, spans } = runOutline.parse(body) as RunOutline;
    expect([nodes.length, spans.length]).toEqual([500, 4000]);
  });

  test("grows with the record", async () => {
    const id = toRunId("r-growing");
    const events = recorded(smallRun(id));
    await record(events.slice(0, 4), id, { folder: join(data, "runs") });
    expect((await ask("GET", `/v1/runs/${id}/outline`)).body).toMatchObject({ seq: 4, endedAt: null });
    const lines = events.slice(4).map((event) => `${JSON.stringify(event)}\n`);
    appendFileSync(join(data, "runs", id, "events.jsonl"), lines.join(""));
    expect((await ask("GET", `/v1/runs/${id}/outline`)).body).toMatchObject({ seq: 22, endedAt: expect.any(Number) });
  });

  test.each(["r-none", "..", "%2e%2e%2fx", "x".repeat(300)])("of run '%s' is not found", async (id) => {
    for (const route of ["outline", "events/page", "search?text=x"])
      expect(await ask("GET", `/v1/runs/${id}/${route}`)).toMatchObject({ status: 404 });
  });
});

test("runs are listed by their state and their question", async () => {
  const folder = join(data, "runs");
  const ended = recorded(smallRun(toRunId("r-other")));
  await record(
    [{ ...ended[0], query: "Wie VIELE Äpfel?" } as (typeof ended)[0], ...ended.slice(1)],
    toRunId("r-other"),
    {
      folder,
    },
  );
  const idsOf = async (query: string): Promise<unknown> =>
    ((await ask("GET", `/v1/runs?${query}`)).body["runs"] as { readonly id: string }[]).map(({ id }) => id);
  expect(await idsOf("text=viele+%C3%84PFEL")).toEqual(["r-other"]);
  expect(await idsOf("text=viele&status=final")).toEqual(["r-other"]);
  expect(await idsOf("text=viele&status=failed")).toEqual([]);
  expect((await ask("GET", "/v1/runs?text=many&limit=1")).body).toMatchObject({
    runs: [{}],
    total: expect.any(Number),
  });
  for (const query of ["status=done", "text=", "txt=x"])
    expect(await ask("GET", `/v1/runs?${query}`)).toMatchObject({ status: 422 });
});

describe("a search", () => {
  test("finds texts, and says where to go on", async () => {
    const { status, body } = await ask("GET", `${PATH}/search?text=HUNDRED`);
    expect({ status, body }).toEqual({
      status: 200,
      body: {
        matches: [
          { seq: 10, nodeId: "n0", step: 1, callId: "c2", field: "reply", before: "A ", text: "hundred", after: "." },
        ],
        next: null,
      },
    });
    const first = await ask("GET", `${PATH}/search?text=n&limit=1`);
    expect(first.body).toMatchObject({ matches: [{ seq: 2 }], next: 2 });
    expect((await ask("GET", `${PATH}/search?text=n&limit=1&after=2`)).body).toMatchObject({ matches: [{ seq: 6 }] });
  });

  test.each(["", "text=", `text=${"x".repeat(501)}`, "text=x&limit=0", "text=x&after=y", "text=x&regex=true"])(
    "is refused with '%s'",
    async (query) => {
      expect(await ask("GET", `${PATH}/search?${query}`)).toMatchObject({ status: 422 });
    },
  );
});

describe("a page of events", () => {
  test("has events as they are recorded", async () => {
    const lines = readFileSync(join(data, "runs", ID, "events.jsonl"), "utf8")
      .trimEnd()
      .split("\n");
    const { status, type, body } = await ask("GET", `${PATH}/events/page`);
    expect({ status, type }).toEqual({ status: 200, type: "application/json" });
    expect(body).toEqual({ events: lines.map((line) => JSON.parse(line) as object), next: null });
    expect((await ask("GET", `${PATH}/events/page?nodeId=n1&step=1&limit=2`)).body).toMatchObject({
      events: [
        { seq: 14, nodeId: "n1" },
        { seq: 15, nodeId: "n1" },
      ],
      next: 15,
    });
    expect((await ask("GET", `${PATH}/events/page?nodeId=none`)).body).toEqual({ events: [], next: null });
  });

  test.each(["limit=0", "limit=1001", "limit=x", "after=-1", "step=1", "nodeId=n0&step=1.5", "node=n0"])(
    "is refused with %s",
    async (query) => {
      expect(await ask("GET", `${PATH}/events/page?${query}`)).toMatchObject({
        status: 422,
        body: { code: "INVALID_QUERY" },
      });
    },
  );
});
