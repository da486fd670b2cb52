// What `rlm serve --env NAME` does over HTTP, over a WebSocket and with the client, in every environment.

import { once } from "node:events";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { WebSocket } from "ws";
import { connectRuntime } from "../../../src/client/index.ts";
import type { Runtime } from "../../../src/api/runtime.ts";
import type { Capabilities } from "../../../src/protocol/capabilities.ts";
import { firstOutput, run, toText } from "../../../src/testing/contract/drive.ts";
import { Client } from "../../server/ws/connect.ts";
import { startServing, type Serving } from "../serving.ts";

const PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
const RICH = `class Picture:
    def _repr_mimebundle_(self, include=None, exclude=None): return {'image/png': '${PNG}', 'text/html': '<b>1</b>'}
Picture()`;
const ENDLESS = "import time\nkept = 1\nprint('begun', flush=True)\nwhile True: time.sleep(0.01)";

export interface Served {
  readonly serving: Serving;
  readonly runtime: Runtime;
  /** With a body: POST, or this method. A text is sent as it is, another body as JSON. */
  ask(path: string, body?: unknown, method?: string): Promise<Response>;
}

/** Starts one server for the suite, and for what `more` declares. */
export function describeServed(
  name: string,
  { capabilities, env = {} }: { readonly capabilities: Capabilities; readonly env?: Record<string, string> },
  more: (served: () => Served) => void,
): void {
  describe(`rlm serve --env ${name}`, () => {
    let opened: Served | undefined;
    const served = (): Served => {
      if (opened === undefined) throw new Error("No server has started");
      return opened;
    };
    const ask: Served["ask"] = (...args) => served().ask(...args);
    const askJSON = async (path: string, body?: unknown): Promise<unknown> => (await ask(path, body)).json();
    beforeAll(async () => {
      opened = await open(name, env);
      await opened.runtime.openSession({ id: "s" });
    });
    afterAll(async () => {
      await opened?.runtime.close();
      await opened?.serving[Symbol.asyncDispose]();
    });

    test("says where sessions run, and what they can do there", async () => {
      const info = { environment: name, tier: expect.any(String), capabilities };
      expect(await askJSON("sessions/s")).toMatchObject({ id: "s", ...info });
      expect(await askJSON("version")).toMatchObject(info);
      expect(await served().runtime.info()).toMatchObject(info);
    });

    test("HTTP runs code, streams output while it runs, and returns rich results", async () => {
      expect(await askJSON("sessions/s/execute", { code: "print('out')\n6 * 7" })).toMatchObject({
        status: "ok",
        stdout: "out\n",
        value: { "text/plain": "42" },
      });
      expect(await askJSON("sessions/s/execute", { code: RICH })).toMatchObject({
        value: { "image/png": PNG, "text/html": "<b>1</b>" },
      });
      const code =
        "import os, time\nprint('first', flush=True)\nwhile not os.path.exists('go'): time.sleep(0.01)\nprint('second')";
      const seen: string[] = [];
      for await (const event of eventsOf(await stream(served(), "sessions/s/execute", { code }))) {
        if (event["type"] === "output-delta") seen.push(String(event["text"]));
        if (seen.join("") === "first\n") await ask("sessions/s/files/go", "", "PUT");
      }
      expect(seen.join("")).toBe("first\nsecond\n");
    });

    test("HTTP sets and reads variables and files", async () => {
      await ask("sessions/s/variables/numbers", [1, 2.5, null], "PUT");
      expect(await askJSON("sessions/s/variables/numbers/value")).toEqual([1, 2.5, null]);
      expect(await askJSON("sessions/s/variables/numbers")).toMatchObject({
        type: "list",
        repr: { text: "[1, 2.5, None]" },
      });
      expect((await ask("sessions/s/files/sub/a.txt", "from outside", "PUT")).status).toBe(201);
      const code = "open('b.txt', 'w').write(open('sub/a.txt').read() + ' and back')";
      expect(await askJSON("sessions/s/execute", { code })).toMatchObject({ status: "ok" });
      expect(await (await ask("sessions/s/files/b.txt")).text()).toBe("from outside and back");
    });

    test("HTTP interrupts code, and the state stays", async () => {
      let result: unknown;
      let isInterrupted = false;
      for await (const event of eventsOf(await stream(served(), "sessions/s/execute", { code: ENDLESS }))) {
        if (event["type"] === "output-delta" && !isInterrupted) {
          isInterrupted = true; // output may come in parts
          expect(await askJSON("sessions/s/interrupt", {})).toMatchObject({ hasEnded: true, state: "kept" });
        }
        if (event["type"] === "execution-end") result = event["result"];
      }
      expect(result).toMatchObject({ status: "interrupted", reason: "cancelled", state: "kept" });
      expect(await askJSON("sessions/s/execute", { code: "kept" })).toMatchObject({ value: { "text/plain": "1" } });
    });

    test("a WebSocket runs code, answers its questions, and interrupts it", async () => {
      await using client = await openWebSocket(served(), "s");
      expect(await client.next("hello")).toMatchObject({ sessionId: "s", state: "idle" });
      const asking = await client.ask({ type: "execute", code: "print('hello', input('who? '))" });
      expect(await client.next("input-start")).toMatchObject({ prompt: "who? " });
      await client.ask({ type: "stdin", executionId: asking["executionId"], text: "Ada" });
      expect((await client.next("execution-end"))["result"]).toMatchObject({ status: "ok" });
      expect(client.printed(asking["executionId"])).toContain("hello Ada\n");
      await client.ask({ type: "execute", code: ENDLESS });
      await client.next("output-delta");
      client.send({ type: "interrupt" });
      expect((await client.next("execution-end"))["result"]).toMatchObject({ status: "interrupted", state: "kept" });
    });

    test("the client runs code, streams, moves variables and files, and interrupts", async () => {
      await using session = await served().runtime.openSession();
      const result = await run(session, RICH);
      expect({ html: result.html, png: Buffer.from(result.png ?? []).toString("base64") }).toEqual({
        html: "<b>1</b>",
        png: PNG,
      });
      await session.set("raw", { bytes: Uint8Array.of(0, 255, 10) });
      expect(await session.get("raw", { as: "bytes" })).toEqual(Uint8Array.of(0, 255, 10));
      await session.files.write("f.txt", "of the client");
      await run(session, "open('g.txt', 'w').write(open('f.txt').read()[::-1]); None");
      expect(toText(await session.files.read("g.txt"))).toBe("tneilc eht fo");
      const execution = session.execute(ENDLESS, { timeoutMs: null });
      await firstOutput(execution);
      expect(await session.interrupt()).toBe(execution.id);
      expect(await execution).toMatchObject({ status: "interrupted", state: "kept" });
      expect((await run(session, "kept")).text).toBe("1");
      expect(await session.info()).toMatchObject({ environment: name, capabilities });
    });

    more(served);
  });
}

