// A key is for the provider alone: whatever that answers, nobody else gets to see it.

import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { RunEvent, Runtime } from "../../src/index.ts";
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

const say = (text: string) => ({
  status: 200,
  body: `data: ${JSON.stringify({ id: "1", choices: [{ index: 0, delta: { content: text }, finish_reason: "stop" }] })}\n\ndata: [DONE]\n\n`,
});
const echo = (status: number) => (authorization: string) => ({
  status,
  body: JSON.stringify({ error: { message: `bad key ${authorization} ${encodeURIComponent(KEY)}`, type: "x" } }),
});

test("a provider that echoes the key tells it to nobody", async () => {
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
  for (const secret of [KEY, encodeURIComponent(KEY), KEY.slice(0, 12)]) expect(all).not.toContain(secret);
});
