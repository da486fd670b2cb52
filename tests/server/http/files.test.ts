import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Runtime } from "../../internals.ts";
import { openTestRuntime } from "../../open.ts";
import { openTestServer, type Ask } from "./request.ts";
import { skipInTierC } from "../../tier.ts";

const MIB = 1024 * 1024;

let runtime: Runtime;
let ask: Ask;
let files: string;
beforeAll(async () => {
  runtime = await openTestRuntime({ ids: "random", limits: { diskBytes: 64 * MIB } });
  ({ ask } = openTestServer(runtime));
  const session = await runtime.openSession();
  files = `/v1/sessions/${session.id}/files`;
});
afterAll(() => runtime.close());

async function run(code: string): Promise<void> {
  const { body } = await ask("POST", files.replace("/files", "/execute"), { json: { code } });
  expect(body).toMatchObject({ status: "ok" });
}

describe("a file", () => {
  test("is created with 201, replaced with 200, read byte for byte, and removed with 204", async () => {
    const bytes = new Uint8Array(300_000).map((_, index) => index);
    const made = await ask("PUT", `${files}/a/b.bin`, { body: bytes });
    expect(made).toMatchObject({ status: 201, body: { name: "b.bin", path: "a/b.bin", type: "file", size: 300_000 } });
    expect(await ask("PUT", `${files}/a/b.bin`, { body: bytes })).toMatchObject({ status: 200 });
    const { status, type, headers, response } = await ask("GET", `${files}/a/b.bin`);
    expect([status, type, headers.get("content-length")]).toEqual([200, "application/octet-stream", "300000"]);
    expect(headers.get("content-disposition")).toBe("attachment; filename*=UTF-8''b.bin");
    expect(Date.parse(headers.get("last-modified") ?? "")).toBeGreaterThan(Date.now() - 60_000);
    expect(Buffer.compare(Buffer.from(await response.arrayBuffer()), bytes)).toBe(0);
    expect((await ask("DELETE", `${files}/a/b.bin`)).status).toBe(204);
    expect(await ask("GET", `${files}/a/b.bin`)).toMatchObject({ status: 404, body: { code: "FILE" } });
  });

  test("has a media type only if no browser executes it, and never that of JSON", async () => {
    const types = ["p.png", "t.TXT", "x.html", "x.svg", "x.js", "x.json", "none"].map(async (name) => {
      await ask("PUT", `${files}/types/${name}`, { body: "1" });
      const { type, response } = await ask("GET", `${files}/types/${name}`);
      expect(await response.text()).toBe("1");
      return type;
    });
    const bytes = "application/octet-stream";
    expect(await Promise.all(types)).toEqual(["image/png", "text/plain", bytes, bytes, bytes, bytes, bytes]);
  });

  test("may be empty, and HEAD and stat describe it without reading it", async () => {
    await ask("PUT", `${files}/empty`, { body: "" });
    expect(await (await ask("GET", `${files}/empty`)).response.text()).toBe("");
    // More than there are places for readers: none of them stays.
    for (let count = 0; count < 20; count += 1) {
      const { headers, response } = await ask("HEAD", `${files}/empty`);
      expect([headers.get("content-length"), response.body]).toEqual(["0", null]);
    }
    expect((await ask("GET", `${files}/empty?stat=true`)).body).toMatchObject({ path: "empty", type: "file", size: 0 });
    expect((await ask("GET", `${files}/none?stat=true`)).status).toBe(404);
  });

  test("can have any bytes in its name", async () => {
    await run(
      `for name in [b'sp ace', b'100%', b'a\\nb', b'a%2Fb', b'\\xff\\xc3\\xa4', 'größe'.encode()]: open(name, 'w').write('x')`,
    );
    const paths = ["sp%20ace", "100%25", "a%0Ab", "a%252Fb", "%FF%C3%A4", "gr%C3%B6%C3%9Fe", "größe"];
    for (const path of paths) {
      const { response } = await ask("GET", `${files}/${path}`);
      expect([path, await response.text()]).toEqual([path, "x"]);
    }
    const { headers } = await ask("HEAD", `${files}/%FF%C3%A4`);
    expect(headers.get("content-disposition")).toBe("attachment; filename*=UTF-8''_%C3%A4");
    expect((await ask("GET", `${files}/%FF%C3%A4?stat=true`)).body["name"]).toBe("\udcffä");
    expect((await ask("PUT", `${files}/new-%FE`, { body: "y" })).body["name"]).toBe("new-\udcfe");
  });
});