async function open(name: string, env: Record<string, string>): Promise<Served> {
  const serving = await startServing(["--env", name], env);
  const { url, token } = serving;
  try {
    const runtime = await connectRuntime({ url, token, WebSocket });
    return { serving, runtime, ask: (path, body, method) => send(serving, path, { body, method }) };
  } catch (error) {
    await serving[Symbol.asyncDispose]();
    throw error;
  }
}

interface Sent {
  readonly body?: unknown;
  readonly method?: string | undefined;
  readonly accept?: string;
}

/** Over HTTP, with the server's token. */
export function send(
  { url, token }: Serving,
  path: string,
  { body, method, accept = "*/*" }: Sent = {},
): Promise<Response> {
  const isText = typeof body === "string";
  const type = isText ? "text/plain" : "application/json";
  return fetch(`${url}/v1/${path}`, {
    method: method ?? (body === undefined ? "GET" : "POST"),
    headers: { authorization: `Bearer ${token}`, accept, ...(body === undefined ? {} : { "content-type": type }) },
    ...(body === undefined ? {} : { body: isText ? body : JSON.stringify(body) }),
  });
}

function stream({ serving }: Served, path: string, body: object): Promise<Response> {
  return send(serving, path, { body, accept: "text/event-stream" });
}

/** The data of server-sent events. */
async function* eventsOf(response: Response): AsyncGenerator<Readonly<Record<string, unknown>>, void> {
  expect(response.status).toBe(200);
  let rest = "";
  for await (const chunk of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
    const lines = (rest + chunk).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines)
      if (line.startsWith("data: ")) yield JSON.parse(line.slice("data: ".length)) as Readonly<Record<string, unknown>>;
  }
}

async function openWebSocket({ serving: { url, token } }: Served, sessionId: string): Promise<Client> {
  const address = `${url.replace("http", "ws")}/v1/sessions/${sessionId}/ws`;
  const client = new Client(new WebSocket(address, { headers: { authorization: `Bearer ${token}` } }));
  await once(client.webSocket, "open");
  return client;
}
