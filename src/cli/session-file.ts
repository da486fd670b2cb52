// A session file named on the command line: its state at the beginning, the new state at the end.

import { existsSync } from "node:fs";
import type { Runtime, Session, SessionOptions } from "../runtime.ts";
import { complain } from "./complain.ts";
import { abilitiesOf, runtimeAbilitiesOf, type SaveReport } from "./repl/abilities.ts";
import { UsageError } from "./usage-error.ts";

/** With the state of the file where there is one. What is wrong with the file is thrown, and the file stays as it is. */
export async function openWithFile(
  runtime: Runtime,
  file: string | undefined,
  options: SessionOptions,
): Promise<Session> {
  if (file === undefined || !existsSync(file)) return runtime.openSession(options);
  const loading = runtimeAbilitiesOf(runtime).loadSession?.(file, options);
  if (loading === undefined) throw new UsageError("--session-file is not available in this version");
  const session = await loading;
  const { loaded } = abilitiesOf(session);
  for (const line of loaded ? toSkipped(loaded, "loaded") : []) complain(line);
  return session;
}

/** Says on stderr what could not be saved. */
export async function saveToFile(session: Session, file: string | undefined): Promise<void> {
  if (file === undefined) return;
  const report = await abilitiesOf(session).save?.(file);
  for (const line of report === undefined ? [] : toSkipped(report, "saved")) complain(line);
}

/** One line for each variable that was left out. */
export function toSkipped({ skipped }: Pick<SaveReport, "skipped">, what: "saved" | "loaded"): string[] {
  return skipped.map(({ name, why }) => `not ${what}: ${name}: ${why}`);
}
