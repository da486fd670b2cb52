import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import type { Runtime } from "../../internals.ts";
import type { ServerContext } from "../../../src/server/context/server-context.ts";
import { openTestRuntime } from "../../open.ts";
import { openTestServer, type Ask } from "./request.ts";

const MIB = 1024 * 1024;
const JSON_TYPE = { "content-type": "application/json" };

const folder = mkdtempSync(join(tmpdir(), "rlm-test-"));

let runtime: Runtime;
let context: ServerContext;
let ask: Ask;
let session: string;
beforeAll(async () => {
  runtime = await openTestRuntime({ ids: "random" });
  ({ ask, context } = openTestServer(runtime));
  session = `/v1/sessions/${(await runtime.openSession()).id}`;
});
afterAll(async () => {
  await runtime.close();
  rmSync(folder, { recursive: true });
});

const put = (name: string, type: string | undefined, body: string | Uint8Array<ArrayBuffer> | ReadableStream) =>
  ask("PUT", `${session}/variables/${name}`, { body, headers: type === undefined ? {} : { "content-type": type } });

async function valueOf(code: string): Promise<unknown> {
  const { body } = await ask("POST", `${session}/execute`, { json: { code } });
  return (body["value"] as Record<string, unknown> | undefined)?.["text/plain"] ?? body;
}

