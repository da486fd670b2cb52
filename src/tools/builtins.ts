// Built-in tools: run code in a sandbox of its own, and read files in named folders.

import { constants } from "node:fs";
import { open, readlink, realpath, type FileHandle } from "node:fs/promises";
import { isAbsolute, relative, resolve, sep } from "node:path";
import { z } from "zod";
import type { Signal } from "../api/web-types.ts";
import { REPLSecurityError } from "../errors.ts";
import { trimBrokenEnd } from "../util/text/utf8.ts";
import { defineTool, type Tool } from "./tool.ts";

const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = constants;

/** The part of a result that the tool passes on. */
interface ExecuteResult {
  /** As in the result of an execution. */
  readonly status: string;
  /** What the code printed. */
  readonly stdout: string;
  /** What the code printed on standard error. */
  readonly stderr: string;
  /** The last bare expression, by MIME type. */
  readonly value?: Readonly<Record<string, string>>;
  /** The exception that ended it. */
  readonly error?: {
    /** As Python prints it. */
    readonly traceback: string;
  };
}

/** Runs Python in a session that exists for the call only. */
export function executeCode(
  execute: (code: string, options: { readonly timeoutMs: number; readonly signal: Signal }) => Promise<ExecuteResult>,
): Tool {
  return defineTool({
    name: "execute_code",
    description: "Runs Python code in a fresh sandbox, apart from this session, and gives what it printed.",
    schema: z.object({
      code: z.string(),
      timeout: z.number().positive().max(600).default(55).describe("seconds"),
    }),
    handler: async ({ code, timeout }, { signal }) => {
      const { status, stdout, stderr, value, error } = await execute(code, { timeoutMs: timeout * 1000, signal });
      return { status, stdout, stderr, value: value?.["text/plain"] ?? null, error: error?.traceback ?? null };
    },
  });
}

const MAX_BYTES = 10 * 1024 * 1024;

/** Reads regular files in these folders of the host and nowhere else. Links are followed, and their targets must be in the folders, too. */
export function fileRead(folders: readonly string[]): Tool {
  return defineTool({
    name: "file_read",
    description:
      `Reads a text file in ${folders.join(", ")}. Gives a dict: text, total_bytes, and next_offset, which is None at the end. ` +
      "Parts read one after the other make up the file.",
    schema: z.object({
      path: z.string().max(4096),
      offset: z.number().int().min(0).default(0).describe("first byte"),
      length: z.number().int().min(4).max(MAX_BYTES).default(1_000_000).describe("bytes at most"),
    }),
    handler: async ({ path, offset, length }) => {
      const file = await openWithin(path, folders);
      try {
        return await readPart(file, offset, length);
      } finally {
        await file.close();
      }
    },
  });
}

/** Throws a REPLSecurityError, the same for a missing file and for one outside of the folders. */
async function openWithin(path: string, folders: readonly string[]): Promise<FileHandle> {
  const roots = (await Promise.all(folders.map((folder) => realpath(folder).catch(() => [])))).flat();
  for (const root of roots) {
    const real = await realpath(resolve(root, path)).catch(() => undefined);
    if (real === undefined || !isWithin(root, real)) continue;
    const file = await open(real, O_RDONLY | O_NOFOLLOW | O_NONBLOCK); // opening a FIFO would wait for a writer
    try {
      // A folder in the path may have been replaced by a link since.
      if (!isWithin(root, await openedPath(file, real))) throw refuse(path, `it is in none of ${folders.join(", ")}`);
      if ((await file.stat()).isFile()) return file;
      throw refuse(path, "it is not a regular file");
    } catch (error) {
      await file.close();
      throw error;
    }
  }
  throw refuse(path, `there is no such file in ${folders.join(", ")}`);
}

/** The path of an open file according to the kernel, or the path it was opened by where that is not available. */
async function openedPath(file: FileHandle, path: string): Promise<string> {
  return readlink(`/proc/self/fd/${file.fd}`).catch(() => path);
}

function isWithin(root: string, path: string): boolean {
  const inside = relative(root, path);
  return inside !== ".." && !inside.startsWith(`..${sep}`) && !isAbsolute(inside);
}

/** Ends at a character boundary, so that parts can be concatenated. */
async function readPart(file: FileHandle, offset: number, length: number): Promise<Record<string, unknown>> {
  const { size } = await file.stat();
  const wanted = Math.max(0, Math.min(length, size - offset));
  const { buffer, bytesRead } = await file.read(Buffer.alloc(wanted), 0, wanted, Math.min(offset, size));
  const read = buffer.subarray(0, bytesRead);
  const isLast = offset + bytesRead >= size || bytesRead === 0;
  const part = isLast ? read : trimBrokenEnd(read);
  return { text: part.toString("utf8"), total_bytes: size, next_offset: isLast ? null : offset + part.length };
}

function refuse(path: string, why: string): REPLSecurityError {
  return new REPLSecurityError({ action: "read", target: path, environment: "host", why });
}
