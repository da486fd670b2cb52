import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { RunId } from "../../../src/protocol/ids.ts";
import type { RunEvent } from "../../../src/protocol/run-events.ts";
import { RunRecorder } from "../../../src/store/runs/run-recorder.ts";

let data: string;
beforeEach(() => {
  data = mkdtempSync(join(tmpdir(), "rlm-recorder-"));
  vi.stubEnv("RLM_DATA", data);
});
afterEach(() => {
  vi.unstubAllEnvs();
  rmSync(data, { recursive: true });
});

const start = (runId: RunId): RunEvent =>
  ({ type: "run-start", runId, seq: 1, time: 1, query: "q", nodeId: "n1" }) as unknown as RunEvent;

test("a run is recorded with its texts until it has ended; another run is not", async () => {
  const recorder = new RunRecorder();
  const [id, other] = ["r-0000000000000001", "r-0000000000000002"] as [RunId, RunId];
  const result = new Promise<void>((resolve) => setImmediate(resolve));
  const contexts = [
    { name: "context", value: { text: "hello" } },
    { name: "folder", value: [{ name: "a", path: "/a" }] },
  ];
  const recording = recorder.record({ id, result, notRecorded: undefined }, contexts, []);
  recorder.write(id, start(id));
  recorder.write(other, start(other));
  await recording;
  recorder.write(id, start(id));
  expect(readdirSync(join(data, "runs"))).toEqual([id]);
  const read = (name: string): string[] =>
    readFileSync(join(data, "runs", id, name), "utf8")
      .trim()
      .split("\n");
  expect(read("events.jsonl")).toEqual([expect.stringContaining('"run-start"')]);
  expect(read("contexts.jsonl").map((line) => JSON.parse(line) as object)).toEqual([
    expect.objectContaining({ name: "context", bytes: 5 }),
  ]);
});
