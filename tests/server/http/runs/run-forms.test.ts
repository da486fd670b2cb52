// Runs whose context comes as a form.

import { readdirSync, readFileSync, rmSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { ScriptedBackend, type Runtime } from "../../../internals.ts";
import type { ServerContext } from "../../../../src/server/context/server-context.ts";
import { makeDataFolder } from "../../../make-data-folder.ts";
import { openTestRuntime } from "../../../open.ts";
import { code } from "../../../rlm/scripting.ts";
import { openTestServer, type Answered, type Ask } from "../request.ts";

let data: string;
let runtime: Runtime;
let ask: Ask;
let context: ServerContext;
let asked = 0;
beforeAll(async () => {
  data = makeDataFolder();
  vi.stubEnv("RLM_DATA", data);
  runtime = await openTestRuntime({ ids: "random" });
  const backend = new ScriptedBackend(({ messages }) => {
    asked += 1;
    // The question is the code of the answer.
    return code(`FINAL(${/Question: ([^\n]*)/.exec(messages.map(({ content }) => content).join("\n"))?.[1] ?? ""})`);
  });
  const model = { backend, model: "root", mode: "rlm", cache: false } as const;
  ({ ask, context } = openTestServer(runtime, {
    model,
    maxContextBytes: 50_000_000,
    minThroughput: { bytes: 1_000, windowMs: 300 },
  }));
});
afterAll(async () => {
  await runtime.close();
  vi.unstubAllEnvs();
  rmSync(data, { recursive: true, force: true });
});

type Parts = readonly (readonly [name: string, content: string | Uint8Array, fileName?: string])[];

async function send(request: object | string, parts: Parts, more: object = {}): Promise<Answered> {
  const form = new FormData();
  form.append("request", typeof request === "string" ? request : JSON.stringify({ waitMs: 30_000, ...request }));
  for (const [name, content, fileName] of parts) {
    if (fileName === undefined && typeof content === "string") form.append(name, content);
    else form.append(name, new Blob([content]), fileName ?? "blob");
  }
  const encoded = new Response(form);
  const headers = { "content-type": encoded.headers.get("content-type") ?? "" };
  return ask("POST", "/v1/runs", { body: new Uint8Array(await encoded.arrayBuffer()), headers, ...more });
}

const answerOf = ({ body }: Answered): unknown => (body["result"] as { data?: unknown } | null)?.data;
const nothingLeft = async (): Promise<void> => {
  await expect.poll(() => context.runContexts.spool.files).toBe(0);
};

describe("the context", () => {
  test("is the variable of each part's name, and a dict for several files of one name", async () => {
    const started = await send({ query: "[context, sorted(docs.items())]" }, [
      ["context", "größe 🐍"],
      ["docs", "one", "a.txt"],
      ["docs", "", "b c.txt"],
    ]);
    expect(started.status).toBe(201);
    expect(answerOf(started)).toEqual([
      "größe 🐍",
      [
        ["a.txt", "one"],
        ["b c.txt", ""],
      ],
    ]);
    await nothingLeft();
  });

  test("is what `parts` says, in its order, beside a context in the request", async () => {
    const parts = [
      { part: "p1", variable: "docs", file: "z/exact name.txt" },
      { part: "p0", variable: "table", as: "json" },
      { part: "p2", variable: "docs", file: "a" },
    ];
    const started = await send({ query: "[context, table, list(docs.items())]", context: { inline: true }, parts }, [
      ["p0", '[1, {"a": 10000000000000000000000}]'],
      ["p2", "second"],
      ["p1", "first", "ignored"],
    ]);
    expect(JSON.stringify(answerOf(started))).toBe(
      JSON.stringify([
        { inline: true },
        [1, { a: 1e22 }],
        [
          ["z/exact name.txt", "first"],
          ["a", "second"],
        ],
      ]),
    );
  });

  test("has several files in one part, one after the other, some of them empty", async () => {
    const docs = (sizes: Readonly<Record<string, number>>): object => ({
      variable: "docs",
      files: Object.entries(sizes).map(([name, size]) => ({ name, size })),
    });
    const parts = [
      { part: "p0", folder: "all", ...docs({ none: 0, "ä/b": 4, c: 3, last: 0 }) },
      { part: "p1", variable: "docs", file: "single" },
      { part: "p2", ...docs({ nothing: 0 }) },
    ];
    const content: Parts = [
      ["p1", "after"],
      ["p0", "größe"],
      ["p2", ""],
    ];
    const request = { id: "packed", query: "list(docs.items())", parts };
    const started = await send(request, content);
    expect(answerOf(started)).toEqual([
      ["none", ""],
      ["ä/b", "grö"],
      ["c", "ße"],
      ["last", ""],
      ["single", "after"],
      ["nothing", ""],
    ]);
    expect((await send(request, content)).status).toBe(200);
    expect(
      await send(
        request,
        content.map(([name, text]) => [name, name === "p0" ? "grooose" : text]),
      ),
    ).toMatchObject({ status: 409, body: { code: "ID_REUSED" } });
    await nothingLeft();
  });

  test.each([
    ["more than its files have", "12345678", { a: 3, b: 4 }],
    ["less than its files have", "123456", { a: 3, b: 4 }],
    ["content, and empty files", "1", { a: 0 }],
  ])("is refused for a part with %s", async (_, content, sizes) => {
    const files = Object.entries(sizes).map(([name, size]) => ({ name, size }));
    const refused = await send({ query: "1", parts: [{ part: "p0", variable: "docs", files }] }, [["p0", content]]);
    expect(refused).toMatchObject({ status: 422, body: { code: "INVALID_BODY" } });
    expect(refused.body["detail"]).toContain("part 'p0' has not the size that its files have together");
    await nothingLeft();
  });

  test("may have very many files", async () => {
    const names = Array.from({ length: 20_000 }, (_, index) => `${index}.txt`);
    const files = names.map((name) => ({ name, size: name.length }));
    const parts = [{ part: "p0", variable: "docs", files }];
    const query = "[len(docs), all(name == text for name, text in docs.items())]";
    expect(answerOf(await send({ query, parts }, [["p0", names.join("")]]))).toEqual([20_000, true]);
  });

  test("may be large and not UTF-8, byte for byte", async () => {
    const bytes = new Uint8Array(20_000_000).map((_, index) => (index * 7) % 251);
    const parts = [
      { part: "x", variable: "x", file: "big" },
      { part: "y", variable: "x", file: "small" },
    ];
    const query = "[type(x['big']).__name__, len(x['big']), sum(x['big'][::1000]), x['small']]";
    const started = await send({ query, parts }, [
      ["x", bytes],
      ["y", "after"],
    ]);
    const sum = bytes.filter((_, index) => index % 1000 === 0).reduce((total, value) => total + value, 0);
    expect(answerOf(started)).toEqual(["bytes", bytes.length, sum, "after"]);
  });

  test("is recorded as it came", async () => {
    const started = await send({ query: "len(context)" }, [
      ["other", "before"],
      ["context", "recorded text"],
    ]);
    const id = started.body["id"] as string;
    await runtime.runs.settled(id);
    const folder = `${data}/runs/${id}/blobs`;
    const texts = readdirSync(folder).map((name) => readFileSync(`${folder}/${name}`, "utf8"));
    expect(texts).toContain("recorded text");
    expect(texts).toContain("before");
  });
});

describe("a repeated form", () => {
  test("with the same id starts nothing, and another content is another request", async () => {
    const request = { id: "form-1", query: "context" };
    const before = asked;
    const first = await send(request, [["context", "abc"]]);
    const again = await send(request, [["context", "abc"]]);
    expect([first.status, again.status, asked - before]).toEqual([201, 200, 1]);
    expect(again.body).toEqual(first.body);
    for (const parts of [[["context", "abd"]], [["context", "abc", "name"]], [["other", "abc"]], []] as Parts[])
      expect(await send(request, parts)).toMatchObject({ status: 409, body: { code: "ID_REUSED" } });
    await nothingLeft();
  });
});

describe("what is refused leaves nothing", () => {
  const q = { query: "1" };
  const parts = (...all: object[]) => ({ ...q, parts: all });
  test.each<[string, object | string, Parts, string]>([
    ["a context twice", { ...q, context: "a" }, [["context", "b"]], "'context' comes twice"],
    ["a part that is missing", parts({ part: "p", variable: "v" }), [], "part 'p' is missing"],
    [
      "a part twice",
      parts({ part: "p", variable: "v" }),
      [
        ["p", "1"],
        ["p", "2"],
      ],
      "part 'p' comes twice",
    ],
    [
      "a part that is named twice",
      parts({ part: "p", variable: "v" }, { part: "p", variable: "w" }),
      [["p", "1"]],
      "names 'p' twice",
    ],
    [
      "a variable twice",
      parts({ part: "p", variable: "v" }, { part: "q", variable: "v" }),
      [
        ["p", "1"],
        ["q", "1"],
      ],
      "'v' comes twice",
    ],
    [
      "a variable named and unnamed",
      parts({ part: "p", variable: "v" }),
      [
        ["p", "1"],
        ["v", "2"],
      ],
      "'v' comes twice",
    ],
    [
      "a text and a file",
      parts({ part: "p", variable: "v" }, { part: "q", variable: "v", file: "f" }),
      [
        ["p", "1"],
        ["q", "1"],
      ],
      "'v' comes twice",
    ],
    [
      "a file twice",
      parts({ part: "p", variable: "v", file: "f" }, { part: "q", variable: "v", file: "f" }),
      [
        ["p", "1"],
        ["q", "1"],
      ],
      "two files named 'f'",
    ],
    [
      "texts of one name",
      q,
      [
        ["v", "1"],
        ["v", "2"],
      ],
      "comes twice, and not as files",
    ],
    ["a name that is none", q, [["no name", "1"]], "Python identifier"],
    ["a request that is no JSON", "{", [], "JSON"],
    ["a field that there is not", { ...q, nothing: 1 }, [], "no field 'nothing'"],
  ])("%s", async (_, request, form, why) => {
    const refused = await send(request, form);
    expect(refused.status).toBe(422);
    expect(refused.body["detail"]).toContain(why);
    await nothingLeft();
  });

  test("JSON that is not first, too much, too many, or no form", async () => {
    const form = (body: string, type = "multipart/form-data; boundary=b") =>
      ask("POST", "/v1/runs", { body, headers: { "content-type": type } });
    const part = (name: string, content: string): string =>
      `--b\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${content}\r\n`;
    const request = part("request", '{"query":"1"}');
    expect(await form(`${part("context", "x")}${request}--b--`)).toMatchObject({ status: 422 });
    expect(await form("--b--")).toMatchObject({ status: 422 });
    expect(await form(request)).toMatchObject({ status: 400, body: { code: "MALFORMED" } });
    expect(await form("x", "multipart/form-data")).toMatchObject({ status: 422 });
    expect(await form(`${request}${part("x", "").repeat(1_001)}--b--`)).toMatchObject({ status: 422 });
    expect(await form(`${request}${part("x", "y".repeat(50_000_001))}--b--`)).toMatchObject({
      status: 413,
      body: { code: "BODY_TOO_LARGE" },
    });
    await nothingLeft();
  });

  test("a sender that is too slow, or disconnects", async () => {
    const start = Buffer.from(
      '--b\r\nContent-Disposition: form-data; name="request"\r\n\r\n{"query":"1"}\r\n--b\r\nContent-Disposition: form-data; name="x"\r\n\r\nabc',
    );
    const silent = new ReadableStream({ start: (controller) => controller.enqueue(start) });
    const headers = { "content-type": "multipart/form-data; boundary=b" };
    expect(await ask("POST", "/v1/runs", { body: silent, headers })).toMatchObject({
      status: 408,
      body: { code: "TOO_SLOW" },
    });
    const broken = new ReadableStream({
      start: (controller) => controller.enqueue(start),
      pull: (controller) => controller.error(new Error("disconnected")),
    });
    expect(await ask("POST", "/v1/runs", { body: broken, headers })).toMatchObject({
      status: 400,
      body: { code: "MALFORMED" },
    });
    await nothingLeft();
  });

  test("a run that could not start", async () => {
    const refused = await send({ query: "1", limits: { llmCalls: 1_000_000 } }, [["context", "x"]]);
    expect(refused.status).toBe(422);
    await nothingLeft();
  });
});

test("without a model nothing is received", async () => {
  const { ask: askOther } = openTestServer(runtime);
  const body = new ReadableStream({ pull: (controller) => controller.error(new Error("it was read")) });
  const refused = await askOther("POST", "/v1/runs", {
    body,
    headers: { "content-type": "multipart/form-data; boundary=b" },
  });
  expect(refused).toMatchObject({ status: 409, body: { code: "NO_MODEL" } });
});
