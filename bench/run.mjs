// Measures speed. Every result is a ratio to a floor or a peer that was measured in the same minutes.
//
//   npm run bench -- [--quick] [--only A,B,...] [--json FILE] [--write]
//
//   --quick   smaller rounds, less than a minute       --only    A create, B round-trip, C output, D many, E interrupt, F state,
//                                                          G mcp and shell, H rlm, I http, J tiers, K environments, L strategy,
//                                                          M limits
//   --json    all measurements                         --write   writes the tables to bench/README.md and README.md

import { fork, spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { writeFrontPage } from "./lib/front-page.mjs";
import { describeMachine } from "./lib/machine.mjs";
import { cleanEnvironment } from "./lib/processes.mjs";
import { isNoisy, number, toCells, toDelayRow, toMarkdown, toTerminal, writeReadme } from "./lib/report.mjs";

const QUESTIONS = {
  A: "create",
  B: "round-trip",
  C: "output",
  D: "many",
  E: "interrupt",
  F: "state",
  G: "mcp",
  H: "rlm",
  I: "http",
  J: "tiers",
  K: "environments",
  L: "strategy",
  M: "limits",
};
const TIMEOUT_MS = 240_000;

const { values: options } = parseArgs({
  options: {
    quick: { type: "boolean", default: false },
    only: { type: "string", default: Object.keys(QUESTIONS).join() },
    json: { type: "string" },
    write: { type: "boolean", default: false },
  },
});
const letters = options.only.toUpperCase().split(",");
const unknown = letters.filter((letter) => !(letter in QUESTIONS));
if (unknown.length > 0) throw new RangeError(`--only knows ${Object.keys(QUESTIONS).join()}, not '${unknown.join()}'`);

build();
const machine = describeMachine();
const started = performance.now();
const heard = [];
for (const name of ["calibrate", ...letters.map((letter) => QUESTIONS[letter])]) {
  process.stderr.write(`${name} ...\n`);
  heard.push(...(await ask(name)));
}
const report = toReport(heard);
console.log(report.terminal);
if (options.json !== undefined) writeFileSync(options.json, `${JSON.stringify({ machine, heard }, null, 2)}\n`);
if (options.write) {
  writeReadme(report.markdown);
  writeFrontPage(report.measured, report.machine);
}
if (heard.some(({ kind }) => kind === "failed")) process.exitCode = 1;

function build() {
  const { status } = spawnSync(process.execPath, ["scripts/build.mjs"], {
    cwd: fileURLToPath(new URL("..", import.meta.url)),
    stdio: ["ignore", "ignore", "inherit"],
  });
  if (status !== 0) throw new Error("Cannot measure: the build failed");
}

/** Collects the messages of one question, which runs in a separate process. */
async function ask(name) {
  const messages = [];
  const child = fork(new URL("question.mjs", import.meta.url), [name, ...(options.quick ? ["--quick"] : [])], {
    execArgv: ["--expose-gc"],
    env: cleanEnvironment(),
    detached: true,
  });
  child.on("message", (message) => messages.push({ question: name, ...message }));
  const killer = setTimeout(() => child.kill("SIGKILL"), TIMEOUT_MS);
  const [code, signal] = await new Promise((resolve) => child.once("exit", (...ending) => resolve(ending)));
  clearTimeout(killer);
  if (code !== 0 && !messages.some(({ kind }) => kind === "failed")) {
    messages.push({ kind: "failed", question: name, why: `it ended with ${signal ?? code}` });
  }
  return messages;
}

function toReport(messages) {
  const of = (wanted) => messages.filter(({ kind }) => kind === wanted);
  const measured = of("row");
  const rows = [...measured, ...of("delay").map(toDelayRow)].map(toCells);
  const scale = of("scale").map(({ what, us, spread }) => `${what} ${number(us)} us (±${Math.round(spread * 50)} %)`);
  const isRunNoisy = of("scale").some(({ spread }) => spread > 0.25) || measured.some(({ floor }) => isNoisy(floor));
  const { date, processor, kernel, node, python, load } = machine;
  const seconds = Math.round((performance.now() - started) / 1000);
  const facts = [
    `${date} UTC, ${processor}, ${kernel}, ${node}, ${python}, load ${load} at the start, ${seconds} s` +
      `${options.quick ? ", --quick" : ""}${isRunNoisy ? ". **Noisy**: a floor's quartiles are more than 25 % apart" : ""}.`,
    `Scale: ${scale.join("; ")}.`,
    ...of("absent").map(({ peer, why }) => `Absent: ${peer}: ${why}.`),
    ...of("failed").map(({ question, why }) => `Failed: ${question}: ${why}`),
    ...of("note").map(({ question, text }) => `${question}: ${text}.`),
  ];
  return {
    measured,
    machine: `Measured ${date.slice(0, 10)} with \`npm run bench\`: ${processor}, ${kernel}, ${node}, ${python}.`,
    terminal: `\n${toTerminal(rows)}\n\n${facts.join("\n").replaceAll("**", "")}`,
    markdown: `\n${facts[0]}\n\n${toMarkdown(rows)}\n\n${[...new Set(facts.slice(1))].map((fact) => `- ${fact}`).join("\n")}\n`,
  };
}
