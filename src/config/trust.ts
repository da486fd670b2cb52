// Which configuration files of projects the user has trusted: one small file for each in the data folder, with the digest of the
// content. A file that has changed since is not trusted.
//
// A file is trusted at its place, because its relative paths begin there: a link to a trusted file in another folder is another file.

import { createHash, randomBytes } from "node:crypto";
import {
  existsSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { basename, dirname, join } from "node:path";
import { z } from "zod";
import { dataFolder, dataPath, describeDataFolder } from "../util/data-folder.ts";
import { describeWriteProblem } from "../util/files/file-problem.ts";
import { parseJSON } from "../util/parse-json.ts";

/** `new`: it never was. `changed`: with another content. */
export type TrustState = "trusted" | "changed" | "new";

/** A file and the digest of the content that was read. */
export interface ReadContent {
  readonly path: string;
  readonly digest: string;
}

const FOLDER = "trusted";
const MAX_BYTES = 16 * 1024;
/** A record, or one that is being written. */
const NAME = /^[\da-f]{32}\.json(?:\.[\da-f]{12}\.tmp)?$/;
/** A record is written in an instant. */
const ABANDONED_MS = 60_000;
const record = z.object({ path: z.string(), digest: z.string(), trustedAt: z.string() });

export function trustOf({ path, digest }: ReadContent): TrustState {
  const known = readRecord(recordPath(path));
  if (known?.path !== placeOf(path)) return "new";
  return known.digest === digest ? "trusted" : "changed";
}

/** Throws an error that names the folder if it cannot be written. */
export function trust({ path, digest }: ReadContent): void {
  const folder = dataFolder(FOLDER);
  if (folder === undefined) {
    const why = describeDataFolder(FOLDER);
    throw new Error(`Cannot use the folder ${dataPath(FOLDER)}: ${why}. Set RLM_DATA to a folder of yours`);
  }
  removeStale(folder);
  const target = recordPath(path);
  const temporary = `${target}.${randomBytes(6).toString("hex")}.tmp`;
  const content = { path: placeOf(path), digest, trustedAt: new Date().toISOString() };
  try {
    writeFileSync(temporary, `${JSON.stringify(content)}\n`, { flag: "wx", mode: 0o600 });
    renameSync(temporary, target);
  } catch (error) {
    rmSync(temporary, { force: true });
    const why = describeWriteProblem(target, error);
    throw new Error(`Cannot write to ${folder}: ${why}. Set RLM_DATA to another folder`, { cause: error });
  }
}

/** False: it was not trusted. */
export function untrust(path: string): boolean {
  const target = recordPath(path);
  const isThere = existsSync(target);
  rmSync(target, { force: true });
  return isThere;
}

function recordPath(path: string): string {
  const name = createHash("sha256").update(placeOf(path)).digest("hex").slice(0, 32);
  return join(dataPath(FOLDER), `${name}.json`);
}

/** Its name in the real path of its folder. */
function placeOf(path: string): string {
  return join(realpathSync(dirname(path)), basename(path));
}

/** Undefined: there is none, it is damaged, or others could have written it. */
function readRecord(path: string): z.output<typeof record> | undefined {
  try {
    if (!existsSync(path) || dataFolder(FOLDER) === undefined || statSync(path).size > MAX_BYTES) return undefined;
    return record.safeParse(parseJSON(readFileSync(path, "utf8"))).data;
  } catch {
    return undefined;
  }
}

/** Removes the records of files that are gone, and what a killed process has left. Other files are not ours. */
function removeStale(folder: string): void {
  for (const name of readdirSync(folder).filter((one) => NAME.test(one))) {
    const path = join(folder, name);
    const known = readRecord(path);
    const isStale = known === undefined ? ageOf(path) > ABANDONED_MS : !existsSync(known.path);
    if (isStale) rmSync(path, { force: true });
  }
}

function ageOf(path: string): number {
  return Date.now() - (statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? Date.now());
}
