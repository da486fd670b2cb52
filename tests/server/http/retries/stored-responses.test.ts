import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Runtime } from "../../../internals.ts";
import { StoredResponses, type DigestedBody } from "../../../../src/server/context/stored-responses.ts";
import { openTestRuntime } from "../../../open.ts";
import { openTestServer, type Ask, type Question } from "../request.ts";

let runtime: Runtime;
let ask: Ask;
let session: string;
beforeAll(async () => {
  runtime = await openTestRuntime({ ids: "random" });
  ({ ask } = openTestServer(runtime));
  session = `/v1/sessions/${(await runtime.openSession({ autoCheckpoint: 5 })).id}`;
});
afterAll(() => runtime.close());

let keys = 0;
const newKey = (): { "idempotency-key": string } => ({ "idempotency-key": `key-${(keys += 1)}` });
const valueOf = async (code: string): Promise<unknown> => {
  const { body } = await ask("POST", `${session}/execute`, { json: { code } });
  return (body["value"] as Record<string, unknown> | undefined)?.["text/plain"];
};

test("a repeated request that acts once gets the first response, and does nothing", async () => {
  await valueOf("x = 1");
  const requests: [string, string, Question][] = [
    ["POST", `${session}/interrupt`, {}],
    ["POST", `${session}/checkpoints`, {}],
    ["POST", `${session}/fork`, { json: {} }],
    ["PUT", `${session}/files/a/`, {}],
    ["PUT", `${session}/files/b.txt`, { body: "abc" }],
    ["PUT", `${session}/variables/y`, { body: "[1]", headers: { "content-type": "application/json" } }],
  ];
  for (const [method, path, { headers, ...question }] of requests) {
    const asking = { ...question, headers: { ...headers, ...newKey() } };
    const first = await ask(method, path, asking);
    const again = await ask(method, path, asking);
    expect(first.status, path).toBeLessThan(300);
    expect([again.status, again.body], path).toEqual([first.status, first.body]);
    expect(
      [first, again].map((one) => one.headers.get("idempotency-replayed")),
      path,
    ).toEqual([null, "true"]);
    expect(again.headers.get("location")).toBe(first.headers.get("location"));
  }
  expect((await ask("GET", `${session}/checkpoints`)).body["checkpoints"]).toHaveLength(2); // one is automatic
  expect(runtime.sessions.list()).toHaveLength(2);
});

test("an undo, a reset and a line of input are not repeated", async () => {
  await valueOf("n = 1");
  await valueOf("n = 2");
  await valueOf("n = 3");
  const undo = { json: {}, headers: newKey() };
  for (let n = 0; n < 3; n += 1) expect((await ask("POST", `${session}/rewind`, undo)).status).toBe(200);
  expect(await valueOf("n")).toBe("2");
  const reset = { headers: newKey() };
  await ask("POST", `${session}/reset`, reset);
  await valueOf("kept = 5");
  await ask("POST", `${session}/reset`, reset);
  expect(await valueOf("kept")).toBe("5");
});

test("input of a task is written once, as text and as bytes", async () => {
  const { body } = await ask("POST", "/v1/tasks", { json: { command: "cat", stdin: "open" } });
  const path = `/v1/tasks/${body["id"] as string}`;
  const text = { json: { text: "one\n" }, headers: newKey() };
  const bytes = { body: "two\n", headers: { ...newKey(), "content-type": "application/octet-stream" } };
  for (const question of [text, text, bytes, bytes])
    expect((await ask("POST", `${path}/stdin`, question)).status).toBe(204);
  const changed = await ask("POST", `${path}/stdin`, { ...bytes, body: "2\n" });
  expect(changed).toMatchObject({ status: 422, body: { code: "KEY_REUSED" } });
  await ask("POST", `${path}/stdin`, { json: { close: true } });
  expect((await ask("GET", `${path}?waitMs=20000`)).body).toMatchObject({ result: { stdout: "one\ntwo\n" } });
});

test("concurrent requests with one key wait for the first", async () => {
  const headers = newKey();
  const answers = await Promise.all([1, 2, 3].map(() => ask("POST", `${session}/checkpoints`, { headers })));
  expect(new Set(answers.map(({ body }) => body["id"])).size).toBe(1);
});

test.each<[string, string, string, Question, string, Question]>([
  ["another body", "PUT", "files/k1", { body: "abc" }, "files/k1", { body: "abd" }],
  ["a longer body", "PUT", "files/k2", { body: "abc" }, "files/k2", { body: "abcd" }],
  ["another path", "PUT", "files/k3", { body: "abc" }, "files/k4", { body: "abc" }],
  [
    "another query",
    "PUT",
    "variables/v?timeoutMs=5000",
    { body: "1", headers: { "content-type": "text/plain" } },
    "variables/v?timeoutMs=6000",
    { body: "1", headers: { "content-type": "text/plain" } },
  ],
  [
    "another type",
    "PUT",
    "variables/v",
    { body: "1", headers: { "content-type": "text/plain" } },
    "variables/v",
    { body: "1", headers: { "content-type": "application/json" } },
  ],
  ["another JSON body", "POST", "fork", { json: {} }, "fork", { json: { id: "other" } }],
])("the key of one request with %s is refused", async (_, method, path, question, otherPath, other) => {
  const key = newKey();
  const first = await ask(method, `${session}/${path}`, { ...question, headers: { ...question.headers, ...key } });
  expect(first.status).toBeLessThan(300);
  const second = await ask(method, `${session}/${otherPath}`, { ...other, headers: { ...other.headers, ...key } });
  expect(second).toMatchObject({ status: 422, body: { code: "KEY_REUSED" } });
});

test("a request that failed leaves its key free, and a key that is none is refused", async () => {
  const headers = newKey();
  expect(
    (
      await ask("PUT", `${session}/variables/v`, {
        body: "[",
        headers: { ...headers, "content-type": "application/json" },
      })
    ).status,
  ).toBe(422);
  expect(
    (
      await ask("PUT", `${session}/variables/v`, {
        body: "[]",
        headers: { ...headers, "content-type": "application/json" },
      })
    ).status,
  ).toBe(204);
  const invalid = await ask("POST", `${session}/interrupt`, { headers: { "idempotency-key": "a b" } });
  expect(invalid).toMatchObject({ status: 422, body: { code: "INVALID_KEY" } });
});

describe("what is stored", () => {
  const none: DigestedBody = { startDigest: () => {}, digest: null, readDigest: async () => null };
  const count = (text: string) => {
    let acted = 0;
    return () => new Response(`${(acted += 1)} ${text}`);
  };

  test("is bounded in number, in bytes and in time", async () => {
    let now = 0;
    const responses = new StoredResponses(() => now);
    const act = (key: string, respond: () => Response) =>
      responses.once(key, "t", none, respond).then((one) => one.text());
    const first = count("x");
    await act("first", first);
    expect(await act("first", first)).toBe("1 x");
    for (let n = 0; n < 10_000; n += 1) await act(`k${n}`, () => new Response(null));
    expect(await act("first", first)).toBe("2 x");
    const large = count("y".repeat(20 * 1024 * 1024));
    await act("large", large);
    await act("larger", large);
    expect((await act("large", large)).slice(0, 2)).toBe("3 ");
    const timed = count("z");
    await act("timed", timed);
    now = 86_399_999;
    expect(await act("timed", timed)).toBe("1 z");
    now = 86_400_000;
    expect(await act("timed", timed)).toBe("2 z");
  });
});
