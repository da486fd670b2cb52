// Temporary names of files that are being written, and the removal of those that a killed process left.
//
// A name tells which process writes the file: its number, its start time, and a digest of the boot and the process namespace in which
// they mean something. A file is removed when its writer has ended; where that cannot be known, when it has not changed for a day.

import { createHash, randomBytes } from "node:crypto";
import { readFileSync, readlinkSync } from "node:fs";
import { lstat, opendir, unlink } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { startOfProcess } from "../util/start-of-process.ts";

const NAME = /^\..+\.rlm-(?<where>[0-9a-f]{8})-(?<pid>\d+)-(?<since>\d+)-[0-9a-f]{12}\.tmp$/s;
const MAX_ENTRIES = 10_000;
const FOREIGN_MS = 24 * 3_600_000;

/** A new name beside the path. */
export function temporaryName(path: string): string {
  const writer = `${whereAmI()}-${process.pid}-${startOfProcess(process.pid) ?? 0}`;
  return join(dirname(path), `.${basename(path)}.rlm-${writer}-${randomBytes(6).toString("hex")}.tmp`);
}

/** Removes what killed processes of this user left in a folder, among its first entries. Fails silently: it is tried again. */
export async function removeAbandoned(folder: string): Promise<void> {
  let entries = 0;
  try {
    for await (const { name } of await opendir(folder)) {
      entries += 1;
      if (entries > MAX_ENTRIES) return;
      if (NAME.test(name) && (await isAbandoned(folder, name))) await unlink(join(folder, name)).catch(() => {});
    }
  } catch {
    // it cannot be listed
  }
}

async function isAbandoned(folder: string, name: string): Promise<boolean> {
  const { where, pid, since } = NAME.exec(name)?.groups ?? {};
  const status = await lstat(join(folder, name)).catch(() => undefined); // removed meanwhile
  if (status === undefined || !status.isFile() || status.uid !== process.getuid?.()) return false;
  if (where !== whereAmI() || since === "0") return Date.now() - status.mtimeMs > FOREIGN_MS;
  return startOfProcess(Number(pid)) !== since;
}

/** Where process numbers are those of this process: differs between machines, containers and boots. */
function whereAmI(): string {
  const read = (path: string, how: (path: string) => string): string => {
    try {
      return how(path);
    } catch {
      return "";
    }
  };
  const boot = read("/proc/sys/kernel/random/boot_id", (path) => readFileSync(path, "utf8"));
  const namespace = read("/proc/self/ns/pid", readlinkSync);
  return createHash("sha256").update(`${boot} ${namespace}`).digest("hex").slice(0, 8);
}