describe("a range", () => {
  beforeAll(() => ask("PUT", `${files}/digits`, { body: "0123456789" }));
  test.each([
    ["bytes=2-4", 206, "bytes 2-4/10", "234"],
    ["bytes=7-", 206, "bytes 7-9/10", "789"],
    ["bytes=-3", 206, "bytes 7-9/10", "789"],
    ["bytes=-100", 206, "bytes 0-9/10", "0123456789"],
    ["bytes=8-100", 206, "bytes 8-9/10", "89"],
    ["bytes=0-0", 206, "bytes 0-0/10", "0"],
    ["bytes=0-1,3-4", 200, null, "0123456789"],
    ["bytes=4-2", 200, null, "0123456789"],
    ["lines=1-2", 200, null, "0123456789"],
    ["bytes=-", 200, null, "0123456789"],
  ])("%s gives %i", async (range, status, place, text) => {
    const answer = await ask("GET", `${files}/digits`, { headers: { range } });
    expect([answer.status, answer.headers.get("content-range")]).toEqual([status, place]);
    expect([answer.headers.get("content-length"), await answer.response.text()]).toEqual([String(text.length), text]);
  });

  test.each(["bytes=10-", "bytes=-0", "bytes=999999999999999999999-"])("%s is answered 416", async (range) => {
    const answer = await ask("GET", `${files}/digits`, { headers: { range } });
    expect(answer).toMatchObject({ status: 416, body: { code: "NO_SUCH_RANGE" } });
    expect(answer.headers.get("content-range")).toBe("bytes */10");
  });

  test("applies only while the file is unchanged, if If-Range says so", async () => {
    const date = (await ask("HEAD", `${files}/digits`)).headers.get("last-modified") ?? "";
    const range = "bytes=0-1";
    expect(await ask("GET", `${files}/digits`, { headers: { range, "if-range": date } })).toMatchObject({
      status: 206,
    });
    const other = await ask("GET", `${files}/digits`, { headers: { range, "if-range": new Date(0).toUTCString() } });
    expect([other.status, await other.response.text()]).toEqual([200, "0123456789"]);
  });
});

describe("a folder", () => {
  test("is created by a path that ends in a slash, and listed", async () => {
    expect(await ask("PUT", `${files}/f/g/`)).toMatchObject({ status: 201, body: { path: "f/g", type: "folder" } });
    expect(await ask("PUT", `${files}/f/g/`)).toMatchObject({ status: 200 });
    await ask("PUT", `${files}/f/g/h`, { body: "1" });
    const paths = async (path: string) =>
      ((await ask("GET", `${files}${path}`)).body["entries"] as { path: string }[]).map((entry) => entry.path);
    expect(await paths("/f")).toEqual(["f/g"]);
    expect(await paths("/f?depth=2")).toEqual(["f/g", "f/g/h"]);
    expect(await paths("")).toContain("f");
    expect(await ask("PUT", `${files}/f/g`, { body: "1" })).toMatchObject({ status: 409 });
    expect(await ask("GET", `${files}?depth=0`)).toMatchObject({ status: 422 });
    expect((await ask("DELETE", `${files}/f`)).status).toBe(204);
  });
});

describe("a path that leads outside", () => {
  beforeAll(() => run("import os; os.symlink('/etc', 'out'); os.symlink('../../etc/passwd', 'up')"));
  test.each([
    "%2e%2e%2fetc%2fpasswd",
    "a%2f..%2f..%2fetc%2fpasswd",
    "..%2F..%2Fetc/passwd",
    "/etc/passwd",
    "%2Fetc%2Fpasswd",
    "//etc/passwd",
    "a%00b",
    "out/passwd",
    "up",
  ])("%s is refused by every method", async (path) => {
    for (const [method, body] of [["GET"], ["PUT", "x"], ["DELETE"]] as const) {
      if (method === "DELETE" && path === "up") continue; // the link itself may go
      const answer = await ask(method, `${files}/${path}`, body === undefined ? {} : { body });
      expect(answer, method).toMatchObject({ status: 403, body: { code: "SECURITY" } });
    }
  });

  test("may contain backslashes", async () => {
    expect(await ask("PUT", `${files}/..%5C..%5Cx`, { body: "1" })).toMatchObject({
      status: 201,
      body: { path: String.raw`..\..\x` },
    });
  });

  test.each(["x".repeat(5000), "a/".repeat(2100)])("a path that is too long is 422", async (path) => {
    expect(await ask("GET", `${files}/${path}`)).toMatchObject({ status: 422, body: { code: "INVALID" } });
  });
});

describe("an upload", () => {
  test("that is incomplete leaves the old file and nothing else", async () => {
    await ask("PUT", `${files}/cut/old`, { body: "old" });
    let sent = 0;
    const body = new ReadableStream({
      pull: (controller) => {
        sent += 1;
        if (sent > 20) controller.error(new Error("gone"));
        else controller.enqueue(new Uint8Array(100_000));
      },
    });
    expect(await ask("PUT", `${files}/cut/old`, { body })).toMatchObject({ status: 400, body: { code: "MALFORMED" } });
    expect(await (await ask("GET", `${files}/cut/old`)).response.text()).toBe("old");
    expect((await ask("GET", `${files}/cut`)).body["entries"]).toHaveLength(1);
  });

  test("that does not fit is 507, and the rest is not read", async (context) => {
    skipInTierC(context, "only the size of each file is limited");
    let sent = 0;
    const body = new ReadableStream({
      pull: (controller) => {
        sent += 1;
        controller.enqueue(new Uint8Array(MIB));
      },
    });
    const answer = await ask("PUT", `${files}/full`, { body });
    expect(answer).toMatchObject({ status: 507, body: { code: "FILE" } });
    expect(answer.headers.get("connection")).toBe("close");
    expect(sent).toBeLessThan(90);
    expect((await ask("GET", `${files}/full`)).status).toBe(404);
  });

  test("of a part of a file is refused", async () => {
    const answer = await ask("PUT", `${files}/part`, { body: "x", headers: { "content-range": "bytes 0-0/2" } });
    expect(answer).toMatchObject({ status: 400, body: { code: "PARTIAL_WRITE" } });
  });
});

test("files of an unknown session are 404", async () => {
  expect(await ask("GET", "/v1/sessions/nope/files/x")).toMatchObject({
    status: 404,
    body: { code: "SESSION_NOT_FOUND" },
  });
  expect(await ask("PUT", "/v1/sessions/nope/files/x", { body: "1" })).toMatchObject({ status: 404 });
});
