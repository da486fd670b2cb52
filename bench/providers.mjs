// Should a call to a provider go through the AI SDK's packages or through our own client? Both speak Chat Completions to the same
// server on loopback, each in a process of its own, as one minified bundle.
//
//   node bench/providers.mjs

import { execFileSync } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { rolldown } from "rolldown";
import { lineReader, peer, start, within } from "./lib/processes.mjs";
import { median } from "./lib/stats.mjs";

const CALLS = 1000;
const IN_FLIGHT = 64;
const DELAY_MS = 50;
const LONG_CALLS = 100;
const ROUNDS = 5;

const CLIENTS = {
  ours: `
    import { openBackend } from "../src/backends/open-backend.ts";
    export async function connect(baseUrl) {
      const backend = await openBackend("openai-compatible", { baseUrl, env: {} });
      const { signal } = new AbortController();
      return async (model, content) => {
        let text = "";
        for await (const part of backend.stream({ model, messages: [{ role: "user", content }], maxTokens: 16000 }, { signal }))
          if (part.type === "text-delta") text += part.text;
        return text;
      };
    }`,
  "AI SDK": `
    import { createOpenAI } from "@ai-sdk/openai";
    export async function connect(baseURL) {
      const provider = createOpenAI({ baseURL, apiKey: "none" });
      return async (model, content) => {
        const prompt = [{ role: "user", content: [{ type: "text", text: content }] }];
        const { stream } = await provider.chat(model).doStream({ prompt, maxOutputTokens: 16000 });
        let text = "";
        for await (const part of stream) if (part.type === "text-delta") text += part.delta;
        return text;
      };
    }`,
};

const [role, bundle, baseUrl] = process.argv.slice(2);
if (role === "client") console.log(JSON.stringify(await measureClient(bundle, baseUrl)));
else await compare();

async function compare() {
  const folder = mkdtempSync(fileURLToPath(new URL("../node_modules/.rlm-providers-", import.meta.url)));
  const provider = start(process.execPath, [peer("provider.mjs"), String(DELAY_MS), String(CALLS)], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  try {
    const url = await within(10_000, "the provider", lineReader(provider.stdout)());
    const bundles = {};
    for (const [name, source] of Object.entries(CLIENTS)) bundles[name] = await build(join(folder, name), source);
    const rounds = Object.fromEntries(Object.keys(CLIENTS).map((name) => [name, []]));
    for (let round = 0; round < ROUNDS; round += 1) {
      for (const [name, { entry }] of Object.entries(bundles)) {
        const args = [fileURLToPath(import.meta.url), "client", entry, url];
        rounds[name].push(JSON.parse(execFileSync(process.execPath, args, { encoding: "utf8" })));
      }
    }
    for (const [name, measured] of Object.entries(rounds)) {
      const middle = (field) => median(measured.map((one) => one[field])).toFixed(2);
      console.log(
        `${name.padEnd(8)} bundle ${(bundles[name].bytes / 1000).toFixed(0)} kB, import ${middle("importMs")} ms; ` +
          `answer of 300 events: ${middle("longCpuMs")} ms of processor time; ` +
          `${CALLS} calls of ${DELAY_MS} ms, ${IN_FLIGHT} at once: ${middle("batchMs")} ms, ${middle("batchCpuMs")} ms of processor time`,
      );
    }
  } finally {
    provider.stdin.end();
    rmSync(folder, { recursive: true });
  }
}

async function build(folder, source) {
  const entry = fileURLToPath(new URL("./providers-entry.mjs", import.meta.url));
  const bundled = await rolldown({
    input: entry,
    platform: "node",
    transform: { define: { __RLM_VERSION__: '"bench"' } },
    plugins: [
      {
        name: "entry",
        resolveId: (id) => (id === entry ? id : null),
        load: (id) => (id === entry ? source : null),
      },
    ],
  });
  await bundled.write({ dir: folder, format: "esm", entryFileNames: "entry.mjs", minify: true });
  await bundled.close();
  writeFileSync(join(folder, "package.json"), '{ "type": "module" }');
  const files = readdirSync(folder).filter((name) => /\.m?js$/.test(name));
  const bytes = files.reduce((sum, name) => sum + statSync(join(folder, name)).size, 0);
  return { entry: join(folder, "entry.mjs"), bytes };
}

async function measureClient(entry, url) {
  const started = performance.now();
  const { connect } = await import(pathToFileURL(entry).href);
  const ask = await connect(url);
  await expectText(ask("sub", "the first"), "fine"); // loads what is loaded on demand
  const importMs = performance.now() - started - DELAY_MS;
  for (let n = 0; n < 50; n += 1) await ask("long", "warm");
  const [, longCpuMs] = await measureCpu(async () => {
    for (let n = 0; n < LONG_CALLS; n += 1) await expectText(ask("long", `question ${n}`), "word ".repeat(300));
  });
  await askMany(ask);
  const [batchMs, batchCpuMs] = await measureCpu(() => askMany(ask));
  return { importMs, longCpuMs: longCpuMs / LONG_CALLS, batchMs, batchCpuMs };
}

async function askMany(ask) {
  let next = 0;
  const work = async () => {
    while (next < CALLS) await expectText(ask("sub", `${"Is this line about a place? ".repeat(10)} ${next++}`), "fine");
  };
  await Promise.all(Array.from({ length: IN_FLIGHT }, work));
}

async function expectText(asked, expected) {
  const text = await asked;
  if (text !== expected) throw new Error(`another answer: ${text.slice(0, 100)}`);
}

async function measureCpu(work) {
  const cpu = process.cpuUsage();
  const started = performance.now();
  await work();
  const { user, system } = process.cpuUsage(cpu);
  return [performance.now() - started, (user + system) / 1000];
}
