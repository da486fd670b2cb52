// Many idle WebSockets. `RLM_TEST_MANY=1`: as many as documented, which takes a while.

import { once } from "node:events";
import { readFileSync } from "node:fs";
import { WebSocket } from "ws";
import { expect, test } from "vitest";
import { start, type Program } from "../program.ts";

const COUNT = process.env["RLM_TEST_MANY"] === "1" ? 5000 : 300;
const MAX_BYTES_EACH = 50_000;
const TOKEN = "many-token";
const headers = { authorization: `Bearer ${TOKEN}` };

test(
  `${COUNT} WebSockets are open at once, cost little, and all receive events`,
  { timeout: 300_000, tags: "stress" },
  async () => {
    await using program = start(["serve", "--port", "0"], { env: { RLM_TOKEN: TOKEN } });
    const [, url = ""] = await program.until(/^listening (http:\S+)\n[\s\S]*token .*\n/);
    const opened = await fetch(`${url}/v1/sessions`, { method: "POST", headers, body: "{}" });
    const { id } = (await opened.json()) as { id: string };
    const address = `${url.replace("http", "ws")}/v1/sessions/${id}/ws`;
    const first = await open(address);
    const before = memoryOf(program);
    const others: WebSocket[] = [];
    while (others.length < COUNT) {
      others.push(...(await Promise.all(Array.from({ length: 100 }, () => open(address)))));
    }
    const each = (memoryOf(program) - before) / COUNT;
    process.stderr.write(`${COUNT} WebSockets: ${Math.round(each)} bytes of memory each\n`);
    if (COUNT >= 5000) expect(each).toBeLessThan(MAX_BYTES_EACH);

    const ended = Promise.all([first, ...others].map((one) => hears(one, "execution-end")));
    first.send(JSON.stringify({ type: "execute", code: "6*7" }));
    await ended;
    expect((await fetch(`${url}/v1/health`)).status).toBe(200);

    const closed = Promise.all([first, ...others].map((one) => once(one, "close")));
    program.signal("SIGTERM");
    expect((await closed).every(([code]) => code === 1001)).toBe(true);
    expect(await program.ended).toMatchObject({ code: 0 });
  },
);

async function open(address: string): Promise<WebSocket> {
  const webSocket = new WebSocket(address, { headers, perMessageDeflate: false });
  await hears(webSocket, "hello");
  return webSocket;
}

function hears(webSocket: WebSocket, type: string): Promise<void> {
  return new Promise((resolve, reject) => {
    webSocket.on("error", reject);
    webSocket.on("message", (data: Buffer) => {
      if ((JSON.parse(data.toString()) as { type: string }).type === type) resolve();
    });
  });
}

function memoryOf({ pid }: Program): number {
  const [, kilobytes = "0"] = /VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, "utf8")) ?? [];
  return Number(kilobytes) * 1024;
}
