// Runs one probe of the corpus in its own session and describes what did not hold.

import { existsSync } from "node:fs";
import { REPLSecurityError, type Result, type Runtime, type Session, type SessionOptions } from "../internals.ts";
import { TerminalFilter } from "../../src/util/text/terminal-text.ts";
import { comesTrue, descendantsOf, processesWith, proportionalBytes } from "./machine.ts";

export interface Check {
  readonly value_re?: string;
  readonly alive?: true;
  readonly dead?: true;
  readonly sibling_alive?: true;
  readonly max_ms?: number;
  readonly value_int_max?: number;
  readonly value_len_max?: number;
  readonly tree_rss_max_mib?: number;
  readonly host_buffer_max?: number;
  readonly host_file_absent?: string;
  readonly new_session_clean?: string;
  readonly new_session_ok?: true;
  readonly after_close_no_proc?: string;
  readonly sanitize?: true;
  /** A file that the host downloads. */
  readonly export?: string;
  /** Names whose download must fail. */
  readonly export_safe?: readonly string[];
}

export interface Probe {
  readonly id: string;
  readonly category: string;
  readonly language: "python" | "shell" | "pyodide";
  readonly expected: "denied" | "contained" | "harmless" | "works";
  readonly code: string;
  readonly check?: Check;
  readonly timeout?: number;
  readonly sibling_setup?: string;
  /** Limits of its session, in place of the stage's. */
  readonly limits?: SessionOptions["limits"];
  readonly mounts?: SessionOptions["mounts"];
}

export interface Corpus {
  readonly prelude_python: string;
  readonly probes: readonly Probe[];
}

/** A probe of our own; by default Python that must be contained. */
export function toProbe(id: string, code: string, more: Partial<Probe> = {}): Probe {
  return { id, code, category: "own", language: "python", expected: "contained", ...more };
}

/** Where probes run: the sibling is another session, with `mark = 'untouched'` in it. */
export interface Stage {
  readonly runtime: Runtime;
  readonly sibling: Session;
  readonly values: Readonly<Record<string, string>>;
}

interface Seen {
  readonly result: Result;
  readonly text: string;
  readonly elapsedMs: number;
  readonly peakBytes: number;
}

const TIMEOUT_MS = 10_000;

let marks = 7_000_000 + (process.pid % 1000) * 1000;

/** A unique argument for `sleep`. */
export function uniqueSleep(): string {
  return String((marks += 1));
}

/** Substitutes {{NAMES}}; throws for a name without a value. */
export function expand(text: string, values: Readonly<Record<string, string>>): string {
  return text.replace(/\{\{(\w+)\}\}/g, (_, name: string) => {
    const value = values[name];
    if (value === undefined) throw new Error(`The placeholder ${name} has no value`);
    return value;
  });
}

/** What did not hold; empty on success. */
export async function judge(probe: Probe, prelude: string, stage: Stage): Promise<string[]> {
  const { runtime, sibling } = stage;
  const session = await runtime.openSession({
    ...(probe.limits && { limits: probe.limits }),
    ...(probe.mounts && { mounts: probe.mounts }),
  });
  const values = { ...stage.values, SID: session.id, EID: `${session.id}.2`, SLEEPMARK: uniqueSleep() };
  const expanded = JSON.parse(expand(JSON.stringify(probe.check ?? {}), values)) as Check;
  const code = toPython(probe, expand(probe.code, values));
  try {
    (await session.execute(prelude).result).unwrap();
    if (probe.sibling_setup !== undefined) await sibling.execute(probe.sibling_setup).result;
    const seen = await run(session, code, probe);
    const complaints = [
      ...judgeExpectation(probe, seen),
      ...judgeTime(expanded, seen, probe),
      ...judgeNumbers(expanded, seen),
      ...judgeText(expanded, seen),
      ...(await judgeExport(expanded, session)),
      ...(await judgeSession(expanded, seen, session)),
      ...(await judgeSurroundings(expanded, stage, session)),
    ];
    const shown = JSON.stringify(seen.result);
    return complaints.length === 0
      ? []
      : [`${probe.id}:`, ...complaints, `code:\n${code}`, `seen: ${shown.slice(0, 2000)}`];
  } finally {
    await session.close();
  }
}

async function run(session: Session, code: string, probe: Probe): Promise<Seen> {
  const started = performance.now();
  const running = session.execute(code, { timeoutMs: probe.timeout ?? TIMEOUT_MS }).result;
  const peakBytes = probe.check?.tree_rss_max_mib === undefined ? 0 : await samplePeak(running);
  const result = await running;
  return { result, text: textOf(result, probe), elapsedMs: performance.now() - started, peakBytes };
}

/** The peak memory of all descendants of this process while the promise was pending. */
async function samplePeak(running: Promise<unknown>): Promise<number> {
  let over = false;
  let peak = 0;
  const stop = (): void => void (over = true);
  void running.then(stop, stop);
  await comesTrue(() => {
    peak = Math.max(peak, proportionalBytes(descendantsOf(process.pid)));
    return over;
  });
  return peak;
}

function judgeExpectation(probe: Probe, { result, text }: Seen): string[] {
  // Those for Pyodide have no prelude that reports a denial: they raise.
  if (probe.expected === "denied" && probe.language === "pyodide" && result.status !== "error") {
    return [`expected an exception, the value is: ${text}`];
  }
  if (probe.expected === "denied" && probe.language === "python" && !text.startsWith("DENIED")) {
    return [`expected DENIED, the value is: ${text}`];
  }
  if (probe.expected === "works" && result.status !== "ok") return [`expected to work, status is ${result.status}`];
  const pattern = probe.check?.value_re;
  if (pattern !== undefined && !new RegExp(pattern, "s").test(text)) return [`expected /${pattern}/, got: ${text}`];
  return [];
}

