// Opens runtimes for tests: no preloaded modules, and Debian's interpreter where there is one.

import { existsSync } from "node:fs";
import { openRuntime, type Execution, type Runtime, type RuntimeOptions, type Session } from "./internals.ts";

export const PYTHON = existsSync("/usr/bin/python3") ? "/usr/bin/python3" : "python3";

export function openTestRuntime(options: RuntimeOptions = {}): Promise<Runtime> {
  return openRuntime({ python: PYTHON, preload: [], poolSize: 1, ...options });
}

/** Runs code that must succeed; returns the text of its value. */
export async function valueOf(session: Session, code: string): Promise<string | undefined> {
  return (await session.execute(code).result).unwrap().value?.["text/plain"];
}

/** Python: the command lines of all processes that a session sees, as bytes. */
export const COMMAND_LINES =
  "__import__('subprocess').run('cat /proc/[0-9]*/cmdline 2>/dev/null', shell=True, capture_output=True).stdout";

/** `/work`, but for tier C, in which each session has a folder of the machine. */
export async function workFolderOf(session: Session): Promise<string> {
  return (await valueOf(session, "__import__('os').getcwd()"))?.slice(1, -1) ?? "";
}

/** A session in which this code has run. */
export async function openWith(runtime: Runtime, code: string): Promise<Session> {
  const session = await runtime.openSession();
  (await session.execute(code).result).unwrap();
  return session;
}

/** Starts code that keeps running; returns after its first output. */
export async function begin(session: Session, code: string): Promise<Execution> {
  const execution = session.execute(code, { timeoutMs: null });
  for await (const event of execution) if (event.type === "output-delta") break;
  return execution;
}
