// The tests of the worker and of the fork server that are written in Python, each shown as a test here.
//
// To run them without this: python3 -m unittest discover -s tests/worker, and with tests/forkserver
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readdirSync } from "node:fs";
import type { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { describe, expect, test } from "vitest";

interface Report {
  readonly name: string;
  readonly outcome: "passed" | "failed" | "skipped";
  readonly detail: string;
}

/** Run at the same time: they wait for processes half of the time. */
const PARTS = 3;
const files = readdirSync(import.meta.dirname).filter((name) => /^test.*\.py$/.test(name));

describe.skipIf(files.length === 0)(`unittests${files.length === 0 ? " (there are none yet)" : ""}`, async () => {
  const parts = await Promise.all(Array.from({ length: PARTS }, (_, part) => runUnittests(part)));
  const reports = parts.flatMap((part) => part.reports);

  for (const { name, outcome, detail } of reports) {
    test.skipIf(outcome === "skipped")(`${name}${outcome === "skipped" ? ` (${detail})` : ""}`, () => {
      if (outcome === "failed") expect.fail(detail);
    });
  }

  test("unittest runs to its end", () => {
    for (const { ending, output } of parts) expect(ending, output).toBe("exit code 0");
    expect(reports.length, "number of tests found").toBeGreaterThan(0);
  });
});

async function runUnittests(part: number): Promise<{ reports: Report[]; ending: string; output: string }> {
  const python = existsSync("/usr/bin/python3") ? "/usr/bin/python3" : "python3";
  const child = spawn(python, [`${import.meta.dirname}/run.py`, "3", String(part), String(PARTS)], {
    stdio: ["ignore", "pipe", "pipe", "pipe"],
    env: { ...process.env, PYTHONDONTWRITEBYTECODE: "1" },
    signal: AbortSignal.timeout(300_000),
    killSignal: "SIGKILL",
  });
  const [, out, err, report] = child.stdio as [null, Readable, Readable, Readable, undefined];
  const [[code, signal], stdout, stderr, lines] = await Promise.all([
    once(child, "close"),
    text(out),
    text(err),
    text(report),
  ]);
  const reports = lines
    .split("\n")
    .filter(Boolean)
    .map((line) => JSON.parse(line) as Report);
  return { reports, ending: signal === null ? `exit code ${code}` : `signal ${signal}`, output: `${stdout}${stderr}` };
}
