import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from "vitest";
import type { Runtime } from "../../internals.ts";
import type { ServerContext } from "../../../src/server/context/server-context.ts";
import { openTestRuntime } from "../../open.ts";
import { openTestServer, type Ask } from "./request.ts";

let runtime: Runtime;
let context: ServerContext;
let ask: Ask;
beforeAll(async () => {
  runtime = await openTestRuntime({ ids: "random" });
  ({ ask, context } = openTestServer(runtime));
});
afterAll(() => runtime.close());

async function open(code: string, options: object = {}): Promise<string> {
  const { body } = await ask("POST", "/v1/sessions", { json: options });
  const path = `/v1/sessions/${String(body["id"])}`;
  await valueOf(path, code);
  return path;
}

async function valueOf(path: string, code: string): Promise<unknown> {
  const { body } = await ask("POST", `${path}/execute`, { json: { code } });
  return (body["value"] as Record<string, unknown> | undefined)?.["text/plain"] ?? body["status"];
}

describe("a fork", () => {
  test("has its own namespace and files", async () => {
    const path = await open("x = 1; open('f', 'w').write('1')");
    const copy = await ask("POST", `${path}/fork`, { json: { id: "copy-1" } });
    expect(copy).toMatchObject({ status: 201, body: { id: "copy-1", state: "idle" } });
    expect(copy.headers.get("location")).toBe("/v1/sessions/copy-1");
    expect(await valueOf("/v1/sessions/copy-1", "x += 1; open('f', 'w').write('22'); x")).toBe("2");
    expect(await valueOf(path, "x, open('f').read()")).toBe("(1, '1')");
    expect(await ask("POST", `${path}/fork`, { json: { id: "copy-1" } })).toMatchObject({ status: 409 });
    expect(await ask("POST", `${path}/fork`, { json: { id: "../x" } })).toMatchObject({ status: 422 });
    expect((await ask("POST", `${path}/fork`)).body["id"]).toMatch(/^s-[\da-f]{16}$/);
    expect(await ask("POST", "/v1/sessions/nope/fork")).toMatchObject({ status: 404 });
  });

  test("is refused while code runs", async () => {
    const path = await open("");
    const { body } = await ask("POST", `${path}/execute`, {
      json: { code: "while True: pass" },
      headers: { prefer: "respond-async" },
    });
    const state = async () => (await ask("GET", `/v1/executions/${String(body["id"])}`)).body["state"];
    await expect.poll(state).toBe("running");
    expect(await ask("POST", `${path}/fork`)).toMatchObject({ status: 409, body: { code: "FORK_REFUSED" } });
    await ask("DELETE", path);
  });
});

describe("checkpoints", () => {
  test("are created, listed, rewound to, and dropped", async () => {
    const path = await open("x = 1");
    const { status, body } = await ask("POST", `${path}/checkpoints`);
    expect([status, body]).toMatchObject([201, { id: "c1", executionCount: 1, isAutomatic: false }]);
    await valueOf(path, "x = 2");
    expect((await ask("GET", `${path}/checkpoints`)).body).toEqual({ checkpoints: [body] });
    expect(await ask("POST", `${path}/rewind`, { json: { checkpoint: "c1" } })).toMatchObject({ status: 200 });
    expect(await valueOf(path, "x")).toBe("1");
    expect((await ask("DELETE", `${path}/checkpoints/c1`)).status).toBe(204);
    await expect.poll(async () => (await ask("GET", `${path}/checkpoints`)).body).toEqual({ checkpoints: [] });
    const gone = { status: 404, body: { code: "CHECKPOINT_NOT_FOUND" } };
    expect(await ask("DELETE", `${path}/checkpoints/c1`)).toMatchObject(gone);
    expect(await ask("POST", `${path}/rewind`, { json: { checkpoint: "c1" } })).toMatchObject(gone);
  });

  test("undo executions one after the other when they are automatic", async () => {
    const path = await open("x = 1", { autoCheckpoint: true });
    await valueOf(path, "x = 2");
    await valueOf(path, "x = 3");
    const epoch = (await ask("GET", path)).body["epoch"] as number;
    expect((await ask("POST", `${path}/rewind`)).body["epoch"]).toBe(epoch + 1);
    await ask("POST", `${path}/rewind`);
    expect(await valueOf(path, "x")).toBe("1");
    const without = await open("");
    expect(await ask("POST", `${without}/rewind`)).toMatchObject({ status: 409, body: { code: "FORK_REFUSED" } });
  });
});

