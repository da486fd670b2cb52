// What does it cost to parse a message from a worker: by hand, and with its schema?
//
//   node bench/parsers.mjs
//
// The events of a worker are parsed by hand (src/protocol/worker/parse-worker-event.ts) because of the first two rows: every execution
// waits for a status. Everything else a worker or a file job sends goes through a schema.

import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { importSources } from "../scripts/import-sources.mjs";

process.chdir(fileURLToPath(new URL("..", import.meta.url)));
const [{ workerEvent }, { parseWorkerEvent }, { parseVariableList }, { parseJobAnswer }, { parseManifest }] =
  await importSources([
    "protocol/worker/worker-events",
    "protocol/worker/parse-worker-event",
    "protocol/worker/worker-answers",
    "protocol/worker/job-answers",
    "protocol/session-manifest",
  ]);

const fixtures = JSON.parse(readFileSync("tests/fixtures/messages/events.json", "utf8"));
const eventOf = (name) => fixtures.find((fixture) => fixture.name === name).parsed;
const bySchema = (message) => workerEvent.safeParse(message).data;
for (const name of ["status ok with a value", "status error", "call"]) {
  const message = eventOf(name);
  print(
    name,
    micros(() => parseWorkerEvent(message)),
    micros(() => bySchema(message)),
  );
}

const variable = {
  name: "frame",
  type: "DataFrame",
  module: "pandas",
  kind: "variable",
  shape: [100, 3],
  preview: "...",
};
const list = { total: 100, variables: Array.from({ length: 100 }, () => variable) };
print(
  "100 variables",
  undefined,
  micros(() => parseVariableList(list)),
);
const entry = {
  type: "entry",
  name: "a.txt",
  path: "b/a.txt",
  kind: "file",
  size: 10,
  modifiedMs: 1.7e12,
  mode: 0o644,
};
print(
  "a file entry",
  undefined,
  micros(() => parseJobAnswer(entry)),
);
const manifest = {
  format: 2,
  version: "1.0.0",
  created: "2026-01-01",
  python: "3.11.2",
  implementation: "cpython",
  bytecode: "x",
  names: Array.from({ length: 200 }, (_, index) => `name${index}`),
  modules: ["os"],
  skipped: [],
};
print(
  "a manifest of 200 names",
  undefined,
  micros(() => parseManifest(manifest)),
);

/** Processor time of a call, in the best of several rounds. */
function micros(call) {
  const rounds = Array.from({ length: 12 }, () => {
    const count = 5_000;
    const before = process.cpuUsage();
    for (let index = 0; index < count; index += 1) call();
    const { user, system } = process.cpuUsage(before);
    return (user + system) / count;
  });
  return Math.min(...rounds);
}

function print(what, byHand, withSchema) {
  const hand = byHand === undefined ? "" : `by hand ${byHand.toFixed(2)} us, `;
  console.log(`${what.padEnd(26)}${hand}schema ${withSchema.toFixed(2)} us`);
}
