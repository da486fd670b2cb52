// H. Recursive runs: the overhead of the runtime. The models are scripted and without delay, except for the calls over HTTP, so only
// our own time is measured. Runs are recorded, as for a user; the cache is off, because it would skip the calls.

import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { lineReader, peer, pin, start, unpin, within } from "./lib/processes.mjs";
import { openBenchRuntime } from "./lib/runtime.mjs";
import { compare, median, race } from "./lib/stats.mjs";
import { aggregation, haystack } from "./lib/tasks.mjs";

const CALLS = 1000;
const IN_FLIGHT = 64;
const DELAY_MS = 50;
const CONTEXT_BYTES = 2_000_000;
const FILES = 9_000;
const PRINTED = 3000;
const LIMITS = { llmCalls: 10 * CALLS, wallMs: 60_000 };

export async function measure({ quick, row, note, part }) {
  const folder = mkdtempSync(join(tmpdir(), "rlm-bench-"));
  process.env.RLM_DATA = folder;
  const { createScriptedBackend } = await import(new URL("../dist/testing.js", import.meta.url).href);
  const measureAll = async (parts) => {
    const runtime = await openBenchRuntime();
    const ask = (backend, options) => runtime.rlm({ ...SETTINGS, backend, ...options });
    const script = (policy) => ask(createScriptedBackend(policy));
    for (const measurePart of parts) await part(measurePart, { quick, row, note, runtime, ask, script, folder });
    await runtime.close();
  };
  try {
    if (!pin()) note("taskset is absent: host and worker may be on different cores");
    await measureAll([measureSequence]);
    unpin();
    await measureAll([
      measureTrivial,
      measureBatch,
      measureChildren,
      measureHTTP,
      measureNeedles,
      measureAggregation,
      measureLog,
      measureFiles,
    ]);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

const SETTINGS = { model: "root", subModel: "sub", mode: "rlm", cache: false, limits: LIMITS };

/** The root answers with its first block. */
async function measureTrivial({ quick, row, runtime, script }) {
  const rlm = script(() => block("FINAL(42)"));
  const rounds = await race(
    {
      ours: () => timed(() => solve(rlm, { query: "?", context: "c" }, 42), runtime),
      floor: () => timed(() => runtime.execute("x = 42"), runtime),
    },
    quick ? 10 : 30,
  );
  row({
    question: "Run whose model answers in its first block",
    ours: { best: median(rounds.ours), unit: "ms" },
    aim: { below: 20 },
  });
  row({
    question: "Run whose model answers in its first block",
    ours: { best: Math.min(...rounds.ours), unit: "ms" },
    other: { name: "a session and one execution in it", best: Math.min(...rounds.floor), unit: "ms" },
    ratio: compare(rounds.ours, rounds.floor),
  });
}

/** Each has its own session and answers with its first block. */
async function measureChildren({ quick, row, runtime, script }) {
  const rlm = script(({ messages }) =>
    messages[1].content.startsWith("Question: child")
      ? block("FINAL(context * 2)")
      : block("FINAL(sum(a.data for a in rlm_query_batched([('child', i) for i in range(8)])))"),
  );
  const { ours } = await race({ ours: () => timed(() => solve(rlm, { query: "?" }, 56), runtime) }, quick ? 5 : 15);
  row({ question: "Run with 8 children, all at once", ours: { best: median(ours), unit: "ms" }, aim: { below: 200 } });
}

const QUESTION = `${CALLS.toLocaleString("en-US")} \`llm_query\` of a model without delay`;

/** Every call is a round trip to the host. */
async function measureSequence({ quick, row, script, runtime }) {
  const rlm = askEach(script, `FINAL(sum(llm_query(f"is it {i}?") == "fine" for i in range(${CALLS})))`);
  const session = await runtime.openSession({ onCall: () => Promise.resolve([["fine", 1, 1]]) });
  const calls = `import rlm_host\nfor i in range(${CALLS}): rlm_host.call("x", prompts=[f"is it {i}?"])`;
  const rounds = await race(
    {
      ours: () => timed(() => solve(rlm, { query: "?" }, CALLS), runtime),
      floor: () => timed(async () => (await session.execute(calls)).unwrap(), runtime),
    },
    quick ? 5 : 15,
  );
  await session.close();
  row({
    question: `${QUESTION}, one after the other`,
    ours: { best: median(rounds.ours), unit: "ms" },
    aim: { below: 300 },
  });
  row({
    question: `${QUESTION}, one after the other`,
    ours: { best: Math.min(...rounds.ours), unit: "ms" },
    other: { name: "as many calls to a host that does nothing", best: Math.min(...rounds.floor), unit: "ms" },
    ratio: compare(rounds.ours, rounds.floor),
    floor: rounds.floor,
  });
}

/** All calls are one round trip. */
async function measureBatch({ quick, row, script, runtime }) {
  const rlm = askEach(
    script,
    `FINAL(sum(a == "fine" for a in llm_query_batched([f"is it {i}?" for i in range(${CALLS})])))`,
  );
  const { ours } = await race({ ours: () => timed(() => solve(rlm, { query: "?" }, CALLS), runtime) }, quick ? 10 : 30);
  row({ question: `${QUESTION}, in one batch`, ours: { best: median(ours), unit: "ms" }, aim: { below: 50 } });
}

/** The root replies with this code, and its sub-model with "fine". */
function askEach(script, code) {
  return script(({ model }) => (model === "sub" ? "fine" : block(code)));
}

/** Over real HTTP, compared with a client that only sends the same requests and reads the responses. */
async function measureHTTP({ quick, row, note, ask }) {
  const provider = start(process.execPath, [peer("provider.mjs"), String(DELAY_MS), String(CALLS)], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  const baseUrl = await within(10_000, "the provider", lineReader(provider.stdout)());
  const dispatcher = { maxConcurrency: IN_FLIGHT };
  const rlm = ask("openai-compatible", { baseUrl, dispatcher });
  const context = "Is this line about a place? ".repeat(10);
  const rounds = await race(
    {
      ours: () => timed(() => solve(rlm, { query: "?", context }, CALLS)),
      floor: () => timed(() => askBarely(`${baseUrl}/chat/completions`, context)),
    },
    quick ? 2 : 8,
  );
  provider.stdin.end();
  row({
    question: `${CALLS.toLocaleString("en-US")} calls of ${DELAY_MS} ms over HTTP, ${IN_FLIGHT} at once`,
    ours: { best: Math.min(...rounds.ours), unit: "ms" },
    other: { name: "`fetch` alone, as many at once", best: Math.min(...rounds.floor), unit: "ms" },
    ratio: compare(rounds.ours, rounds.floor),
    aim: { most: 1.2 },
    floor: rounds.floor,
  });
  note(`nobody can do the calls over HTTP in less than ${Math.ceil(CALLS / IN_FLIGHT) * DELAY_MS} ms`);
}

async function askBarely(url, context) {
  let next = 0;
  const askOn = async () => {
    while (next < CALLS) {
      const content = `${context} ${next++}`;
      const response = await fetch(url, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ model: "sub", messages: [{ role: "user", content }], max_tokens: 16_000, stream: true }),
      });
      if (!(await response.text()).includes('"fine"')) throw new Error("another answer");
    }
  };
  await Promise.all(Array.from({ length: IN_FLIGHT }, askOn));
}

