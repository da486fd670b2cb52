import { cpSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { ScriptedBackend, type RLMOptions, type Runtime } from "../../../internals.ts";
import { listen } from "../../../../src/server/net/listen.ts";
import { makeDataFolder } from "../../../make-data-folder.ts";
import { openTestRuntime } from "../../../open.ts";
import { code, type Script } from "../../../rlm/scripting.ts";
import { openTestServer, readEvents, TOKEN, type Ask } from "../request.ts";

const KEY = "sk-not-to-be-seen-by-anybody";
const DELTAS = new Set(["model-call-delta", "output-delta"]);

let data: string;
let runtime: Runtime;
beforeAll(async () => {
  data = makeDataFolder();
  vi.stubEnv("RLM_DATA", data);
  runtime = await openTestRuntime({ ids: "random" });
});
afterAll(async () => {
  await runtime.close();
  vi.unstubAllEnvs();
  rmSync(data, { recursive: true, force: true });
});

function openWith(script: Script, options: Partial<RLMOptions> = {}, maxRuns = 8): Ask {
  const model: RLMOptions = {
    backend: new ScriptedBackend(script),
    model: "root",
    subModel: "sub",
    mode: "rlm",
    cache: false,
    apiKey: KEY,
    ...options,
  };
  return openTestServer(runtime, { model, maxRuns }).ask;
}

/** What never answers, until the run is ended. */
const silent = (): Promise<never> => new Promise(() => {});

async function start(ask: Ask, json: object): Promise<string> {
  const { status, body, headers } = await ask("POST", "/v1/runs", { json });
  expect(status).toBe(201);
  expect(body["id"]).toMatch(/^r-[0-9a-f]{16}$/);
  expect(headers.get("location")).toBe(`/v1/runs/${String(body["id"])}`);
  return `/v1/runs/${String(body["id"])}`;
}

describe("a run", () => {
  test("starts at once, and has its answer when the request waits", async () => {
    const ask = openWith(() => code("FINAL(context.count('a'))"));
    const path = await start(ask, { query: "How many?", context: "banana" });
    const { body } = await ask("GET", `${path}?waitMs=30000`);
    expect(body).toMatchObject({
      query: "How many?",
      model: "root",
      subModel: "sub",
      status: "final",
      stopReason: "answered",
      usage: { llmCalls: 1 },
      result: { answer: "3", data: 3, why: null, usage: { byNode: { n0: { llmCalls: 1 } } } },
    });
  });

  test("has events, each once, from any cursor; later from its record", async () => {
    const ask = openWith([code("print(context[:5000])"), code("FINAL('done')")]);
    const { response, headers } = await ask("POST", "/v1/runs", {
      json: { query: "?", context: "c".repeat(10_000) },
      headers: { accept: "text/event-stream" },
    });
    const path = headers.get("location") ?? "";
    const streamed = await readEvents(response);
    expect(streamed.map(({ id }) => id)).toEqual(streamed.map((_, index) => String(index + 1)));
    expect(streamed.at(-1)).toMatchObject({ type: "run-end", data: { result: { answer: "done" } } });
    for (const seen of [1, 4, streamed.length]) {
      const again = await ask("GET", `${path}/events`, { headers: { "last-event-id": String(seen) } });
      expect(await readEvents(again.response)).toEqual(streamed.slice(seen));
    }
    await runtime.runs.settled(path.slice("/v1/runs/".length));
    // A process that knows nothing of it but what is on disk.
    await using other = await openTestRuntime({ poolSize: 0 });
    const { ask: askOther } = openTestServer(other);
    const recorded = streamed.filter(({ type }) => !DELTAS.has(type));
    expect(await readEvents((await askOther("GET", `${path}/events`)).response)).toEqual(recorded);
    const rest = await askOther("GET", `${path}/events?after=${recorded[2]?.id}`);
    expect(await readEvents(rest.response)).toEqual(recorded.slice(3));
    expect((await askOther("GET", path)).body).toEqual((await ask("GET", path)).body);
    expect((await askOther("POST", `${path}/cancel`)).status).toBe(202);
  });

  test("can be followed with references instead of long texts, whose blobs are read by hash", async () => {
    const ask = openWith([code("print('x' * 5000)"), code("FINAL('done')")]);
    const path = await start(ask, { query: "?", context: "c" });
    const events = await readEvents((await ask("GET", `${path}/events?texts=references`)).response);
    expect(events.at(-1)?.type).toBe("run-end");
    const ended = events.find(({ type }) => type === "code-end")?.data as { result: { stdout: { $blob: string } } };
    const { $blob: hash } = ended.result.stdout;
    const { response, status, type, headers } = await ask("GET", `${path}/blobs/${hash}`);
    expect({ status, type, text: await response.text() }).toEqual({
      status: 200,
      type: "application/octet-stream",
      text: `${"x".repeat(5000)}\n`,
    });
    expect(headers.get("cache-control")).toContain("immutable");
    for (const wrong of ["0".repeat(64), "..%2Fmeta.json", "x", hash.toUpperCase(), `${hash}%00`])
      expect(await ask("GET", `${path}/blobs/${wrong}`)).toMatchObject({ body: { code: "BLOB_NOT_FOUND" } });
  });

  test("starts once per key", async () => {
    const ask = openWith(() => code("FINAL(1)"));
    const post = (query: string) =>
      ask("POST", "/v1/runs", { json: { query, waitMs: 30_000 }, headers: { "idempotency-key": "r1" } });
    const [first, second] = await Promise.all([post("a"), post("a")]);
    expect([first.status, second.status]).toEqual([201, 200]);
    expect(second.body).toEqual(first.body);
    expect(await post("b")).toMatchObject({ status: 422, body: { code: "KEY_REUSED" } });
  });

  test("can be cancelled; one more than allowed is refused until then", async () => {
    const ask = openWith(silent, {}, 1);
    const path = await start(ask, { query: "?" });
    const { response } = await ask("GET", `${path}/events`);
    const refused = await ask("POST", "/v1/runs", { json: { query: "?" } });
    expect(refused).toMatchObject({ status: 429, body: { code: "LIMIT_EXCEEDED" } });
    expect(refused.headers.get("retry-after")).toBe("1");
    expect((await ask("GET", path)).body).toMatchObject({ status: "running", result: null });
    expect((await ask("POST", `${path}/cancel`)).status).toBe(202);
    expect((await readEvents(response)).at(-1)).toMatchObject({ data: { result: { status: "cancelled" } } });
    await start(ask, { query: "?" });
    await runtime.runs.cancelAll();
  });

  test("goes on when its reader disconnects", async () => {
    let answer: (text: string) => void = () => {};
    const reply = new Promise<string>((resolve) => (answer = resolve));
    const ask = openWith(() => reply);
    const { response, headers } = await ask("POST", "/v1/runs", {
      json: { query: "?" },
      headers: { accept: "text/event-stream" },
    });
    const reader = response.body?.getReader();
    await reader?.read();
    await reader?.cancel();
    answer(code("FINAL('still here')"));
    const { body } = await ask("GET", `${headers.get("location")}?waitMs=30000`);
    expect(body).toMatchObject({ result: { answer: "still here" } });
  });

  test("is listed, the latest first, with runs of other processes", async () => {
    const ask = openWith(() => code("FINAL(1)"));
    const first = await start(ask, { query: "first", waitMs: 30_000 });
    const second = await start(ask, { query: "second", waitMs: 30_000 });
    const { body } = await ask("GET", "/v1/runs?limit=2");
    const runs = body["runs"] as { id: string; query: string }[];
    expect(runs.map(({ id }) => `/v1/runs/${id}`)).toEqual([second, first]);
    expect(body["total"]).toBeGreaterThan(2);
    await Promise.all(runs.map(({ id }) => runtime.runs.settled(id)));
    await using other = await openTestRuntime({ poolSize: 0 });
    expect((await openTestServer(other).ask("GET", "/v1/runs?limit=2")).body).toEqual(body);
  });
});

describe("a record", () => {
  /** A copy of a run under another id, changed before anybody reads it. */
  async function copyRun(change: (folder: string, meta: Record<string, unknown>) => void): Promise<string> {
    const ask = openWith([code("print('x' * 5000)"), code("FINAL('done')")]);
    const path = await start(ask, { query: "?", waitMs: 30_000 });
    const original = path.slice("/v1/runs/".length);
    await runtime.runs.settled(original);
    const id = `r-copy-${original.slice(2)}`;
    const folder = join(data, "runs", id);
    cpSync(join(data, "runs", original), folder, { recursive: true });
    const meta = JSON.parse(readFileSync(join(folder, "meta.json"), "utf8")) as Record<string, unknown>;
    change(folder, { ...meta, id });
    return `/v1/runs/${id}`;
  }
  const writeMeta = (folder: string, meta: object): void =>
    writeFileSync(join(folder, "meta.json"), JSON.stringify(meta));

  test("without an end is reported as broken, and cannot be cancelled", async () => {
    const path = await copyRun((folder, meta) => {
      const lines = readFileSync(join(folder, "events.jsonl"), "utf8").trimEnd().split("\n");
      writeFileSync(join(folder, "events.jsonl"), `${lines.slice(0, -1).join("\n")}\n{"torn`);
      writeMeta(folder, { ...meta, ended: null, status: null, usage: null, writer: null });
    });
    const { ask } = openTestServer(runtime);
    expect((await ask("GET", path)).body).toMatchObject({ status: "broken", result: null });
    const events = await readEvents((await ask("GET", `${path}/events`)).response);
    expect(events.slice(-2).map(({ type }) => type)).toEqual(["node-end", "run-broken"]);
    expect((await ask("POST", `${path}/cancel`)).body).toMatchObject({ status: "broken" });
  });

  test("of a run in another process cannot be cancelled from here", async () => {
    const path = await copyRun((folder, meta) => writeMeta(folder, { ...meta, ended: null, status: null }));
    const { ask } = openTestServer(runtime);
    expect((await ask("GET", path)).body).toMatchObject({ status: "running" });
    expect(await ask("POST", `${path}/cancel`)).toMatchObject({ status: 409, body: { code: "RUN_ELSEWHERE" } });
  });

  test("with damage is read as far as possible", async () => {
    const path = await copyRun((folder, meta) => {
      writeMeta(folder, meta);
      for (const name of readdirSync(join(folder, "blobs"))) writeFileSync(join(folder, "blobs", name), "changed");
    });
    const unexpected: unknown[] = [];
    const { ask } = openTestServer(runtime, { onUnexpected: (error) => void unexpected.push(error) });
    const events = await readEvents((await ask("GET", `${path}/events`)).response);
    const types = events.map(({ type }) => type);
    expect(types).toContain("event-lost");
    expect(types.at(-1)).toBe("run-end");
    const lost = events.find(({ type }) => type === "event-lost");
    expect(lost?.data["seq"]).toBe(Number(lost?.id));
    const [name] = readdirSync(join(data, path.slice("/v1/".length), "blobs"));
    expect((await ask("GET", `${path}/blobs/${name}`)).status).toBe(500);
    expect(String(unexpected[0])).toContain("damaged");
  });
});

describe("a request", () => {
  test("may have any JSON as context, which never names a file of the host", async () => {
    const ask = openWith(() => code("FINAL(repr(context))"));
    const seen = async (context: unknown): Promise<unknown> => {
      const { body } = await ask("POST", "/v1/runs", { json: { query: "?", context, waitMs: 30_000 } });
      return (body["result"] as { answer: string }).answer;
    };
    expect(await seen({ file: "/etc/hostname" })).toBe("{'file': '/etc/hostname'}");
    expect(await seen({ context: { file: "/etc/hostname" } })).toBe("{'context': {'file': '/etc/hostname'}}");
    expect(await seen([1, null, { text: "a" }])).toBe("[1, None, {'text': 'a'}]");
    expect(await seen("text")).toBe("'text'");
    expect(await seen(JSON.parse('{"__proto__": 1}'))).toBe("{'__proto__': 1}");
  });

  test("may choose models by name, a mode, a schema and lower limits", async () => {
    const asked: string[] = [];
    const ask = openWith(({ model }) => {
      asked.push(model);
      return model === "own" ? code("FINAL({'n': int(llm_query('?'))})") : "7";
    });
    const { body } = await ask("POST", "/v1/runs", {
      json: {
        query: "?",
        model: "own",
        subModel: "small",
        mode: "rlm",
        limits: { llmCalls: 5, maxDepth: 0 },
        schema: { type: "object", properties: { n: { type: "integer" } }, required: ["n"] },
        waitMs: 30_000,
      },
    });
    expect(body).toMatchObject({ model: "own", subModel: "small", result: { status: "final", data: { n: 7 } } });
    expect(asked).toEqual(["own", "small"]);
  });

  test("may choose configured models and others of the same backends, and their settings, but no other provider", async () => {
    const asked: (readonly [string, number | undefined, number | undefined])[] = [];
    const backend = new ScriptedBackend(({ model, temperature, seed }) => {
      asked.push([model, temperature, seed]);
      return model === "x" ? "7" : code("FINAL(llm_query('?', model='small'))");
    });
    const models = { small: { model: "here/x", temperature: 0.9 } };
    const model = { backends: { here: backend }, models, model: "here/root", mode: "rlm", cache: false } as const;
    const { ask } = openTestServer(runtime, { model });
    const roles = { model: "here/other", subModel: "small", childModel: "here/root", extractModel: "here/last" };
    const { body } = await ask("POST", "/v1/runs", {
      json: { query: "?", ...roles, temperature: 0.2, seed: 5, waitMs: 30_000 },
    });
    expect(body).toMatchObject({ model: "here/other", subModel: "small", result: { answer: "7" } });
    expect(asked).toEqual([
      ["other", 0.2, 5],
      ["x", 0.2, 5],
    ]);
    const refused = async (json: object): Promise<unknown> => {
      const answer = await ask("POST", "/v1/runs", { json: { query: "?", ...json } });
      return [answer.status, answer.body["detail"]];
    };
    const why = "the models to choose from are 'here/root', 'small', and all models of here";
    for (const role of ["model", "subModel", "childModel", "extractModel"])
      for (const name of ["gpt-5", "anthropic/claude-x", "scripted//etc/passwd"])
        expect(await refused({ [role]: name })).toEqual([422, `Cannot use the model '${name}': ${why}`]);
    expect(await refused({ temperature: -1 })).toEqual([422, expect.stringContaining("temperature")]);
    expect(await refused({ seed: 0.5 })).toEqual([422, expect.stringContaining("seed")]);
    expect(await refused({ extraBody: {} })).toEqual([422, "There is no field 'extraBody'"]);
  });

  test("cannot block the server with a schema's regular expressions", async () => {
    const ask = openWith(() => code(`FINAL({'a': 'a' * 40 + '!'})`));
    const schema = { type: "object", properties: { a: { type: "string", pattern: "^(a+)+$" } } };
    const { body } = await ask("POST", "/v1/runs", { json: { query: "?", schema, waitMs: 30_000 } });
    expect(body).toMatchObject({ status: "final" });
  });

  test("may not choose a backend, an address or a key, raise limits, or be invalid", async () => {
    const ask = openWith(() => code("FINAL(1)"), { limits: { tokens: 1000 } });
    const refused = async (json: object) => {
      const { status, body } = await ask("POST", "/v1/runs", { json: { query: "?", ...json } });
      return [status, body["detail"]];
    };
    expect(await refused({ backend: "openai" })).toEqual([422, "There is no field 'backend'"]);
    expect(await refused({ baseUrl: "http://collector.example" })).toEqual([422, "There is no field 'baseUrl'"]);
    expect(await refused({ apiKey: "x" })).toEqual([422, "There is no field 'apiKey'"]);
    expect(await refused({ tools: [] })).toEqual([422, "There is no field 'tools'"]);
    expect(await refused({ limits: { tokens: 1001 } })).toEqual([
      422,
      "Field 'limits.tokens' is wrong: this server allows 1000 at most",
    ]);
    expect(await refused({ limits: { wallMs: 1e9 } })).toEqual([422, expect.stringContaining("1800000 at most")]);
    expect(await refused({ query: " " })).toEqual([422, "Field 'query' is wrong: must be a question"]);
    expect(await refused({ schema: { type: "nonsense" } })).toEqual([422, expect.stringContaining("schema")]);
    expect(await refused({ schema: { a: "x".repeat(300_000) } })).toEqual([422, expect.stringContaining("256 KiB")]);
    expect(await refused({ model: "" })).toEqual([422, expect.stringContaining("model")]);
  });

  test("may not choose a model where models are files", async () => {
    const model = { backend: "scripted", model: join(data, "script.json") };
    const { ask } = openTestServer(runtime, { model });
    const { status, body } = await ask("POST", "/v1/runs", { json: { query: "?", model: "/etc/passwd" } });
    expect({ status, detail: body["detail"] }).toEqual({
      status: 422,
      detail: expect.stringMatching(/^Cannot use the model '\/etc\/passwd'/),
    });
  });

  test("with an unknown id is refused", async () => {
    const ask = openWith(() => code("FINAL(1)"));
    for (const id of ["nope", "..%2F..%2Fetc", "%00", "a".repeat(300)]) {
      expect(await ask("GET", `/v1/runs/${id}`)).toMatchObject({ status: 404, body: { code: "RUN_NOT_FOUND" } });
      const { status, body } = await ask("GET", `/v1/runs/${id}/blobs/${"0".repeat(64)}`);
      expect({ status, isTold: JSON.stringify(body).includes(data) }).toEqual({ status: 404, isTold: false });
    }
    const path = await start(ask, { query: "?", waitMs: 30_000 });
    expect((await ask("GET", `${path}/events`, { headers: { "last-event-id": "x" } })).status).toBe(422);
  });
});

test("a blob may be cached for ever, and nothing else", async () => {
  const backend = new ScriptedBackend([code("print('x' * 5000)"), code("FINAL('done')")]);
  const { app, ask } = openTestServer(runtime, { model: { backend, model: "m", mode: "rlm", cache: false } });
  const path = await start(ask, { query: "?", waitMs: 30_000 });
  await runtime.runs.settled(path.slice("/v1/runs/".length));
  const [name] = readdirSync(join(data, path.slice("/v1/".length), "blobs"));
  const server = await listen(app, { host: "127.0.0.1", port: 0 });
  try {
    const get = (from: string) => fetch(server.url + from, { headers: { authorization: `Bearer ${TOKEN}` } });
    const { headers } = await get(`${path}/blobs/${name}`);
    expect(headers.get("cache-control")).toBe("private, max-age=31536000, immutable");
    expect(headers.get("x-content-type-options")).toBe("nosniff");
    expect((await get(path)).headers.get("cache-control")).toBe("no-store");
  } finally {
    await server.close(0);
  }
});

test("without a model, the response says how to configure one", async () => {
  const whyNot = "none is configured: set RLM_MODEL and the key of its provider, or write rlm.toml";
  const { ask } = openTestServer(runtime, { model: { whyNot } });
  expect(await ask("POST", "/v1/runs", { json: { query: "?" } })).toMatchObject({
    status: 409,
    body: { code: "NO_MODEL", detail: `No model can be asked: ${whyNot}` },
  });
  expect((await ask("GET", "/v1/runs")).status).toBe(200);
});

test("the key of the provider is in no response, whatever the provider says", async () => {
  const provider = createServer(({ headers }, response) =>
    response
      .writeHead(401, { "content-type": "application/json" })
      .end(JSON.stringify({ error: { message: headers } })),
  );
  await new Promise<void>((resolve) => provider.listen(0, "127.0.0.1", resolve));
  const { port } = provider.address() as AddressInfo;
  try {
    const backend = { backend: "openai-compatible", baseUrl: `http://127.0.0.1:${port}` };
    const { ask } = openTestServer(runtime, {
      model: { ...backend, apiKey: KEY, model: "m", mode: "rlm", cache: false },
    });
    const path = await start(ask, { query: "?", waitMs: 30_000 });
    const { body } = await ask("GET", path);
    expect(body).toMatchObject({ status: "failed", result: { why: expect.stringContaining("401") } });
    const responses = ["whole", "references"].map((texts) => ask("GET", `${path}/events?texts=${texts}`));
    const events = await Promise.all(responses.map(async (one) => (await one).response.text()));
    expect(events.map((text) => text.includes("run-end"))).toEqual([true, true]);
    for (const text of [JSON.stringify(body), ...events]) expect(text).not.toContain(KEY);
  } finally {
    provider.closeAllConnections();
    provider.close();
  }
});

test("closing the server ends a stream that would never end", async () => {
  const closing = new AbortController();
  const model = { backend: new ScriptedBackend(silent), model: "m", mode: "rlm", cache: false } as const;
  const { ask } = openTestServer(runtime, { model, closing: closing.signal });
  const path = await start(ask, { query: "?" });
  const streams = await Promise.all(
    ["whole", "references"].map((texts) => ask("GET", `${path}/events?texts=${texts}`)),
  );
  closing.abort();
  for (const { response } of streams) expect((await readEvents(response)).at(-1)?.type).toBe("server-end");
  await ask("POST", `${path}/cancel`);
});
