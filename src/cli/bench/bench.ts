// `rlm bench`: a self-check of sessions on this machine, against floors that are measured in the same run.

import { openRuntime, type Runtime } from "../../runtime.ts";
import { DEFAULT_LIMITS } from "../../session/default-limits.ts";
import { omitUndefined } from "../../util/omit-undefined.ts";
import { VERSION } from "../../util/version.ts";
import { EXIT } from "../exit-code.ts";
import { namingPython } from "../exec/session-settings.ts";
import { SignalHandler } from "../io/signal-handler.ts";
import { StandardOutput } from "../io/standard-output.ts";
import { readConfig } from "../options/read-config.ts";
import { HEADING, LEGEND, toTableRow } from "./bench-table.ts";
import { BenchProgress } from "./bench-progress.ts";
import { hintsOf, look, type Seen } from "./hints.ts";
import { MEASURES, type Machine, type Measure } from "./measures.ts";
import { PlainPython } from "./plain-python.ts";
import { judge, toFailure, toMissing, toResult, type MeasureResult } from "./result.ts";
import { sample } from "./sampling.ts";

export interface BenchArguments {
  readonly quick?: true;
  readonly json?: true;
  readonly python?: string;
}

/** For each measure. */
const BUDGET_MS = 1_800;
const QUICK_BUDGET_MS = 300;

/** The exit code is 0 if everything worked, however slow, and 1 if a measure failed. Throws where there is no sandbox. */
export async function bench(options: BenchArguments): Promise<number> {
  const config = readConfig({ isDotEnvOptional: true });
  const { python = config.sessions.python } = options;
  const { users } = config.sessions;
  // What is printed is not stored beyond what a result keeps, so that the disk is neither filled nor measured.
  const limits = { readableOutputBytes: DEFAULT_LIMITS.keptOutputBytes };
  const runtimeOptions = { preload: [], idleTimeoutMs: null, limits, ...omitUndefined({ python, users }) };
  await using pooled = await openRuntime({ ...runtimeOptions, poolSize: 2 });
  await using unpooled = await openRuntime({ ...runtimeOptions, poolSize: 0 });
  const output = new StandardOutput();
  const close = (): Promise<unknown> => Promise.all([pooled.close(), unpooled.close()]);
  using signals = new SignalHandler({ close }, output);
  using progress = new BenchProgress();
  signals.onStop = () => progress[Symbol.dispose]();
  const code = await signals.race(
    namingPython(options, config, () => measureAll({ pooled, unpooled }, options, output, progress)),
  );
  await output.flush();
  return code;
}

async function measureAll(
  { pooled, unpooled }: Pick<Machine, "pooled" | "unpooled">,
  { json, quick }: BenchArguments,
  output: StandardOutput,
  progress: BenchProgress,
): Promise<number> {
  const began = performance.now();
  progress.show("starting a sandbox");
  const executable = await start(unpooled);
  using plain = new PlainPython(executable);
  const seen = look(unpooled.report(), await plain.isDebugBuild());
  const print = async (line: string): Promise<void> => {
    progress.clear();
    if (!json) await output.write("stdout", `${line}\n`);
  };
  await print(`${toHeader(unpooled, seen)}\n\n${HEADING}`);
  const results: MeasureResult[] = [];
  for (const [at, measure] of MEASURES.entries()) {
    progress.show(`measuring ${at + 1} of ${MEASURES.length}: ${measure.name}`);
    const result = await take(measure, { pooled, unpooled, plain, executable }, quick ? QUICK_BUDGET_MS : BUDGET_MS);
    results.push(result);
    await print(toTableRow(result));
  }
  const { ok, isSlow } = judge(results);
  const hints = isSlow ? hintsOf(seen) : [];
  await print(`\n${LEGEND}\n\n${[toConclusion(ok, isSlow), ...hints].join("\n")}`);
  const durationMs = Math.round(performance.now() - began);
  if (json)
    await output.write("stdout", `${JSON.stringify({ ok, durationMs, machine: seen, measures: results, hints })}\n`);
  return ok ? EXIT.ok : EXIT.error;
}

/** Resolves with the path of the interpreter. Throws EnvironmentUnavailableError. */
async function start(runtime: Runtime): Promise<string> {
  await using session = await runtime.openSession();
  await session.execute("1 + 1").result;
  return runtime.report().python?.executable ?? "python3";
}

async function take(measure: Measure, machine: Machine, budgetMs: number): Promise<MeasureResult> {
  const { unpooled } = machine;
  if (measure.needs !== undefined && !unpooled.report().capabilities[measure.needs]) return toMissing(measure);
  try {
    await using session = await unpooled.openSession();
    return toResult(measure, await sample(measure.prepare(machine, session), budgetMs));
  } catch (error) {
    return toFailure(measure, error);
  }
}

function toHeader(runtime: Runtime, { load, cores, tier }: Seen): string {
  const { python } = runtime.report();
  return [
    `rlm ${VERSION}`,
    `Node ${process.versions.node}`,
    `Python ${python?.version ?? "?"}`,
    `tier ${tier ?? "?"}`,
    `${cores} cores, load ${load.toFixed(1)}`,
  ].join(" · ");
}

function toConclusion(ok: boolean, isSlow: boolean): string {
  if (!ok) return "Something failed. 'rlm doctor' checks the sandbox.";
  return isSlow ? "Everything works, but not as fast as usual." : "Everything works, as fast as usual.";
}
