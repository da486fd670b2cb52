// Opens a file of the host to copy it into a session.

import { constants } from "node:fs";
import { open, type FileHandle } from "node:fs/promises";
import { FileError, type FileReason } from "../../errors.ts";

const REASONS: Readonly<Record<string, FileReason>> = { ENOENT: "not-found", ENOTDIR: "not-a-folder" };

/** The caller closes it. Throws a FileError with the host's path, also for anything but a regular file. */
export async function openHostFile(path: string): Promise<FileHandle> {
  const fail = (reason: FileReason, why: string, cause?: unknown): FileError =>
    new FileError({ action: "read the host's", path, reason, why }, { cause });
  // Non-blocking: opening a named pipe would otherwise wait for a writer.
  const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK).catch((error: NodeJS.ErrnoException) => {
    if (error.syscall === undefined) throw error; // not a valid path
    throw fail(REASONS[error.code ?? ""] ?? "denied", error.message, error);
  });
  const stat = await file.stat();
  if (stat.isFile()) return file;
  await file.close();
  throw stat.isDirectory() ? fail("is-a-folder", "it is a folder") : fail("not-a-file", "it is not a file");
}
