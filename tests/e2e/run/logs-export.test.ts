/** @module-tag stress */

import { existsSync, mkdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import {
  callStart,
  nodeStart,
  numberer,
  openRuns,
  record,
  runEnd,
  runStart,
  smallRun,
  toRunId,
} from "../../store/runs/recorded-run.ts";
import { rlm } from "../program.ts";
import { TestTerminal } from "../terminal.ts";

const FIRST = toRunId("r-0123456789abcdef");
const SECOND = toRunId("r-fedcba9876543210");

/** A data folder with two runs, and a current folder. */
async function openData(): Promise<
  Disposable & { readonly env: Record<string, string>; readonly cwd: string; readonly folder: string }
> {
  const data = openRuns();
  const folder = join(data.folder, "runs");
  const cwd = join(data.folder, "here");
  for (const made of [folder, cwd]) mkdirSync(made);
  await record(smallRun(FIRST), FIRST, { folder });
  const later = [runStart("What came last?"), runEnd(SECOND)].map(numberer(SECOND));
  await record(
    later.map((event) => ({ ...event, time: event.time + 60_000 })),
    SECOND,
    { folder },
  );
  return {
    env: { RLM_DATA: data.folder, TZ: "UTC" },
    cwd,
    folder: data.folder,
    [Symbol.dispose]: () => data[Symbol.dispose](),
  };
}

test("'last' is the run that started last, wherever a run is named", async () => {
  using data = await openData();
  expect((await rlm(["logs", "show", "last"], data)).stdout).toMatch(new RegExp(`^run ${SECOND} `));
  expect((await rlm(["logs", "export", "last", "-o", "-"], data)).stdout).toContain("What came last?");
});

test("'last' without runs says how to record one", async () => {
  using data = openRuns();
  expect(await rlm(["logs", "show", "last"], { env: { RLM_DATA: data.folder } })).toEqual({
    code: 2,
    stdout: "",
    stderr: "rlm: no runs are recorded yet: 'rlm run --demo' records one\n",
  });
});

test("export writes every event with its full texts to a file of the user alone", async () => {
  using data = await openData();
  const { code, stdout, stderr } = await rlm(["logs", "export", "r-01"], data);
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  const path = join(data.cwd, `${FIRST}.jsonl`);
  const text = readFileSync(path, "utf8");
  const lines = text.trimEnd().split("\n");
  expect(stdout).toMatch(new RegExp(`^${FIRST}\\.jsonl: ${lines.length} events, [\\d.]+ KiB\n$`));
  expect(text).toBe((await rlm(["logs", "show", FIRST, "--json"], data)).stdout);
  const types = lines.map((line) => (JSON.parse(line) as { type: string }).type);
  expect([types[0], types.at(-1)]).toEqual(["run-start", "run-end"]);
  expect(statSync(path).mode & 0o777).toBe(0o600);
});

test("export replaces a file only with --force, and never a folder", async () => {
  using data = await openData();
  writeFileSync(join(data.cwd, "mine.txt"), "mine");
  expect(await rlm(["logs", "export", "last", "-o", "mine.txt"], data)).toEqual({
    code: 2,
    stdout: "",
    stderr: "rlm: cannot write 'mine.txt': it exists. Choose another with -o, or replace it with --force\n",
  });
  symlinkSync("nowhere", join(data.cwd, "link"));
  expect(await rlm(["logs", "export", "last", "-o", "link"], data)).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("'link': it exists"),
  });
  expect(readFileSync(join(data.cwd, "mine.txt"), "utf8")).toBe("mine");
  expect(await rlm(["logs", "export", "last", "-o", "mine.txt", "--force"], data)).toMatchObject({ code: 0 });
  expect(readFileSync(join(data.cwd, "mine.txt"), "utf8")).toContain("What came last?");
  expect(await rlm(["logs", "export", "last", "-o", data.cwd, "--force"], data)).toMatchObject({
    code: 2,
    stderr: `rlm: cannot write '${data.cwd}': it is a folder. Name a file in it with -o\n`,
  });
});

test("export of a run without an end says so", async () => {
  using data = await openData();
  const id = toRunId("r-0000000000000000");
  await record([runStart("Cut off?")].map(numberer(id)), id, { folder: join(data.folder, "runs") });
  const { code, stderr } = await rlm(["logs", "export", id], data);
  expect({ code, stderr }).toEqual({
    code: 0,
    stderr: `rlm: run ${id} is broken: its process is gone, and it has no end\n`,
  });
  expect(existsSync(join(data.cwd, `${id}.jsonl`))).toBe(true);
});

test.each(["list", "ls"])("logs %s is logs", async (name) => {
  using data = await openData();
  const { stdout } = await rlm(["logs", "-n", "1"], data);
  expect(await rlm(["logs", name, "-n", "1"], data)).toEqual({ code: 0, stdout, stderr: "" });
  expect(JSON.parse((await rlm(["logs", name, "--json"], data)).stdout)).toMatchObject({ total: 2 });
});

test.each([80, 60])("at %i columns the list of runs has whole ids and no wrapped lines", async (columns) => {
  using data = await openData();
  await using terminal = new TestTerminal(["logs"], { env: { ...data.env, NO_COLOR: "1" }, columns });
  expect(await terminal.ended).toBe(0);
  const lines = terminal.raw.trimEnd().split("\r\n");
  expect(lines.length).toBe(3);
  expect(lines.filter((line) => line.length > columns)).toEqual([]);
  expect(lines[0]).toMatch(columns === 80 ? /^ID +WHEN +STATUS +.*QUESTION$/ : /^ID +WHEN +STATUS +QUESTION$/);
  expect(lines.slice(1).map((line) => line.split(" ")[0])).toEqual([SECOND, FIRST]);
});

test("show --full goes on after messages that cannot be read", async () => {
  using data = await openData();
  const id = toRunId("r-00000000000000ff");
  const messages = [{ role: "user", content: "x".repeat(1_000_000) }];
  const start = callStart({ nodeId: "n0", callId: "c1", messages });
  const folder = join(data.folder, "runs");
  await record([runStart("What is damaged?"), nodeStart("n0", null), start, runEnd(id)].map(numberer(id)), id, {
    folder,
  });
  rmSync(join(folder, id, "blobs"), { recursive: true });
  mkdirSync(join(folder, id, "blobs"), { mode: 0o700 });
  const { code, stdout, stderr } = await rlm(["logs", "show", id, "--full"], data);
  expect({ code, stderr }).toEqual({
    code: 0,
    stderr: expect.stringMatching(/^rlm: the messages of event 3 are left out: [^\n]+\n$/),
  });
  expect(stdout).toMatch(/^final /m);
});