describe("a session file", () => {
  const save = async (path: string) => {
    const { headers, type, response, status } = await ask("POST", `${path}/save`);
    expect([status, type]).toEqual([200, "application/vnd.rlm.session"]);
    const bytes = new Uint8Array(await response.arrayBuffer());
    expect(headers.get("content-length")).toBe(String(bytes.length));
    return { bytes, report: JSON.parse(headers.get("save-report") ?? "") as Record<string, unknown>, headers };
  };

  test("is saved with a report, and loaded into a new session", async () => {
    const path = await open("import threading\nx = list(range(1000))\ndef f(): return 'ä'\nlöck = threading.Lock()");
    const { bytes, report, headers } = await save(path);
    expect(headers.get("save-report")).toMatch(/^[\x20-\x7E]+$/);
    expect(report).toMatchObject({
      skippedCount: 1,
      skipped: [{ name: "löck", why: expect.any(String) }],
      omitted: 0,
      digest: expect.stringMatching(/^[\da-f]{64}$/),
    });
    const loaded = await ask("POST", "/v1/sessions/load?id=again&idleTimeoutMs=null", { body: bytes });
    expect(loaded).toMatchObject({
      status: 201,
      body: { session: { id: "again" }, loaded: { names: expect.arrayContaining(["f", "x"]), skipped: [] } },
    });
    expect(await valueOf("/v1/sessions/again", "len(x), f()")).toBe("(1000, 'ä')");
    expect(await ask("POST", "/v1/sessions/load?id=again", { body: bytes })).toMatchObject({ status: 409 });
    expect(context.spool.files).toBe(0);
  });

  test("has a report of limited size that counts what it omits", async () => {
    const path = await open(
      "import threading\nfor i in range(500): globals()[f'a_rather_long_name_{i}'] = threading.Lock()",
    );
    const { report, headers } = await save(path);
    expect(headers.get("save-report")?.length).toBeLessThan(4500);
    const listed = (report["skipped"] as unknown[]).length;
    expect(report).toMatchObject({ skippedCount: 500, omitted: 500 - listed });
    expect(listed).toBeGreaterThan(0);
  });

  test("is refused when it is damaged, hostile or no session file, without revealing anything of the host", async () => {
    const { bytes } = await save(await open("x = 1"));
    const damaged = bytes.slice().fill(0, 40, 60);
    const short = bytes.slice(0, -10);
    const before = runtime.sessions.list().length;
    for (const body of [
      damaged,
      short,
      new Uint8Array(0),
      "RLM session file\n",
      "#!/bin/sh\n",
      new Uint8Array(3_000_000),
    ]) {
      const answer = await ask("POST", "/v1/sessions/load", { body });
      expect(answer).toMatchObject({ status: 403, body: { code: "SECURITY" } });
      expect(answer.body["detail"]).toMatch(/^Cannot load the session file: (?!.*(proc|tmp))/);
    }
    expect([runtime.sessions.list().length, context.spool.files]).toEqual([before, 0]);
  });

  test("cannot be loaded from a path on the host", async () => {
    const path = await open("x = 1");
    expect(await ask("POST", `${path}/save?path=/tmp/x`)).toMatchObject({ status: 422 });
    expect(await ask("POST", "/v1/sessions/load?path=/etc/passwd", { body: "" })).toMatchObject({ status: 422 });
    expect(await ask("POST", "/v1/sessions/load?autoCheckpoint=51", { body: "" })).toMatchObject({ status: 422 });
  });

  test("that is not saved in time gives a problem, not a download", async () => {
    const path = await open("class Slow:\n  def __reduce__(self):\n    while True: pass\nslow = Slow()");
    const answer = await ask("POST", `${path}/save?timeoutMs=300`);
    expect(answer).toMatchObject({ status: 409, body: { code: "SESSION_STATE" } });
    expect(answer.body["detail"]).toMatch(
      /^Cannot save to the session file in session '\S+': it took longer than 300 ms$/,
    );
    expect(context.spool.files).toBe(0);
  });

  test("is anonymous on the server's disk while it is written, so that nothing is left behind", async () => {
    const waits = `
import os, time
class Waits:
    def __getstate__(self):
        open("begun", "w").close()
        while not os.path.exists("go"): time.sleep(0.01)
        return {}
waits = Waits()`;
    const path = await open(waits);
    const folder = mkdtempSync(join(tmpdir(), "rlm-state-"));
    onTestFinished(() => {
      vi.unstubAllEnvs();
      rmSync(folder, { recursive: true });
    });
    vi.stubEnv("TMPDIR", folder);
    const saved = save(path);
    await expect.poll(async () => (await ask("GET", `${path}/files/begun?stat=true`)).status).toBe(200);
    expect([context.spool.files, readdirSync(folder)]).toEqual([1, []]);
    await ask("PUT", `${path}/files/go`, { body: "" });
    expect((await saved).bytes.length).toBeGreaterThan(100);
    expect(readdirSync(folder)).toEqual([]);
  });

  test("is removed from the server when its reader disconnects", async () => {
    const path = await open("x = bytes(5_000_000)");
    const { response } = await ask("POST", `${path}/save`);
    const reader = response.body?.getReader();
    await reader?.read();
    expect(context.spool.files).toBe(1);
    await reader?.cancel();
    expect(context.spool.files).toBe(0);
    const controller = new AbortController();
    await ask("POST", `${path}/save`, { signal: controller.signal }); // never read
    controller.abort();
    await expect.poll(() => context.spool.files).toBe(0);
  });

  test("is refused when too many transfers are running", async () => {
    const path = await open("x = bytes(2_000_000)");
    const answers = [];
    for (let count = 0; count < 8; count += 1) answers.push(await ask("POST", `${path}/save`));
    const one = await ask("POST", `${path}/save`);
    expect(one).toMatchObject({ status: 429, body: { code: "TOO_MANY_TRANSFERS" } });
    expect(one.headers.get("retry-after")).toBe("1");
    await Promise.all(answers.map(({ response }) => response.arrayBuffer()));
    expect(context.spool.files).toBe(0);
  });
});