/** One number in half a megabyte, as in S-NIAH of RULER. The script searches, reads the match, and answers. */
async function measureNeedles({ quick, row, script }) {
  const tasks = Array.from({ length: quick ? 10 : 50 }, (_, index) => haystack(index, 500_000));
  const rlm = script(({ messages }) => {
    const key = / for ([a-z-]+) /.exec(messages[1].content)[1];
    if (messages.length === 2) return block(`print(grep(r"magic numbers for ${key} ", context))`);
    return block(`FINAL(${JSON.stringify(/is: (\d+)/.exec(messages.at(-1).content)?.[1] ?? "not found")})`);
  });
  let right = 0;
  const [ms] = await timed(async () => {
    for (const { query, context, answer } of tasks) {
      const result = await rlm.run({ query, context });
      if (result.answer === answer) right += 1;
    }
  });
  const question = `${tasks.length} needles, each in 500 kB, one run after the other`;
  row({ question, ours: { best: ms, unit: "ms" }, aim: { below: 40 * tasks.length } });
  row({ question, ours: { best: right, unit: "right" }, aim: { least: tasks.length } });
}

/** Like OOLONG: a model has to classify each line before they can be counted. */
async function measureAggregation({ quick, row, script }) {
  const { query, context, answer, classify } = aggregation(3000);
  const rlm = script(({ model, messages }) => {
    if (model !== "sub") return block(AGGREGATE);
    const lines = messages.at(-1).content.split("\n").slice(1);
    return lines.map((line) => classify(line)).join("\n");
  });
  const { ours } = await race({ ours: () => timed(() => solve(rlm, { query, context }, answer)) }, quick ? 3 : 10);
  const question = "3,000 lines counted by 60 calls of a model, exactly";
  row({ question, ours: { best: median(ours), unit: "ms" }, aim: { below: 100 } });
}

