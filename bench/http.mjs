// I. HTTP and WebSocket: what does an execution cost compared with an echo route? One client, many, and five hundred sessions on one
// server.
//
// Every client has its own connection and session, and sends the next request when it has the response. The echo is a route of the same
// server, with the same guards, parsing, log and metrics, called over HTTP by as many clients. `ping` over the WebSocket is also measured.

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

export async function measure({ quick, row, note, part }) {
  const folder = mkdtempSync(join(tmpdir(), "rlm-bench-"));
  const env = { ...cleanEnvironment(), RLM_PYTHON: PYTHON, RLM_DATA: folder, RLM_TOKEN: TOKEN };
  try {
    await bundleServer();
    if (!pin()) note("taskset is absent: client, server and worker may be on different cores");
    await serve(env, (url) => part(measureClients, { clients: 1, url, quick, row }));
    unpin();
    await serve(env, async (url) => {
      for (const clients of [16, 64]) await part(measureClients, { clients, url, quick, row });
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

/** Each kind of request by the same number of clients, alternating. */
async function measureClients({ clients, url, quick, row }) {
  const opened = await Promise.all(Array.from({ length: clients }, () => openClient(url)));
  const contenders = Object.keys(opened[0].ask);
  const rounds = Object.fromEntries(contenders.map((name) => [name, []]));
  for (const name of contenders) await load(opened, name, quick ? 1000 : 2000); // until the code is compiled
  for (let round = 0; round < (quick ? 2 : 4); round += 1) {
    for (const name of contenders) rounds[name].push(await load(opened, name, quick ? 400 : 1000));
  }
  for (const { close } of opened) await close();
  const least = (name, q) => Math.min(...rounds[name].map(({ samples }) => quantile(samples, q)));
  const most = (name) => Math.max(...rounds[name].map(({ perSecond }) => perSecond));
  const many = clients === 1 ? "1 client" : `${clients} clients`;
  for (const [protocol, name] of [
    ["HTTP", "overHTTP"],
    ["WebSocket", "overWebSocket"],
  ]) {
    for (const q of [0.5, 0.99]) {
      row({
        question: `${protocol}: execute \`${CODE}\`, ${many}, p${q * 100}`,
        ours: { best: least(name, q), unit: "us" },
        other: { name: "the echo route", best: least("echo", q), unit: "us" },
        ratio: { best: least(name, q) / least("echo", q) },
        ...(clients === 1 && q === 0.5 && { aim: { most: 2 } }),
      });
    }
    row({
      question: `${protocol}: execute \`${CODE}\`, ${many}, in a second`,
      ours: { best: most(name), unit: "" },
      other: { name: "the echo route", best: most("echo"), unit: "" },
      ratio: { best: most(name) / most("echo") },
      ...(clients === 16 && { aim: { least: 0.5 } }),
    });
  }
  row({
    question: `WebSocket: execute \`${CODE}\`, ${many}, p50`,
    ours: { best: least("overWebSocket", 0.5), unit: "us" },
    other: { name: "`ping` on it", best: least("ping", 0.5), unit: "us" },
    ratio: { best: least("overWebSocket", 0.5) / least("ping", 0.5) },
  });
}

/** Uses all sessions round-robin, over sixteen connections. */
async function measureMany({ url, quick, row }) {
  const count = quick ? 100 : SESSIONS;
  const connections = await Promise.all(Array.from({ length: 16 }, () => openHTTPClient(url, TOKEN)));
  const paths = [];
  await Promise.all(
    connections.map(async ({ request }) => {
      while (paths.length < count) {
        const index = paths.push("") - 1;
        paths[index] = `/v1/sessions/${JSON.parse(await request("POST", "/v1/sessions", "{}")).id}/execute`;
      }
    }),
  );
  let next = 0;
  const clients = connections.map(({ request }) => ({
    ask: { next: () => request("POST", paths[next++ % paths.length], BODY).then(expectTwo) },
  }));
  for (let used = 0; used < paths.length; used += 16) await Promise.all(clients.map(({ ask }) => ask.next())); // each was used once
  const { perSecond } = await load(clients, "next", quick ? 500 : 3000);
  row({
    question: `HTTP: executions in a second over ${count} live sessions of one server, 16 clients`,
    ours: { best: perSecond, unit: "" },
  });
  for (const { close } of connections) close();
}

/** Each client sends requests back to back for the given time. */
async function load(clients, name, ms) {
  const samples = [];
  const begin = performance.now();
  await Promise.all(
    clients.map(async ({ ask }) => {
      for (;;) {
        const at = performance.now();
        if (at - begin >= ms) return;
        await ask[name]();
        samples.push((performance.now() - at) * 1000);
      }
    }),
  );
  return { samples, perSecond: samples.length / ((performance.now() - begin) / 1000) };
}

const BODY = JSON.stringify({ code: CODE });

/** Clients with a connection and a session each; one over HTTP, one over WebSocket. */
async function openClient(url) {
  const { request, close } = await openHTTPClient(url, TOKEN);
  const open = async () => JSON.parse(await request("POST", "/v1/sessions", "{}")).id;
  const [asked, watched] = [await open(), await open()];
  const path = `/v1/sessions/${asked}/execute`;
  const socket = new WebSocket(`${url.replace("http", "ws")}/v1/sessions/${watched}/ws`, {
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
  const hear = (type) =>
    new Promise((resolve, reject) => {
      waiting = { type, resolve, reject };
    });
  const execution = JSON.stringify({ type: "execute", id: 1, code: CODE });
  const ping = JSON.stringify({ type: "ping", id: 1 });
  const send = (message, type) => {
    const heard = hear(type);
    socket.send(message);
    return heard;
  };
  await hear("hello");
  return {
    ask: {
      overHTTP: () => request("POST", path, BODY).then(expectTwo),
      echo: () => request("POST", "/echo", BODY),
      overWebSocket: () => send(execution, "execution-end").then(({ result }) => expectTwo(JSON.stringify(result))),
      ping: () => send(ping, "reply"),
    },
    close: async () => {
      socket.terminate();
      for (const id of [asked, watched]) await request("DELETE", `/v1/sessions/${id}`);
      close();
    },
  };
}

function expectTwo(body) {
  if (!body.includes('"text/plain":"2"')) throw new Error(`an answer of another kind: ${body.slice(0, 300)}`);
}

/** Bundled next to the program, so that it finds the worker. */
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
