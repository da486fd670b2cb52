// A key never leaves the request to its provider, whatever the provider answers.

import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from "vitest";
import type { RunEvent, Runtime } from "../internals.ts";
import { Folder } from "../config/folder.ts";
import { openTestRuntime } from "../open.ts";

const KEY = "zq9-Very/Secret+Key=42";
let runtime: Runtime;
let server: Server;
let answers: ((authorization: string) => { status: number; body: string })[];

beforeAll(async () => {
  runtime = await openTestRuntime();
  server = createServer((request, response) => {
    const { status, body } = answers.shift()?.(request.headers.authorization ?? "") ?? { status: 500, body: "{}" };
    response.writeHead(status, { "content-type": status === 200 ? "text/event-stream" : "application/json" }).end(body);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
});
afterAll(async () => {
  await runtime.close();
  server.close();
});

const toBase64 = (text: string): string => Buffer.from(text).toString("base64");
const say = (text: string) => ({
  status: 200,
  body: `data: ${JSON.stringify({ id: "1", choices: [{ index: 0, delta: { content: text }, finish_reason: "stop" }] })}\n\ndata: [DONE]\n\n`,
});
const echo = (status: number) => (authorization: string) => ({
  status,
  body: JSON.stringify({
    error: { message: `bad key ${authorization} ${encodeURIComponent(KEY)} ${toBase64(authorization)}`, type: "x" },
  }),
});

test("a key that a provider echoes is redacted everywhere", async () => {
  answers = [
    () =>
      say(
        "```repl\nimport os\ntry: llm_query('a')\nexcept LLMError as e: print('single', e)\nprint([a.error for a in llm_query_batched(['b'])], dict(os.environ))\n```",
      ),
    echo(400),
    echo(401),
    echo(403),
  ];
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
  const rlm = runtime.rlm({
    backend: "openai-compatible",
    baseUrl,
    apiKey: KEY,
    model: "m",
    mode: "rlm",
    cache: false,
    log: false,
  });
  const run = rlm.run({ query: "?" });
  const events: RunEvent[] = [];
  for await (const event of run) events.push(event);
  const result = await run.result;
  expect(result).toMatchObject({ status: "failed", stopReason: "error" });
  expect(result.why).toContain("403");
  const all = JSON.stringify([events, result]);
  expect(all).toContain("bad key");
  expect(all).toContain("single");
  // Of the base64-encoded header only the word before the key remains.
  const header = toBase64(`Bearer ${KEY}`);
  for (const secret of [KEY, encodeURIComponent(KEY), KEY.slice(0, 12), header.slice(10, 22)])
    expect(all).not.toContain(secret);
  expect(all).toContain(header.slice(0, 9));
});

test("a key from the environment is redacted in the log", async () => {
  using folder = new Folder();
  vi.stubEnv("RLM_DATA", folder.path).stubEnv("OPENAI_COMPATIBLE_API_KEY", KEY);
  onTestFinished(() => void vi.unstubAllEnvs());
  answers = [() => say(`The answer is ${KEY}.`)];
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
  const rlm = runtime.rlm({ backend: "openai-compatible", baseUrl, model: "m", mode: "direct", cache: false });
  const run = rlm.run({ query: "?", context: `mine is ${KEY}` });
  await run.result;
  await runtime.runs.settled(run.id);
  const log = readdirSync(folder.path, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => readFileSync(join(entry.parentPath, entry.name), "utf8"))
    .join("\n");
  expect(log).toContain("The answer is [redacted].");
  expect(log).not.toContain(KEY);
});
