// The file operations of a session without a fork server, in the host's process: the same requests and answers as
// python/forkserver/files/operations.py has.
//
// Only regular files are read and written. A file is written under a temporary name and then renamed. Changes cannot be watched.

import { randomBytes } from "node:crypto";
import { closeSync, constants, lstatSync, readlinkSync, type BigIntStats } from "node:fs";
import { mkdir, open, rename, unlink } from "node:fs/promises";
import { dirname } from "node:path";
import { removeTree, walk } from "./folder-tree.ts";
import { openFolder, openInner, OutsideFolder, type InnerPath } from "./inner-path.ts";

const PIECE_BYTES = 64 * 1024;
const MAX_ENTRIES = 10_000;
const REASONS: Readonly<Record<string, string>> = {
  ENOENT: "not-found",
  EEXIST: "exists",
  ENOTEMPTY: "exists",
  ENOTDIR: "not-a-folder",
  EISDIR: "is-a-folder",
  ENOSPC: "no-space",
  EDQUOT: "no-space",
  EFBIG: "too-large",
  ELOOP: "refused",
};

/** How an operation talks to whoever asked. `send` waits until there is room. */
export interface JobChannel {
  send(answer: object, payload?: Uint8Array): Promise<void>;
  /** The content to write. */
  payloads(): AsyncIterable<Uint8Array>;
}

class Failure extends Error {
  readonly reason: string;
  constructor(reason: string, why: string) {
    super(why);
    this.reason = reason;
  }
}

/** Handles one request. Never rejects because of what is in the folder. */
export async function handleRequest(
  folder: string,
  request: Readonly<Record<string, unknown>>,
  channel: JobChannel,
): Promise<void> {
  try {
    const op = toText(request["do"]);
    const operation = OPERATIONS[op];
    if (operation === undefined) throw new Failure("denied", `the seat-belt tier does not support '${op}'`);
    const paths: InnerPath[] = [];
    const find = (name: "path" | "to", options = {}): InnerPath => {
      const found = openInner(folder, toText(request[name]), options);
      paths.push(found);
      return found;
    };
    try {
      await operation(find, request, channel);
    } finally {
      for (const path of paths) path.close();
    }
  } catch (error) {
    await channel.send({ type: "error", ...explain(error) });
  }
}

function explain(error: unknown): { readonly reason: string; readonly why: string } {
  if (error instanceof OutsideFolder) return { reason: "refused", why: error.message };
  if (error instanceof Failure) return { reason: error.reason, why: error.message };
  const { code = "", message } = error as NodeJS.ErrnoException;
  return { reason: REASONS[code] ?? "denied", why: message.replace(/^\w+: ([^,]*),.*$/s, "$1") };
}

type Find = (name: "path" | "to", options?: { readonly make?: boolean }) => InnerPath;
type Operation = (find: Find, request: Readonly<Record<string, unknown>>, channel: JobChannel) => Promise<void>;

