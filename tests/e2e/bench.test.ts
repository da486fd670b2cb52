/* oxlint-disable no-control-regex -- control characters are what a terminal is about */
import { expect, test, vi } from "vitest";
import { MEASURES } from "../../src/cli/bench/measures.ts";
import type { MeasureResult } from "../../src/cli/bench/result.ts";
import { makeDataFolder } from "../make-data-folder.ts";
import { remove } from "../remove.ts";
import { TIER } from "../tier.ts";
import { descendantsOf, isRunning } from "./processes.ts";
import { rlm, start } from "./program.ts";
import { KEYS, TestTerminal } from "./terminal.ts";

const NAMES = MEASURES.map(({ name }) => name);

interface Report {
  readonly ok: boolean;
  readonly machine: { readonly tier: string };
  readonly measures: readonly MeasureResult[];
  readonly hints: readonly string[];
}

test("bench --json prints one object and nothing else: every measure works", { tags: "stress" }, async () => {
  const { code, stdout, stderr } = await rlm(["bench", "--quick", "--json"]);
  expect({ code, stderr, lines: stdout.split("\n").length }).toEqual({ code: 0, stderr: "", lines: 2 });
  const { ok, machine, measures, hints } = JSON.parse(stdout) as Report;
  expect({ ok, tier: machine.tier, names: measures.map(({ name }) => name) }).toEqual({
    ok: true,
    tier: TIER,
    names: NAMES,
  });
  for (const { oursMs, floorMs, ratio, verdict } of measures) {
    expect(oursMs).toBeGreaterThan(0);
    if (floorMs !== null) expect(ratio).toBeCloseTo((oursMs ?? 0) / floorMs);
    expect(verdict).toMatch(/^(good|slow|very slow)$/);
  }
  // A machine that is slow is no failure, but a hint.
  expect(hints.length > 0).toBe(measures.some(({ verdict }) => verdict !== "good"));
});

test("on a terminal of 80 columns it shows what it measures, then a table that fits", { tags: "stress" }, async () => {
  const data = makeDataFolder();
  try {
    await using terminal = new TestTerminal(["bench", "--quick"], { env: { RLM_DATA: data }, columns: 80, rows: 40 });
    expect(await terminal.ended).toBe(0);
    expect(terminal.raw).toMatch(/\r\u001B\[Kmeasuring 3 of \d: execute x = 1 …/);
    const rows = terminal.screen.split("\n");
    expect(rows[0]).toMatch(/^rlm \S+ · Node \S+ · Python \S+ · tier \S+ · \d+ cores, load [\d.]+$/);
    const table = rows.slice(3, 3 + NAMES.length);
    expect(rows[2]).toMatch(/^WHAT +OURS +FLOOR +RATIO +USUAL +VERDICT$/);
    expect(table.map((row) => row.slice(0, 24).trimEnd())).toEqual(NAMES);
    expect(terminal.screen).toMatch(/\nEverything works, (as fast as usual|but not as fast as usual)\.(\n|$)/);
    expect(terminal.screen).not.toContain("measuring");
  } finally {
    remove(data);
  }
});

test("Ctrl-C cancels: exit code 130, and no process is left", { tags: "stress" }, async () => {
  await using program = start(["bench"]);
  await program.until(/open a session, new/);
  const pids = descendantsOf(program.pid ?? 0);
  expect(pids.length).toBeGreaterThan(2);
  program.signal("SIGINT");
  expect(await program.ended).toMatchObject({ code: 130, stderr: "" });
  await vi.waitFor(() => expect(pids.filter(isRunning)).toEqual([]), { timeout: 20_000 });
});

test("Ctrl-C on a terminal leaves no half line", { tags: "stress" }, async () => {
  const data = makeDataFolder();
  try {
    await using terminal = new TestTerminal(["bench"], { env: { RLM_DATA: data } });
    await terminal.until(/measuring 2 of/);
    terminal.type(KEYS.ctrlC);
    expect(await terminal.ended).toBe(130);
    expect(terminal.screen).not.toContain("measuring");
  } finally {
    remove(data);
  }
});

test("without a sandbox it exits with 70 and says what to do", async () => {
  const { code, stdout, stderr } = await rlm(["bench"], { env: { RLM_PYTHON: "/no/such/python" } });
  expect({ code, stdout }).toEqual({ code: 70, stdout: "" });
  expect(stderr).toMatch(/^rlm: cannot use environment .*set RLM_PYTHON to one.*wasm.*\n$/);
});
