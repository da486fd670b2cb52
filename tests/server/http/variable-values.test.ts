import { afterAll, beforeAll, expect, test } from "vitest";
import type { Runtime } from "../../internals.ts";
import type { ServerContext } from "../../../src/server/context/server-context.ts";
import { openTestRuntime } from "../../open.ts";
import { openTestServer, type Ask } from "./request.ts";

let runtime: Runtime;
let context: ServerContext;
let ask: Ask;
let session: string;
beforeAll(async () => {
  runtime = await openTestRuntime({ ids: "random" });
  ({ ask, context } = openTestServer(runtime));
  session = `/v1/sessions/${(await runtime.openSession()).id}`;
});
afterAll(() => runtime.close());

const define = (code: string) => ask("POST", `${session}/execute`, { json: { code } });
const read = (name: string, query = "") => ask("GET", `${session}/variables/${name}/value${query}`);

test("a value is the body of the response: JSON by default, text, bytes", async () => {
  await define("x = {'a': [1, None, 'é']}; t = 'größe 🐍'; b = bytes(range(256)); empty = b''");
  expect(await read("x")).toMatchObject({ status: 200, type: "application/json", body: { a: [1, null, "é"] } });
  const text = await read("t", "?as=text");
  expect(text).toMatchObject({ status: 200, type: "text/plain; charset=utf-8" });
  expect(await text.response.text()).toBe("größe 🐍");
  const bytes = await read("b", "?as=bytes");
  expect(bytes.headers.get("content-length")).toBe("256");
  expect([...new Uint8Array(await bytes.response.arrayBuffer())]).toEqual(Array.from({ length: 256 }, (_, n) => n));
  expect(await (await read("empty", "?as=bytes&maxBytes=0")).response.text()).toBe("");
});

test("a large value passes through a file, of which nothing is left", async () => {
  await define("big = 'aé' * 2_000_000");
  const { response, headers } = await read("big", "?as=text&timeoutMs=20000");
  expect(headers.get("content-length")).toBe("6000000");
  expect(context.spool.files).toBe(1);
  expect((await response.text()) === "aé".repeat(2_000_000)).toBe(true);
  expect(context.spool.files).toBe(0);
  const left = await read("big", "?as=text");
  expect(context.spool.files).toBe(1);
  await left.response.body?.cancel(); // the client disconnects
  expect(context.spool.files).toBe(0);
  expect((await read("big", "?as=text&maxBytes=5999999")).status).toBe(413);
  expect(context.spool.files).toBe(0);
});

test.each<[string, string, string, number, string]>([
  ["an unknown name", "nothing", "", 404, "VARIABLE_NOT_FOUND"],
  ["no name of Python", "no-name", "", 422, "INVALID_NAME"],
  ["NaN", "nan", "", 422, "SESSION_STATE"],
  ["a large integer", "large", "", 422, "SESSION_STATE"],
  ["a key that is no string", "keys", "", 422, "SESSION_STATE"],
  ["bytes as text", "data", "?as=text", 422, "SESSION_STATE"],
  ["too much", "data", "?as=bytes&maxBytes=2", 413, "SESSION_STATE"],
  ["an unknown kind", "data", "?as=xml", 422, "INVALID_QUERY"],
  ["more than the server ever gives", "data", "?maxBytes=1073741825", 422, "INVALID"],
])("%s is a problem", async (_, name, query, status, code) => {
  await define("nan = float('nan'); large = 2**53; keys = {1: 2}; data = b'abc'");
  expect(await read(name, query)).toMatchObject({ status, body: { code } });
});

test("a value is read after the code that was sent before", async () => {
  const slow = define("import time; time.sleep(0.2); late = [7]");
  await expect.poll(async () => (await ask("GET", session)).body["state"]).toBe("running");
  expect((await read("late")).body).toEqual([7]);
  expect((await slow).status).toBe(200);
});