const AGGREGATE = `
from collections import Counter
lines = context.splitlines()
pieces = ["\\n".join(lines[i : i + 50]) for i in range(0, len(lines), 50)]
counts = Counter()
for answer in map_query(pieces, "What is each line about? One word for each.\\n{item}"):
    counts.update(answer.split())
FINAL(dict(counts))
`;

/** The size of a run's log: it has the context once, however many steps there are. */
async function measureLog({ row, script, folder }) {
  const steps = 10;
  const { context } = haystack(0, CONTEXT_BYTES);
  const rlm = script(({ messages }) => {
    const step = messages.length / 2;
    return block(step === steps ? "FINAL('done')" : `print(context[${step * PRINTED}:${(step + 1) * PRINTED}])`);
  });
  const run = rlm.run({ query: "?", context });
  const { usage } = await run;
  if (usage.total.iterations !== steps) throw new Error(`${usage.total.iterations} steps`);
  const runFolder = join(folder, "runs", run.id);
  await within(10_000, "the log", untilRecorded(join(runFolder, "meta.json")));
  row({
    question: `Log of a run over 2 MB with ${steps} steps that print ${PRINTED / 1000} kB each`,
    ours: { best: bytesIn(runFolder) / 1_000_000, unit: "MB" },
    aim: { below: 2.2 },
  });
}

/** Many small files as context: the model is told what they are and answers. */
async function measureFiles({ quick, row, runtime, script, folder }) {
  const files = Array.from({ length: FILES }, (_, index) => {
    const name = `${index % 90}/${index}.txt`;
    return { name, path: join(folder, "files", name) };
  });
  for (let index = 0; index < 90; index += 1) mkdirSync(join(folder, "files", String(index)), { recursive: true });
  for (const { name, path } of files) writeFileSync(path, name.padEnd(1_000, "."));
  const rlm = script(() => block("FINAL(len(context))"));
  const list = files.map(({ path }) => `${path}\0`).join("");
  const rounds = await race(
    {
      ours: () => timed(() => solve(rlm, { query: "?", context: { files } }, FILES), runtime),
      floor: () => timed(() => readBarely(list)),
    },
    quick ? 3 : 10,
  );
  row({
    question: `Run over ${FILES.toLocaleString("en-US")} files of 1 kB`,
    ours: { best: Math.min(...rounds.ours), unit: "ms" },
    other: { name: "`cat` of the same files", best: Math.min(...rounds.floor), unit: "ms" },
    ratio: compare(rounds.ours, rounds.floor),
    aim: { most: 3 },
    floor: rounds.floor,
  });
}

async function readBarely(list) {
  const cat = start("xargs", ["-0", "cat"], { stdio: ["pipe", "ignore", "inherit"] });
  cat.stdin.end(list);
  const code = await new Promise((resolve) => cat.once("exit", resolve));
  if (code !== 0) throw new Error(`cat ended with ${code}`);
}

async function untilRecorded(path) {
  const isOver = () => existsSync(path) && JSON.parse(readFileSync(path, "utf8")).ended !== null;
  while (!isOver()) await new Promise((resolve) => setTimeout(resolve, 10));
}

function bytesIn(folder) {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .reduce((sum, entry) => sum + statSync(join(entry.parentPath, entry.name)).size, 0);
}

/** Runs to the end, and throws if the answer is wrong. */
async function solve(rlm, request, expected) {
  const { status, data, why } = await rlm.run(request);
  if (JSON.stringify(data) !== JSON.stringify(expected)) {
    throw new Error(`a run ended as ${status} with ${JSON.stringify(data)}: ${why}`);
  }
}

/** Fills the pool of the runtime first, so that a contender does not pay for earlier ones. */
async function timed(operation, runtime) {
  await runtime?.warm();
  const begin = performance.now();
  await operation();
  return [performance.now() - begin];
}

function block(code) {
  return `\`\`\`repl\n${code}\n\`\`\`\n`;
}