/**
 * On a busy machine durations say little. Where the probe must end before its time limit, the reason for the end is
 * checked; where the limit comes first, the duration is, with a tolerance of ten times.
 */
function judgeTime({ max_ms: maxMs }: Check, { result, elapsedMs }: Seen, { timeout }: Probe): string[] {
  if (maxMs === undefined) return [];
  if ((timeout ?? TIMEOUT_MS) > maxMs) return result.reason === "timeout" ? ["only its time limit ended it"] : [];
  return elapsedMs > 10 * maxMs ? [`at most ${maxMs} milliseconds, got ${elapsedMs}`] : [];
}

function judgeNumbers(check: Check, { text, result, peakBytes }: Seen): string[] {
  const facts: [number | undefined, number, string][] = [
    [check.value_len_max, text.length, "characters of value"],
    [check.value_int_max, Number.isNaN(Number(text)) ? 0 : Number(text), "as value"],
    [check.tree_rss_max_mib, peakBytes / 2 ** 20, "MiB in all processes together"],
    [check.host_buffer_max, Math.max(result.stdout.length, result.stderr.length) - 100, "characters of output kept"],
  ];
  return facts.flatMap(([limit, value, what]) =>
    limit !== undefined && value > limit ? [`at most ${limit} ${what}, got ${value}`] : [],
  );
}

/** As the command line shows it: terminal control sequences are removed, colours may stay. */
function judgeText({ sanitize }: Check, { result }: Seen): string[] {
  if (!sanitize) return [];
  const shown = new TerminalFilter().write(result.stdout);
  // oxlint-disable-next-line no-control-regex
  return /\u0007|\u009B|\u001B(?!\[[\d;]*m)/.test(shown) ? [`shown on a terminal: ${JSON.stringify(shown)}`] : [];
}

/** Runs first: what the host gets when it downloads files. */
async function judgeExport({ export: wanted, export_safe: unsafe = [] }: Check, session: Session): Promise<string[]> {
  const complaints: string[] = [];
  if (wanted !== undefined && (await session.files.read(wanted)).length === 0) complaints.push(`${wanted} is empty`);
  for (const name of unsafe) {
    const failure: unknown = await session.files.read(name).catch((error: unknown) => error);
    if (!(failure instanceof REPLSecurityError)) complaints.push(`${name} was not refused: ${String(failure)}`);
  }
  return complaints;
}

/** The session must answer in every case, if need be with a new worker. */
async function judgeSession(check: Check, { result }: Seen, session: Session): Promise<string[]> {
  const complaints: string[] = [];
  if (check.alive && result.state !== "kept") complaints.push(`the state should be kept, it is ${result.state}`);
  if (check.dead && (result.state !== "lost" || result.epoch !== 2)) complaints.push("the state should be lost");
  let after = await session.execute("1+1", { timeoutMs: 20_000 }).result;
  // A broken worker may end with the next execution; its successor then answers.
  if (after.state === "lost" && !check.alive) after = await session.execute("1+1", { timeoutMs: 20_000 }).result;
  if (after.value?.["text/plain"] !== "2") {
    complaints.push(`1+1 afterwards gives ${JSON.stringify(after).slice(0, 500)}`);
  }
  return complaints;
}

async function judgeSurroundings(check: Check, { runtime, sibling }: Stage, session: Session): Promise<string[]> {
  const complaints: string[] = [];
  const { value } = await sibling.execute("mark").result;
  if (value?.["text/plain"] !== "'untouched'") complaints.push("the sibling lost its state");
  if (check.host_file_absent !== undefined && existsSync(check.host_file_absent)) {
    complaints.push(`${check.host_file_absent} exists on the host`);
  }
  if (check.new_session_clean !== undefined || check.new_session_ok) {
    await using fresh = await runtime.openSession();
    const path = check.new_session_clean ?? "/nowhere";
    const answer = await fresh.execute(`import os; os.path.exists(${JSON.stringify(path)})`).result;
    if (answer.value?.["text/plain"] !== "False") complaints.push(`${path} exists in a new session, or it is broken`);
  }
  if (check.after_close_no_proc !== undefined) {
    const mark = check.after_close_no_proc;
    if (processesWith(mark).length === 0) complaints.push(`there was no process with ${mark} to begin with`);
    await session.close();
    if (!(await comesTrue(() => processesWith(mark).length === 0))) complaints.push(`sleep ${mark} is alive`);
  }
  return complaints;
}

function toPython({ language }: Probe, code: string): string {
  if (language !== "shell") return code;
  const command = JSON.stringify(code);
  return `_r = subprocess.run(["/bin/bash", "-c", ${command}], capture_output=True, text=True); print(_r.stdout + _r.stderr)`;
}

/** The value that the probe checks: a string without quotes, shell output, or that the worker is dead. */
function textOf(result: Result, { language }: Probe): string {
  if (result.state === "lost") return `dead: ${result.reason ?? result.exitCode}`;
  if (language === "shell") return result.stdout;
  const value = result.value?.["text/plain"] ?? "";
  return /^(['"]).*\1$/s.test(value) ? value.slice(1, -1) : value;
}

/** As many threads and processes as there may be; its value is their number. For the prelude of the corpus. */
export const THREAD_AND_FORK_BOMB = `import threading
n = 0
try:
    while n < 5000:
        threading.Thread(target=time.sleep, args=(30,), daemon=True).start(); n += 1
        if os.fork() == 0: time.sleep(60); os._exit(0)
        n += 1
except BaseException: pass
n`;
