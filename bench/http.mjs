// I. Over HTTP and the WebSocket: what does an execution cost beside a route that answers with what it was sent? One client, many, and
// five hundred sessions behind one server.
//
// Every client has a connection and a session of its own, and asks again as soon as it was answered. The echo is a route of the same
// server: same socket, guards and parsing. Over the WebSocket it is the `ping` of the protocol.

import { mkdtempSync, rmSync } from "node:fs";
import { isBuiltin } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { rolldown } from "rolldown";
import { WebSocket } from "ws";
import { openHTTPClient } from "./lib/http-client.mjs";
import { cleanEnvironment, lineReader, pin, PYTHON, start, stop, unpin, within } from "./lib/processes.mjs";
import { quantile } from "./lib/stats.mjs";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const TOKEN = "bench";
const CODE = "1+1";
const SESSIONS = 500;

const DOORS = [
  { name: "HTTP", open: openOverHTTP },
  { name: "WebSocket", open: openOverWebSocket },
];

export async function measure({ quick, row, note, part }) {
  const folder = mkdtempSync(join(tmpdir(), "rlm-bench-"));
  const env = { ...cleanEnvironment(), RLM_PYTHON: PYTHON, RLM_DATA: folder, RLM_TOKEN: TOKEN };
  try {
    await bundleServer();
    if (!pin()) note("taskset is absent: client, server and worker may be on different cores");
    await serve(env, async (url) => {
      for (const door of DOORS) await part(measureDoor, { ...door, clients: 1, url, quick, row });
    });
    unpin();
    await serve(env, async (url) => {
      for (const door of DOORS) {
        for (const clients of [16, 64]) await part(measureDoor, { ...door, clients, url, quick, row });
      }
      await part(measureMany, { url, quick, row });
    });
  } finally {
    rmSync(folder, { recursive: true });
  }
}

async function serve(env, use) {
  const script = join(ROOT, "dist/echo-server.js");
  const child = start(process.execPath, [script], { stdio: ["pipe", "pipe", "inherit"], env });
  await use(await within(30_000, "the server's address", lineReader(child.stdout)()));
  stop(child);
}

async function measureDoor({ name, open, clients, url, quick, row }) {
  const opened = await Promise.all(Array.from({ length: clients }, () => open(url)));
  const contenders = { ours: ({ execute }) => execute(), echo: ({ echo }) => echo() };
  const rounds = { ours: [], echo: [] };
  for (const ask of Object.values(contenders)) await load(opened, ask, 300); // until the code is compiled
  for (let round = 0; round < (quick ? 2 : 6); round += 1) {
    for (const [key, ask] of Object.entries(contenders)) rounds[key].push(await load(opened, ask, quick ? 400 : 1000));
  }
  for (const { close } of opened) await close();
  const many = clients === 1 ? "1 client" : `${clients} clients`;
  const least = (key, q) => Math.min(...rounds[key].map(({ samples }) => quantile(samples, q)));
  const most = (key) => Math.max(...rounds[key].map(({ perSecond }) => perSecond));
  const echo = name === "HTTP" ? "the echo route" : "`ping`";
  for (const q of [0.5, 0.99]) {
    row({
      question: `${name}: execute \`${CODE}\`, ${many}, p${q * 100}`,
      ours: { best: least("ours", q), unit: "us" },
      other: { name: echo, best: least("echo", q), unit: "us" },
      ratio: { best: least("ours", q) / least("echo", q) },
      ...(clients === 1 && q === 0.5 && { aim: { most: 2 } }),
    });
  }
  if (clients === 1) return;
  row({
    question: `${name}: execute \`${CODE}\`, ${many}, in a second`,
    ours: { best: most("ours"), unit: "" },
    other: { name: echo, best: most("echo"), unit: "" },
    ratio: { best: most("ours") / most("echo") },
    ...(clients === 16 && { aim: { least: 0.5 } }),
  });
}

