// A host in tier C, as root, as an ordinary user, or as root without capabilities.

import { spawn } from "node:child_process";
import { chmodSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { python } from "../machine.ts";
import { copyForAll } from "../ordinary-user.ts";

export const isRoot = process.getuid?.() === 0;
/** Whom an ordinary host runs as where the suite is root. */
export const USER = 64004;

/** A value as text, or how the execution ended. */
export type Outcome = string | null | { readonly status: string; readonly reason?: string; readonly name?: string };

export interface Way {
  /** A program with arguments that starts the host. */
  readonly through?: readonly string[];
  readonly owner?: { readonly uid: number; readonly gid: number };
  readonly env?: Readonly<Record<string, string>>;
}

export interface Work {
  readonly codes: readonly string[];
  readonly mounts?: readonly object[];
  readonly limits?: object;
  readonly timeoutMs?: number;
}

/** Of a probe, and of `1+1` after it. */
export interface Answer {
  readonly id: string;
  readonly value?: Readonly<Record<string, string>>;
  readonly after?: Readonly<Record<string, string>>;
}

export interface Hosts extends Disposable {
  /** Everybody may write there. */
  readonly folder: string;
  /** Runs codes in one session. Throws if none could be opened. */
  run(way: Way, work: Work): Promise<Outcome[]>;
  /** Runs each in a session of its own. */
  probe(way: Way, probes: readonly object[]): Promise<Answer[]>;
  /** The result of a command that is cancelled when it has printed something. */
  cancelShell(way: Way, command: string): Promise<{ readonly status: string }>;
}

export async function openHosts(): Promise<Hosts> {
  const forAll = await copyForAll();
  const folder = mkdtempSync(join(tmpdir(), "tier-c-hosts-"));
  chmodSync(folder, 0o1777);
  const host = forAll.add(join(import.meta.dirname, "../../fixtures/user-host.mjs"));
  const prober = forAll.add(join(import.meta.dirname, "../../fixtures/hostile-host.mjs"));

  async function ask({ through = [], owner, env = {} }: Way, task: string, input: object): Promise<unknown> {
    const [program, ...args] = [
      ...through,
      forAll.node,
      task === "probe" ? prober : host,
      join(forAll.folder, "dist"),
      task,
    ];
    const place = { PATH: "/usr/bin:/bin:/usr/sbin:/sbin", HOME: forAll.folder, RLM_DATA: forAll.data, TMPDIR: folder };
    const child = spawn(program, args, {
      cwd: "/",
      env: { ...place, RLM_SANDBOX_TIER: "C", TEST_PYTHON: python, ...env },
      ...owner,
    });
    child.stdin.end(JSON.stringify(input));
    const [output, errors] = await Promise.all([text(child.stdout), text(child.stderr)]);
    if (output === "") throw new Error(errors);
    return JSON.parse(output);
  }

  return {
    folder,
    run: async (way, work) => (await ask(way, "run", work)) as Outcome[],
    cancelShell: async (way, command) => (await ask(way, "shell", { command })) as { status: string },
    probe: async (way, probes) => ((await ask(way, "probe", probes)) as { results: Answer[] }).results,
    [Symbol.dispose]() {
      forAll.remove();
      rmSync(folder, { recursive: true });
    },
  };
}

/** Names of errors in place of them. */
export function named(outcomes: readonly Outcome[]): unknown[] {
  return outcomes.map((value) => (typeof value === "object" && value !== null ? (value.name ?? value.reason) : value));
}
