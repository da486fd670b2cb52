// Runs the examples of docs/trajectories.md for reading a log.

import { execFileSync, spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { PYTHON } from "../../open.ts";
import {
  callEnd,
  callStart,
  codeEnd,
  numberer,
  openRuns,
  record,
  recorded,
  runEnd,
  smallRun,
  toRunId,
  type Bare,
} from "../../store/runs/recorded-run.ts";

const DOCUMENT = readFileSync("docs/trajectories.md", "utf8");
const ID = toRunId("r-9f86d081884c7d65");

test("the Python in the document reads every event as it was written", async () => {
  using runs = openRuns();
  const messages = [{ role: "system", content: "long ".repeat(1000) }];
  const hard: Bare[] = [
    callStart({ nodeId: "n0", callId: "c8", step: 2, messages }),
    callEnd({ nodeId: "n0", callId: "c8", text: "\u2028 ü \uD83D\uDE00\r\n".repeat(500) }),
    callStart({ nodeId: "n0", callId: "c9", step: 3, messages: [...messages, { role: "user", content: "short" }] }),
    codeEnd("n0", 3, "out ".repeat(1000)),
    runEnd(ID, { data: { $blob: "no", $$same: ["x".repeat(3000)], many: Array.from({ length: 9000 }, String) } }),
  ];
  const events = [...recorded(smallRun(ID)).slice(0, -2), ...hard.map(numberer(ID))];
  await record(events, ID, runs);
  const code = /```python\n(?<code>[\s\S]*?)\nfor event in events/.exec(DOCUMENT)?.groups?.["code"] ?? "";
  const script = `${code}\nprint(json.dumps(list(events("."))))`;
  const output = execFileSync(PYTHON, ["-c", script], { cwd: join(runs.folder, ID), encoding: "utf8" });
  const [first, ...others] = JSON.parse(output) as Record<string, unknown>[];
  expect([first, ...others]).toEqual([{ schemaVersion: 2, ...events[0] }, ...events.slice(1)]);
});

test("the jq commands in the document work", async ({ skip }) => {
  if (spawnSync("jq", ["--version"]).status !== 0) return skip("jq is not installed");
  using runs = openRuns();
  await record(smallRun(ID), ID, runs);
  const lines = [...DOCUMENT.matchAll(/^jq .* events\.jsonl$/gm)].map(([line]) => line);
  const outputs = lines.map((line) =>
    execFileSync("/bin/sh", ["-c", line], { cwd: join(runs.folder, ID), encoding: "utf8" }),
  );
  expect(outputs.map((text) => text.split("\n")[0])).toEqual(["n0\tc1\t120\t0.0012", "{", "print(len(context))"]);
});
