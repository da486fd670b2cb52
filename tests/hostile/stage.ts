// A runtime under attack: small limits, canaries on the host, and a sibling session that must stay unaffected.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import { openRuntime, type RuntimeOptions } from "../internals.ts";
import { openCanaries, type Canaries } from "./canaries.ts";
import { python } from "./machine.ts";
import { judge, type Corpus, type Probe, type Stage } from "./probe.ts";

const MIB = 2 ** 20;

export interface OpenStage extends Stage, AsyncDisposable {
  readonly canaries: Canaries;
}

export async function openStage(options: RuntimeOptions = {}): Promise<OpenStage> {
  const canaries = await openCanaries();
  const limits = { memoryBytes: 1024 * MIB, diskBytes: 128 * MIB };
  // Other environments have their own.
  const interpreter = (options.environment ?? "local") === "local" ? { python } : {};
  const runtime = await openRuntime({ ...interpreter, preload: [], idleTimeoutMs: null, ...options, limits });
  const sibling = await runtime.openSession({ id: "sibling" });
  await sibling.execute("mark = 'untouched'").result;
  return {
    runtime,
    sibling,
    canaries,
    values: canaries.values,
    async [Symbol.asyncDispose]() {
      await runtime.close();
      await canaries[Symbol.asyncDispose]();
    },
  };
}

export function readCorpus(name: string): Corpus {
  return JSON.parse(readFileSync(join(import.meta.dirname, "../fixtures", name), "utf8")) as Corpus;
}

/** Runs a probe; a failure shows its id, its code and what happened. */
export async function hold(probe: Probe, prelude: string, stage: Stage): Promise<void> {
  const complaints = await judge(probe, prelude, stage);
  if (complaints.length > 0) expect.fail(complaints.join("\n"));
}

/** The error, or a note that it succeeded. */
export async function failureOf(work: Promise<unknown>): Promise<unknown> {
  return work.then(
    () => "it worked",
    (error: unknown) => error,
  );
}
