// Files of the host that are copied into a session, and out of one.

import { randomBytes } from "node:crypto";
import { constants } from "node:fs";
import { open, rename, rm, type FileHandle } from "node:fs/promises";
import { FileError, type FileReason } from "../../errors.ts";
import { describeReadProblem, describeWriteProblem, isFolder } from "../../util/files/file-problem.ts";

const REASONS: Readonly<Record<string, FileReason>> = {
  ENOENT: "not-found",
  ENOTDIR: "not-a-folder",
  EISDIR: "is-a-folder",
  ENOSPC: "no-space",
  EDQUOT: "no-space",
};

/** The caller closes it. Throws a FileError with the host's path, also for anything but a regular file. */
export async function openHostFile(path: string): Promise<FileHandle> {
  const fail = (reason: FileReason, why: string, cause?: unknown): FileError =>
    new FileError({ action: "read the host's", path, reason, why }, { cause });
  // Non-blocking: opening a named pipe would otherwise wait for a writer.
  const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK).catch((error: NodeJS.ErrnoException) => {
    if (error.syscall === undefined) throw error; // not a valid path
    throw fail(REASONS[error.code ?? ""] ?? "denied", describeReadProblem(error), error);
  });
  const stat = await file.stat();
  if (stat.isFile()) return file;
  await file.close();
  throw stat.isDirectory() ? fail("is-a-folder", "it is a folder") : fail("not-a-file", "it is not a file");
}

/**
 * Resolves to its size. A file at the path is replaced when all chunks are written. Throws a FileError with the host's path, or what reading
 * the chunks throws; the path is unchanged then.
 */
export async function writeHostFile(path: string, chunks: AsyncIterable<Uint8Array>): Promise<number> {
  const refuse = (error: NodeJS.ErrnoException): never => {
    if (error.syscall === undefined) throw error; // not a valid path
    const reason = isFolder(path) ? "is-a-folder" : (REASONS[error.code ?? ""] ?? "denied");
    const why = describeWriteProblem(path, error);
    throw new FileError({ action: "write the host's", path, reason, why }, { cause: error });
  };
  if (isFolder(path)) refuse(Object.assign(new Error(), { code: "EISDIR", syscall: "open" }));
  const partial = `${path}.${randomBytes(6).toString("hex")}.part`;
  const file = await open(partial, "wx").catch(refuse);
  let size = 0;
  try {
    try {
      for await (const chunk of chunks) {
        await file.writeFile(chunk).catch(refuse);
        size += chunk.length;
      }
    } finally {
      await file.close();
    }
    await rename(partial, path).catch(refuse);
  } catch (error) {
    await rm(partial, { force: true });
    throw error;
  }
  return size;
}