/** Every session of many is used in turn, over sixteen connections. */
async function measureMany({ url, quick, row }) {
  const count = quick ? 100 : SESSIONS;
  const connections = await Promise.all(Array.from({ length: 16 }, () => openHTTPClient(url, TOKEN)));
  const paths = [];
  await Promise.all(
    connections.map(async ({ request }) => {
      while (paths.length < count) {
        const place = paths.push("") - 1;
        paths[place] = `/v1/sessions/${JSON.parse(await request("POST", "/v1/sessions", "{}")).id}/execute`;
      }
    }),
  );
  let next = 0;
  const ask = ({ request }) => request("POST", paths[next++ % paths.length], BODY).then(expectTwo);
  for (let round = 0; round < paths.length; round += 16) await Promise.all(connections.map(ask)); // each was used once
  const { perSecond } = await load(connections, ask, quick ? 500 : 3000);
  row({
    question: `HTTP: executions in a second over ${count} live sessions of one server, 16 clients`,
    ours: { best: perSecond, unit: "" },
  });
  for (const { close } of connections) close();
}

/** Each client asks again as soon as it was answered, for so long. */
async function load(clients, ask, ms) {
  const samples = [];
  const begin = performance.now();
  await Promise.all(
    clients.map(async (client) => {
      for (;;) {
        const at = performance.now();
        if (at - begin >= ms) return;
        await ask(client);
        samples.push((performance.now() - at) * 1000);
      }
    }),
  );
  return { samples, perSecond: samples.length / ((performance.now() - begin) / 1000) };
}

const BODY = JSON.stringify({ code: CODE });

async function openOverHTTP(url) {
  const { request, close } = await openHTTPClient(url, TOKEN);
  const { id } = JSON.parse(await request("POST", "/v1/sessions", "{}"));
  const path = `/v1/sessions/${id}/execute`;
  return {
    execute: () => request("POST", path, BODY).then(expectTwo),
    echo: () => request("POST", "/echo", BODY),
    close: async () => {
      await request("DELETE", `/v1/sessions/${id}`);
      close();
    },
  };
}

async function openOverWebSocket(url) {
  const { request, close } = await openHTTPClient(url, TOKEN);
  const { id } = JSON.parse(await request("POST", "/v1/sessions", "{}"));
  const socket = new WebSocket(`${url.replace("http", "ws")}/v1/sessions/${id}/ws`, {
    headers: { authorization: `Bearer ${TOKEN}` },
    perMessageDeflate: false,
  });
  let waiting;
  socket.on("message", (data) => {
    const message = JSON.parse(data);
    if (message.type === waiting?.type) waiting.resolve(message);
    else if (message.ok === false) waiting?.reject(new Error(JSON.stringify(message)));
  });
  socket.on("error", (error) => waiting?.reject(error));
  await new Promise((resolve, reject) => {
    waiting = { type: "hello", resolve, reject };
  });
  const ask = (message, type) =>
    new Promise((resolve, reject) => {
      waiting = { type, resolve, reject };
      socket.send(message);
    });
  const execution = JSON.stringify({ type: "execute", id: 1, code: CODE });
  const ping = JSON.stringify({ type: "ping", id: 1 });
  return {
    execute: () => ask(execution, "execution-end").then(({ result }) => expectTwo(JSON.stringify(result))),
    echo: () => ask(ping, "reply"),
    close: async () => {
      socket.terminate();
      await request("DELETE", `/v1/sessions/${id}`);
      close();
    },
  };
}

function expectTwo(body) {
  if (!body.includes('"text/plain":"2"')) throw new Error(`an answer of another kind: ${body.slice(0, 300)}`);
}

/** Beside the program itself, where it finds the worker. */
async function bundleServer() {
  const bundled = await rolldown({
    input: { "echo-server": "bench/lib/echo-server.ts" },
    cwd: ROOT,
    platform: "node",
    tsconfig: "tsconfig.json",
    external: (id) => isBuiltin(id),
    transform: { target: "node20", define: { __RLM_VERSION__: '"0.0.0"' } },
  });
  await bundled.write({
    dir: join(ROOT, "dist"),
    format: "esm",
    entryFileNames: "[name].js",
    chunkFileNames: "echo-[name]-[hash].js",
    minify: "dce-only",
    keepNames: true,
  });
  await bundled.close();
}
