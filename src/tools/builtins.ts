// Tools that come with us: code in a sandbox of its own, and files of folders that were named.

import { open, realpath } from "node:fs/promises";
import { isAbsolute, join, relative } from "node:path";
import { z } from "zod";
import { REPLSecurityError } from "../errors.ts";
import { defineTool, type Tool } from "./tool.ts";

interface Executed {
  readonly status: string;
  readonly stdout: string;
  readonly stderr: string;
  readonly value?: Readonly<Record<string, string>>;
  readonly error?: { readonly traceback: string };
}

/** Runs Python in a session that lives for the call. */
export function executeCode(
  execute: (code: string, options: { timeoutMs: number; signal: AbortSignal }) => Promise<Executed>,
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

/** Reads text files in these folders of the host, and nowhere else. */
export function fileRead(folders: readonly string[]): Tool {
  return defineTool({
    name: "file_read",
    description: `Reads a text file. Folders: ${folders.join(", ")}.`,
    schema: z.object({
      path: z.string().max(4096),
      offset: z.number().int().min(0).default(0).describe("first byte"),
      length: z.number().int().min(1).max(MAX_BYTES).default(1_000_000).describe("bytes at most"),
    }),
    handler: async ({ path, offset, length }) => {
      const file = await open(await resolveWithin(path, folders), "r");
      try {
        const { buffer, bytesRead } = await file.read(Buffer.alloc(length), 0, length, offset);
        return buffer.subarray(0, bytesRead).toString("utf8");
      } finally {
        await file.close();
      }
    },
  });
}

/** Links are followed first: what counts is where they lead. */
async function resolveWithin(path: string, folders: readonly string[]): Promise<string> {
  for (const folder of folders) {
    const root = await realpath(folder);
    const real = await realpath(isAbsolute(path) ? path : join(root, path)).catch(() => undefined);
    if (real === undefined) continue;
    const inside = relative(root, real);
    if (inside === "" || (!inside.startsWith("..") && !isAbsolute(inside))) return real;
  }
  throw new REPLSecurityError({
    action: "read",
    target: path,
    environment: "host",
    why: `it is in none of ${folders.join(", ")}`,
  });
}
