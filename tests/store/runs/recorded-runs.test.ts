import { existsSync, mkdirSync, readFileSync, readdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { RunId } from "../../../src/protocol/ids.ts";
import { RunLogWriter } from "../../../src/store/runs/run-log.ts";
import { findRun, listRuns, pruneRuns } from "../../../src/store/runs/recorded-runs.ts";
import { numberer, openRuns, record, runEnd, runStart, toRunId } from "./recorded-run.ts";

test("listRuns has the latest first, and leaves out folders that are no runs", async () => {
  using runs = openRuns();
  for (const [at, name] of ["r-a", "r-b", "r-c"].entries()) await recordAt(toRunId(name), at, runs.folder);
  mkdirSync(join(runs.folder, "r-empty"));
  writeFileSync(join(runs.folder, "r-file"), "");
  mkdirSync(join(runs.folder, ".hidden"));
  symlinkSync(join(runs.folder, "r-a"), join(runs.folder, "r-link"));
  mkdirSync(join(runs.folder, "r-damaged", "blobs"), { recursive: true });
  writeFileSync(join(runs.folder, "r-damaged", "meta.json"), "{");
  expect((await listRuns(runs)).map(({ id }) => id)).toEqual(["r-c", "r-b", "r-a"]);
});

test("listRuns leaves out a run that began at no time, and drops an end that is none", async () => {
  using runs = openRuns();
  for (const [at, name] of ["r-a", "r-b", "r-c"].entries()) await recordAt(toRunId(name), at, runs.folder);
  changeMeta(runs.folder, "r-a", { started: 1e300 });
  changeMeta(runs.folder, "r-b", { ended: -1e300 });
  const listed = await listRuns(runs);
  expect(listed.map(({ id, ended }) => [id, ended === null])).toEqual([
    ["r-c", false],
    ["r-b", true],
  ]);
});

test("listRuns of a missing folder is empty", async () => {
  expect(await listRuns({ folder: "/nowhere" })).toEqual([]);
});

test("findRun takes an id, or an unambiguous prefix", async () => {
  using runs = openRuns();
  for (const name of ["r-ab", "r-abc", "r-x"]) await recordAt(toRunId(name), 0, runs.folder);
  expect(await findRun("r-x", runs)).toBe("r-x");
  expect(await findRun("r-ab", runs)).toBe("r-ab");
  expect(await findRun("r-abc", runs)).toBe("r-abc");
  await expect(findRun("r-", runs)).rejects.toThrow("Cannot find run 'r-': 3 begin so: r-");
  await expect(findRun("q", runs)).rejects.toThrow(`Cannot find run 'q': there is none in '${runs.folder}'`);
  await expect(findRun("", runs)).rejects.toThrow("there is none");
});

test("pruneRuns keeps the last runs", async () => {
  using runs = openRuns();
  for (const at of [1, 2, 3, 4]) await recordAt(toRunId(`r-${at}`), at, runs.folder);
  expect(await pruneRuns({ ...runs, keep: 2 })).toEqual(["r-2", "r-1"]);
  expect(readdirSync(runs.folder).sort()).toEqual(["r-3", "r-4"]);
});

test("pruneRuns keeps runs within the size limit, and always the latest", async () => {
  using runs = openRuns();
  for (const at of [1, 2, 3]) await recordAt(toRunId(`r-${at}`), at, runs.folder, "x".repeat(100_000));
  expect(await pruneRuns({ ...runs, maxBytes: 250_000 })).toEqual(["r-1"]);
  expect(await pruneRuns({ ...runs, maxBytes: 1 })).toEqual(["r-2"]);
  expect(await pruneRuns({ ...runs, maxBytes: 1, keep: 0 })).toEqual([]);
});

test("pruneRuns never removes a run in progress, nor one that is starting", async () => {
  using runs = openRuns();
  await using log = new RunLogWriter(toRunId("r-live"), runs);
  log.write({ ...numberer(toRunId("r-live"))(runStart()), time: 1 });
  await log.recordContext("context", { bytes: Buffer.from("x") });
  mkdirSync(join(runs.folder, "r-new", "blobs"), { recursive: true });
  await recordAt(toRunId("r-1"), 1, runs.folder);
  await recordAt(toRunId("r-2"), 2, runs.folder);
  expect(await pruneRuns({ ...runs, keep: 1 })).toEqual(["r-2", "r-1"]);
  expect(existsSync(join(runs.folder, "r-live", "meta.json"))).toBe(true);
});

test("pruneRuns removes leftovers of an earlier removal, and follows no link", async () => {
  using runs = openRuns();
  using other = openRuns();
  writeFileSync(join(other.folder, "precious"), "");
  symlinkSync(other.folder, join(runs.folder, "r-link"));
  mkdirSync(join(runs.folder, ".removed-r-9", "blobs"), { recursive: true });
  symlinkSync(other.folder, join(runs.folder, ".removed-r-9", "link"));
  await recordAt(toRunId("r-1"), 1, runs.folder);
  await pruneRuns({ ...runs, keep: 1 });
  expect(readdirSync(runs.folder).sort()).toEqual(["r-1", "r-link"]);
  expect(existsSync(join(other.folder, "precious"))).toBe(true);
});

async function recordAt(runId: RunId, hours: number, folder: string, query?: string): Promise<void> {
  const events = [runStart(query), runEnd(runId)].map(numberer(runId));
  await record(
    events.map((event) => ({ ...event, time: event.time + hours * 3_600_000 })),
    runId,
    { folder },
  );
}

function changeMeta(folder: string, id: string, changes: object): void {
  const path = join(folder, id, "meta.json");
  writeFileSync(path, JSON.stringify({ ...(JSON.parse(readFileSync(path, "utf8")) as object), ...changes }));
}
