// Renaming and watching files, and resuming downloads.

import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Runtime } from "../../internals.ts";
import { openTestRuntime } from "../../open.ts";
import { openTestServer, type Ask } from "./request.ts";

let runtime: Runtime;
let ask: Ask;
let session: string;
beforeAll(async () => {
  runtime = await openTestRuntime({ ids: "random" });
  ({ ask } = openTestServer(runtime));
  session = `/v1/sessions/${(await runtime.openSession()).id}`;
});
afterAll(() => runtime.close());

const put = (path: string, body: string) => ask("PUT", `${session}/files/${path}`, { body });
const contentOf = async (path: string): Promise<string> =>
  (await ask("GET", `${session}/files/${path}`)).response.text();

describe("rename", () => {
  test("moves a file, replaces another, and creates folders", async () => {
    await put("old.txt", "abc");
    await put("new/name.txt", "replaced");
    const moved = await ask("POST", `${session}/rename`, { json: { path: "old.txt", to: "new/name.txt" } });
    expect(moved).toMatchObject({ status: 200, body: { name: "name.txt", path: "new/name.txt", size: 3 } });
    expect(await contentOf("new/name.txt")).toBe("abc");
    expect((await ask("GET", `${session}/files/old.txt`)).status).toBe(404);
  });

  test.each([
    ["a file that is not there", "none", "x", 404, "FILE"],
    ["a path outside", "new", "../../x", 403, "SECURITY"],
    ["a path with NUL", "new", "a\0b", 403, "SECURITY"],
  ])("%s is refused", async (_, path, to, status, code) => {
    await put("new/name.txt", "abc");
    expect(await ask("POST", `${session}/rename`, { json: { path, to } })).toMatchObject({ status, body: { code } });
  });
});

describe("a download", () => {
  test("resumes while the file is the same, and is whole when it has changed", async () => {
    await put("big", "0123456789");
    const first = await ask("GET", `${session}/files/big`);
    const etag = first.headers.get("etag") ?? "";
    expect(etag).toMatch(/^"[0-9a-f-]+"$/);
    const resume = { range: "bytes=4-", "if-range": etag };
    const rest = await ask("GET", `${session}/files/big`, { headers: resume });
    expect([rest.status, rest.headers.get("etag"), await rest.response.text()]).toEqual([206, etag, "456789"]);
    // The same size and time, and another file.
    const code =
      "import os; t = os.stat('big'); open('other', 'w').write('abcdefghij'); os.utime('other', ns=(t.st_atime_ns, t.st_mtime_ns)); os.replace('other', 'big')";
    await ask("POST", `${session}/execute`, { json: { code } });
    const changed = await ask("GET", `${session}/files/big`, { headers: resume });
    expect([changed.status, await changed.response.text()]).toEqual([200, "abcdefghij"]);
    expect(changed.headers.get("etag")).not.toBe(etag);
    const head = await ask("HEAD", `${session}/files/big`);
    expect(head.headers.get("etag")).toBe(changed.headers.get("etag"));
  });
});

describe("watch", () => {
  const event = (type: string, data: unknown): string => `event: ${type}\ndata: ${JSON.stringify(data)}\n\n`;
  type Reader = ReadableStreamDefaultReader<string>;
  const open = async (path: string): Promise<Reader> => {
    const { status, type, response } = await ask("GET", path);
    expect([status, type]).toEqual([200, "text/event-stream"]);
    return toReader(response);
  };
  const toReader = ({ body }: Response): Reader =>
    (body as ReadableStream<Uint8Array<ArrayBuffer>>).pipeThrough(new TextDecoderStream()).getReader();
  async function until(reader: Reader, wanted: string): Promise<string> {
    let text = "";
    while (!text.includes(wanted)) {
      const { value, done } = await reader.read();
      if (done) break;
      text += value;
    }
    return text;
  }

  test("sends the changes as they happen, up to the end of the session", async () => {
    const { id } = await runtime.openSession();
    const own = `/v1/sessions/${id}`;
    await ask("PUT", `${own}/files/sub/`);
    const reader = await open(`${own}/watch?recursive=true`);
    expect(await until(reader, "watch-start")).toBe(event("watch-start", {}));
    await ask("PUT", `${own}/files/sub/a`, { body: "1" });
    await ask("POST", `${own}/rename`, { json: { path: "sub/a", to: "sub/b" } });
    expect(await until(reader, '"from"')).toContain(event("change", { type: "renamed", path: "sub/b", from: "sub/a" }));
    await ask("DELETE", own);
    expect(await until(reader, "watch-end")).toContain(event("watch-end", { why: "it was closed" }));
    expect((await reader.read()).done).toBe(true);
  });

  /** Watches until the first event. False: there is no place. */
  async function isWatching(path: string): Promise<boolean> {
    const { status, response } = await ask("GET", path);
    if (status !== 200) return false;
    const reader = toReader(response);
    await until(reader, "watch-start");
    await reader.cancel();
    return true;
  }

  test("a reader that leaves frees its place, and what cannot be watched is a problem", async () => {
    const { id, files } = await runtime.openSession();
    for (let n = 0; n < 40; n += 1) {
      // The server learns later that a reader has left.
      await expect.poll(() => isWatching(`/v1/sessions/${id}/watch`)).toBe(true);
    }
    await ask("HEAD", `/v1/sessions/${id}/watch`);
    await (await files.watch()).close();
    expect(await ask("GET", `/v1/sessions/${id}/watch?path=none`)).toMatchObject({
      status: 404,
      body: { code: "FILE" },
    });
    expect(await ask("GET", `/v1/sessions/${id}/watch?path=../..`)).toMatchObject({ status: 403 });
  });
});