describe("a variable", () => {
  test("is listed and inspected, and 404 if it does not exist", async () => {
    await valueOf("x = [1, 2, 3]; _hidden = 1");
    expect((await ask("GET", `${session}/variables`)).body).toMatchObject({
      variables: [{ name: "x", type: "list", length: 3 }],
    });
    const all = (await ask("GET", `${session}/variables?all=true`)).body["variables"] as { name: string }[];
    expect(all.map(({ name }) => name)).toContain("_hidden");
    expect(await ask("GET", `${session}/variables/x?maxCharacters=3`)).toMatchObject({
      status: 200,
      body: { name: "x", repr: { text: "[1,", total: null } },
    });
    expect(await ask("GET", `${session}/variables/none`)).toMatchObject({
      status: 404,
      body: { code: "VARIABLE_NOT_FOUND" },
    });
    expect(await ask("GET", `${session}/variables/x?maxCharacters=0`)).toMatchObject({ status: 422 });
  });

  test("has rows, which are sorted and paged; 404 if it does not exist, 422 for a part that cannot be", async () => {
    await valueOf("table = [[3], [1], [2]]; one = 1");
    const path = `${session}/variables/table/rows`;
    expect(await ask("GET", `${path}?start=1&count=1&sortBy=0&descending=true&timeoutMs=5000`)).toMatchObject({
      status: 200,
      body: { columns: [{ name: "value" }], index: ["2"], rows: [["[2]"]], start: 1, total: 3, incomplete: null },
    });
    const none = await ask("GET", `${session}/variables/one/rows`);
    expect(none).toMatchObject({
      status: 200,
      body: { rows: [], error: "TypeError: a value of type 'int' has no rows" },
    });
    const missing = await ask("GET", `${session}/variables/none/rows`);
    expect(missing).toMatchObject({ status: 404, body: { code: "VARIABLE_NOT_FOUND" } });
    for (const query of ["count=501", "count=0", "columnCount=51", "start=-1", "sortBy=a", "page=2"])
      expect((await ask("GET", `${path}?${query}`)).status).toBe(422);
  });

  test("is set from JSON with integers of any size, from text, and from bytes", async () => {
    expect((await put("j", "application/json", `{"n": 1${"0".repeat(30)}, "f": [0.1, null]}`)).status).toBe(204);
    expect(await valueOf("j == {'n': 10**30, 'f': [0.1, None]}")).toBe("True");
    expect((await put("t", "text/plain;charset=UTF-8", "größe 🐍")).status).toBe(204);
    expect(await valueOf("t")).toBe("'größe 🐍'");
    expect((await put("b", "application/octet-stream", new Uint8Array([0, 255, 10]))).status).toBe(204);
    expect(await valueOf("b")).toBe(String.raw`b'\x00\xff\n'`);
    expect((await put("größe", "text/plain", "")).status).toBe(204);
    expect(await valueOf("größe")).toBe("''");
  });

  test("of many megabytes passes through an anonymous file", async () => {
    vi.stubEnv("TMPDIR", folder);
    expect((await put("b", "application/octet-stream", new Uint8Array(20 * MIB).fill(7))).status).toBe(204);
    expect(await valueOf("b == bytes([7]) * (20 * 1024 * 1024)")).toBe("True");
    expect((await put("t", "text/plain", "ä".repeat(2 * MIB))).status).toBe(204);
    expect(await valueOf("t == 'ä' * (2 * 1024 * 1024)")).toBe("True");
    expect((await put("j", "application/json", `[${"1,".repeat(MIB)}2]`)).status).toBe(204);
    expect(await valueOf("len(j), j[-1]")).toBe("(1048577, 2)");
    expect(context.spool.files).toBe(0);
    expect(readdirSync(folder)).toEqual([]);
    vi.unstubAllEnvs();
  });

  test.each([
    ["a", "application/json", "{", 422, "SESSION_STATE"],
    ["a", "application/json", `${" ".repeat(2 * MIB)}{`, 422, "SESSION_STATE"],
    ["a", "text/plain", new Uint8Array([0xff]), 422, "INVALID_BODY"],
    ["a", "text/plain", new Uint8Array(2 * MIB).fill(0xff), 422, "SESSION_STATE"],
    ["a", "text/plain; charset=latin1", "x", 415, "UNSUPPORTED_TYPE"],
    ["a", "application/x-www-form-urlencoded", "x", 415, "UNSUPPORTED_TYPE"],
    ["a", undefined, new Uint8Array(1), 415, "UNSUPPORTED_TYPE"],
    ["class", "text/plain", "x", 422, "INVALID_NAME"],
    ["a.b", "text/plain", "x", 422, "INVALID_NAME"],
  ])("%s as %s is refused with %i %s and stays unchanged", async (name, type, body, status, code) => {
    await valueOf("a = 'before'");
    expect(await put(name, type, body)).toMatchObject({ status, body: { code } });
    expect(await valueOf("a")).toBe("'before'");
    expect(context.spool.files).toBe(0);
  });

  test("is not changed by an incomplete upload, and code does not wait for it", async () => {
    await valueOf("a = 'before'");
    let sent = 0;
    let code: Promise<unknown> | undefined;
    const body = new ReadableStream({
      pull: async (controller) => {
        sent += 1;
        if (sent === 4) await (code = valueOf("a")); // in the middle of it
        if (sent > 5) controller.error(new Error("gone"));
        else controller.enqueue(new Uint8Array(MIB));
      },
    });
    expect(await put("a", "application/octet-stream", body)).toMatchObject({
      status: 400,
      body: { code: "MALFORMED" },
    });
    expect(await code).toBe("'before'");
    expect(context.spool.files).toBe(0);
  });
});

describe("code in an editor", () => {
  test("gets completions and signatures", async () => {
    await valueOf("def greet(name, loud=False):\n  'Says hello.'");
    const look = { code: "gre", cursor: 3 };
    expect((await ask("POST", `${session}/complete`, { json: look })).body).toMatchObject({
      matches: [{ text: "greet", type: "function" }],
      start: 0,
      end: 3,
    });
    expect(
      (await ask("POST", `${session}/signature`, { json: { code: "greet('a', ", cursor: 11 } })).body,
    ).toMatchObject({
      signature: { name: "greet", parameter: 1, documentation: "Says hello." },
    });
    expect((await ask("POST", `${session}/signature`, { json: { code: "", cursor: 0 } })).body).toEqual({
      signature: null,
    });
    expect(await ask("POST", `${session}/complete`, { json: { code: "a", cursor: 2 } })).toMatchObject({ status: 422 });
    expect(await ask("POST", `${session}/complete`, { body: "{}", headers: JSON_TYPE })).toMatchObject({ status: 422 });
  });
});