const OPERATIONS: Readonly<Record<string, Operation>> = {
  async read(find, request, channel) {
    const { at } = find("path");
    checkRegular(look(at));
    const file = await open(at, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    try {
      const found = await file.stat({ bigint: true });
      checkRegular(found);
      const size = Number(found.size);
      let offset = toNumber(request["offset"]) ?? 0;
      let left = Math.min(Math.max(0, size - offset), toNumber(request["length"]) ?? Infinity);
      const most = toNumber(request["maxBytes"]) ?? Infinity;
      if (left > most)
        throw new Failure("too-large", `it has ${left} bytes to read, and at most ${most} are taken at once`);
      const version = [found.size, found.mtimeNs, found.ino].map((part) => part.toString(16)).join("-");
      await channel.send({ type: "size", size, modifiedMs: Number(found.mtimeMs), version });
      while (left > 0) {
        const buffer = Buffer.alloc(Math.min(left, PIECE_BYTES));
        const { bytesRead } = await file.read(buffer, 0, buffer.length, offset);
        if (bytesRead === 0) break; // it was truncated meanwhile
        await channel.send({ type: "data", bytes: bytesRead }, buffer.subarray(0, bytesRead));
        offset += bytesRead;
        left -= bytesRead;
      }
    } finally {
      await file.close();
    }
    await channel.send({ type: "done" });
  },

  async write(find, request, channel) {
    if (toText(request["path"]).endsWith("/")) throw new Failure("is-a-folder", "it names a folder");
    const target = find("path", { make: true });
    if (target.path === "") throw new Failure("is-a-folder", "it is the working directory");
    const mode = modeToKeep(target.at);
    const temporary = `${dirname(target.at)}/.rlm-${randomBytes(8).toString("hex")}.tmp`;
    const file = await open(
      temporary,
      constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW,
      0o600,
    );
    try {
      for await (const chunk of channel.payloads()) await file.writeFile(chunk);
      await file.chmod(mode);
      await rename(temporary, target.at);
    } catch (error) {
      await unlink(temporary).catch(() => {});
      throw error;
    } finally {
      await file.close();
    }
    await channel.send(toEntry(target.at, target.path));
    await channel.send({ type: "done" });
  },

  async stat(find, _request, channel) {
    const { at, path } = find("path");
    await channel.send(toEntry(at, path));
    await channel.send({ type: "done" });
  },

  async list(find, request, channel) {
    const { at, path } = find("path");
    if (!look(at).isDirectory()) throw new Failure("not-a-folder", "it is not a folder");
    const folder = openFolder(at);
    let count = 0;
    try {
      for await (const entry of walk(folder, toNumber(request["depth"]) ?? 1)) {
        count += 1;
        if (count <= MAX_ENTRIES)
          await channel.send(describe(entry.found, entry.at, path === "" ? entry.path : `${path}/${entry.path}`));
      }
    } finally {
      closeSync(folder.fd);
    }
    await channel.send({ type: "done", omitted: Math.max(0, count - MAX_ENTRIES) });
  },

  async "make-folder"(find, _request, channel) {
    const { at, path } = find("path", { make: true });
    let made = false;
    if (path !== "") {
      try {
        await mkdir(at, 0o755);
        made = true;
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== "EEXIST" || !look(at).isDirectory()) throw error;
      }
    }
    await channel.send({ type: "done", made });
  },

  async rename(find, _request, channel) {
    const source = find("path");
    look(source.at);
    const target = find("to", { make: true });
    if (source.path === "" || target.path === "") throw new Failure("denied", "the working directory cannot be moved");
    await rename(source.at, target.at);
    await channel.send(toEntry(target.at, target.path));
    await channel.send({ type: "done" });
  },

  async remove(find, _request, channel) {
    const { folder, name, path } = find("path");
    if (path === "") throw new Failure("denied", "the working directory cannot be removed");
    await removeTree(folder, name);
    await channel.send({ type: "done" });
  },
};

function toEntry(at: string, path: string): object {
  return describe(look(at), at, path);
}

function describe(found: BigIntStats, at: string, path: string): object {
  const kind = found.isFile() ? "file" : found.isDirectory() ? "folder" : found.isSymbolicLink() ? "link" : "other";
  return {
    type: "entry",
    name: path === "" ? "." : path.slice(path.lastIndexOf("/") + 1),
    path: path === "" ? "." : path,
    kind,
    size: kind === "file" ? Number(found.size) : 0,
    modifiedMs: Number(found.mtimeMs),
    mode: Number(found.mode) & 0o7777,
    ...(kind === "link" && { target: targetOf(at) }),
  };
}

/** Empty for a link that was replaced meanwhile. */
function targetOf(at: string): string {
  try {
    return readlinkSync(at);
  } catch {
    return "";
  }
}

function look(at: string): BigIntStats {
  return lstatSync(at, { bigint: true });
}

function checkRegular(found: BigIntStats): void {
  if (found.isSymbolicLink()) throw new OutsideFolder("it is a link");
  if (found.isDirectory()) throw new Failure("is-a-folder", "it is a folder");
  if (!found.isFile()) throw new Failure("not-a-file", "it is neither a file nor a folder");
}

function modeToKeep(at: string): number {
  let found: BigIntStats;
  try {
    found = look(at);
  } catch {
    return 0o644;
  }
  checkRegular(found);
  return Number(found.mode) & 0o777;
}

function toText(value: unknown): string {
  return typeof value === "string" ? value : "";
}

function toNumber(value: unknown): number | undefined {
  return typeof value === "number" ? value : undefined;
}
