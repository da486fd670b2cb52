// A file of the host that is copied into a session.

import { constants } from "node:fs";
import { open, type FileHandle } from "node:fs/promises";
import { FileError, type FileReason } from "../../errors.ts";

const REASONS: Readonly<Record<string, FileReason>> = { ENOENT: "not-found", ENOTDIR: "not-a-folder" };

/** Whoever opens it closes it. Throws a FileError with the path of the host; only files are opened, so nothing waits. */
export async function openHostFile(path: string): Promise<FileHandle> {
  const fail = (reason: FileReason, why: string, cause?: unknown): FileError =>
    new FileError({ action: "read the host's", path, reason, why }, { cause });
  // Without waiting: opening a named pipe would not return before somebody writes to it.
  const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK).catch((error: NodeJS.ErrnoException) => {
    if (error.syscall === undefined) throw error; // the path is no path
    throw fail(REASONS[error.code ?? ""] ?? "denied", error.message, error);
  });
  const stat = await file.stat();
  if (stat.isFile()) return file;
  await file.close();
  throw stat.isDirectory() ? fail("is-a-folder", "it is a folder") : fail("not-a-file", "it is not a file");
}
