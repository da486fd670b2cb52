// Runs each hostile snippet of the corpus in its own sandbox. A test passes when the attempt fails as documented.

import { spawn } from "node:child_process";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Result } from "../../internals.ts";
import { TIER, SHARES_USER } from "../../tier.ts";
import { python } from "../machine.ts";
import { growthDuring } from "../live-memory.ts";
import { expand, type Corpus, type Probe } from "../probe.ts";
import { hold, openStage, readCorpus, type OpenStage } from "../stage.ts";

const MIB = 2 ** 20;
const corpus = readCorpus("sandbox-probes.json");
// The corpus assumes another framing. These are the same attacks on our protocol.
const protocol = readCorpus("protocol-probes.json");

// Tested separately below, because we promise something else.
const OWN_PROMISE = new Set(["res-infinite-output"]);
// They fill memory, disk or the table of processes to the brim. Smaller ones of their kind are in resources.test.ts.
const STRESS = new Set(["res-mem-many-procs", "life-stack-overflow", "shell-rm-rf", "res-inodes", "res-mem-list"]);
// These mostly wait for a limit, so several run concurrently.
const PATIENT = new Set(corpus.probes.filter(({ timeout }) => timeout === 1500).map(({ id }) => id));

/** Probes that tier C does not hold, and why. They are not run there. */
const NOT_IN_TIER_C: Readonly<Record<string, string>> = {
  "host-sees-hostpids": "there is no process namespace",
  "proc-cmdline-scan": "there is no process namespace",
  "file-zip-bomb": "there is no quota on disk space",
  "res-disk-fill": "there is no quota on disk space",
  "res-inodes": "there is no quota on the number of files",
};
/** Probes that it does not hold where sessions have the user of the host. */
const NOT_FOR_SHARED_USER: Readonly<Record<string, string>> = {
  "proc-fd-of-parent": "numbers of descriptors are listed, where process 1 has the same user; not what they are",
  "res-mem-many-procs": "memory is watched and not limited by the kernel, so it is exceeded for a moment",
};
/** Probes that end otherwise in tier B, and how. They are not run there. */
const NOT_IN_TIER_B: Readonly<Record<string, string>> = {
  "res-disk-fill-tmp": "each folder has a quota; a session that exceeds it in two of them is ended",
};
const BY_TIER: Readonly<Record<string, Readonly<Record<string, string>>>> = { B: NOT_IN_TIER_B, C: NOT_IN_TIER_C };
const NOT_HELD = { ...BY_TIER[TIER], ...(SHARES_USER && NOT_FOR_SHARED_USER) };
const isHeld = (id: string): boolean => !(id in NOT_HELD);

let stage: OpenStage;

beforeAll(async () => {
  stage = await openStage();
});

afterAll(() => stage?.[Symbol.asyncDispose]());

describe("probes", () => {
  const run = corpus.probes.filter(
    ({ id, category }) => category !== "protocol" && !PATIENT.has(id) && !OWN_PROMISE.has(id) && isHeld(id),
  );
  test.skip.each(Object.entries(NOT_HELD))("%s (%s)", () => {});
  const local = run.filter(({ language }) => language !== "pyodide");
  test.each(named(local.filter(({ id }) => !STRESS.has(id))))("%s", (_, probe) => attack(probe, corpus));
  test.each(named(local.filter(({ id }) => STRESS.has(id))))("%s", { tags: "stress" }, (_, probe) =>
    attack(probe, corpus),
  );
  test.skip.each(named(run.filter(({ language }) => language === "pyodide")))(
    "%s (needs the wasm environment)",
    () => {},
  );
});

describe.concurrent("probes that wait for a limit", () => {
  test.each(named(corpus.probes.filter(({ id }) => PATIENT.has(id))))("%s", (_, probe) => attack(probe, corpus));
});

describe("probes of the protocol", () => {
  test("every probe of the corpus has its counterpart", () => {
    const ids = corpus.probes.filter(({ category }) => category === "protocol").map(({ id }) => id);
    expect(protocol.probes.map(({ id }) => id).toSorted()).toEqual(ids.toSorted());
  });

  test.each(named(protocol.probes))("%s", (_, probe) => attack(probe, protocol));
});

// The corpus expects such a session to be killed. We promise that endless printing is harmless: it is an ordinary timeout,
// the state is kept, dropped output is counted, and the host's memory does not grow.
test("res-infinite-output: printing without end ends with its time limit, keeps the state, and does not grow the host", async () => {
  await using session = await stage.runtime.openSession();
  await session.execute("kept = 1").result;
  const print = async (timeoutMs: number): Promise<{ result: Result; growth: number }> => {
    const running = session.execute(`while True: print("x"*10000)`, { timeoutMs }).result;
    const growth = await growthDuring(() => running);
    return { result: await running, growth };
  };
  let timeoutMs = 1000;
  let { result, growth } = await print(timeoutMs);
  // A busy machine needs longer to print much more than is kept.
  while ((result.truncated?.stdout?.total ?? 0) < 10 * MIB) ({ result, growth } = await print((timeoutMs *= 2)));
  expect(result).toMatchObject({ status: "interrupted", reason: "timeout", state: "kept", epoch: 1 });
  expect(result.stdout.length).toBeLessThan(MIB + 100);
  const { total, omitted } = result.truncated?.stdout ?? { total: 0, omitted: 0 };
  expect(total).toBeGreaterThan(10 * MIB);
  expect(total - omitted).toBeLessThanOrEqual(MIB);
  expect(growth).toBeLessThan(64);
  expect((await session.execute("kept").result).value).toEqual({ "text/plain": "1" });
});

describe("the probes bite: without a sandbox they find the canary", () => {
  test.each([
    "fs-read-ssh",
    "fs-read-dotenv",
    "fs-list-homes",
    "fs-symlink-read",
    "fs-dotdot",
    "env-own-proc",
    "proc-cmdline-scan",
    "host-sees-hostpids",
    "net-loopback-tcp",
    "net-udp",
    "net-abstract-unix",
    "net-path-unix",
    "net-docker-sock",
  ])("%s", async (id) => {
    const probe = corpus.probes.find((each) => each.id === id);
    const code = `${corpus.prelude_python}\n${expand(probe?.code ?? "", stage.values)}`;
    expect(await runUnsandboxed(code)).toMatch(/^ESCAPED/);
  });
});

async function runUnsandboxed(code: string): Promise<string> {
  const script = join(import.meta.dirname, "../../fixtures/run-unsandboxed.py");
  const child = spawn(python, ["-I", script], {
    cwd: stage.canaries.scratch,
    stdio: ["pipe", "pipe", "inherit"],
    ...(process.getuid?.() === 0 && { uid: 64001, gid: 64001 }),
  });
  child.stdin.end(code);
  return text(child.stdout);
}

/** Endless recursion ends at the memory limit; a lower limit ends it sooner. */
function withLimits(probe: Probe): Probe {
  return probe.id === "life-stack-overflow" ? { ...probe, limits: { memoryBytes: 192 * MIB } } : probe;
}

function attack(probe: Probe, { prelude_python: prelude }: Corpus): Promise<void> {
  return hold(withLimits(probe), prelude, stage);
}

function named(probes: readonly Probe[]): [string, Probe][] {
  return probes.map((probe) => [`${probe.id}: ${probe.expected}`, probe]);
}
