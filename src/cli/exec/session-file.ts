// --session-file: loads the state at the start and saves it at the end.

import { accessSync, constants, existsSync } from "node:fs";
import type { Runtime } from "../../runtime.ts";
import type { SaveReport } from "../../protocol/session-manifest.ts";
import type { Session } from "../../session/session.ts";
import type { SessionOptions } from "../../session/options.ts";
import { describeWriteProblem, isFolder, nearestFolder } from "../../util/files/file-problem.ts";
import { printError } from "../io/print-error.ts";
import { UsageError } from "../options/usage-error.ts";

/**
 * Opens a session with the state of the file if it exists. Throws if the file cannot be loaded, and leaves it unchanged.
 * Prints on stderr what could not be loaded.
 */
export async function openWithFile(
  runtime: Runtime,
  file: string | undefined,
  options: SessionOptions,
): Promise<Session> {
  if (file !== undefined) checkSaving(file);
  const exists = file !== undefined && existsSync(file);
  const session = await (exists ? runtime.loadSession(file, options) : runtime.openSession(options));
  for (const line of session.loaded === null ? [] : toSkipped(session.loaded, "loaded")) printError(line);
  const { error } = session.stdlib;
  if (error !== null)
    printError(`without the standard library '${runtime.stdlib.path}': ${error.name}: ${error.value}`);
  return session;
}

/** Before anything runs: what code has computed must not be lost because there is no place for it. */
function checkSaving(file: string): void {
  if (file === "") throw new UsageError("--session-file needs a path");
  const refuse = (why: string): never => {
    throw new UsageError(`cannot save to '${file}': ${why}`);
  };
  if (isFolder(file)) refuse("it is a folder. Name a file in it");
  const folder = nearestFolder(file);
  if (!isFolder(folder)) refuse(`'${folder}' is not a folder`);
  try {
    accessSync(folder, constants.W_OK);
  } catch (error) {
    refuse(describeWriteProblem(file, error));
  }
}

/** Prints on stderr what could not be saved. */
export async function saveToFile(session: Session, file: string | undefined): Promise<void> {
  if (file === undefined) return;
  for (const line of toSkipped(await session.save(file), "saved")) printError(line);
}

/** One line per variable that was left out. */
export function toSkipped({ skipped }: Pick<SaveReport, "skipped">, what: "saved" | "loaded"): string[] {
  return skipped.map(({ name, why }) => `not ${what}: ${name}: ${why}`);
}
