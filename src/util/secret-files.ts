// Files and folders that usually hold secrets, known by their names.
//
// `rlm run` does not take them as context, and sessions cannot read them in a folder that is shown unasked.

import type { Dirent } from "node:fs";
import { readdir, realpath, stat } from "node:fs/promises";
import { relative } from "node:path";
import { formatCount } from "./text/format.ts";

const FILE = new RegExp(
  [
    String.raw`^\.env(?!\.(?:example|sample|template)$)(?:\..+)?$`,
    String.raw`^(?!(?:example|sample|template)\.env$).+\.env$`,
    String.raw`^\.(?:envrc|netrc|npmrc|pypirc|pgpass|git-credentials|htpasswd)$`,
    String.raw`^(?:id_[a-z0-9]+|credentials)$`,
    String.raw`\.(?:pem|key|p12|pfx|jks|keystore|kdbx|ppk)$`,
  ].join("|"),
  "i",
);
const FOLDER = /^\.(?:ssh|gnupg)$/i;

/** Version control, dependencies and caches: they have many files, and seldom secrets of this project. */
const DEPENDENCIES: ReadonlySet<string> = new Set(
  ".git .hg .svn node_modules __pycache__ .venv .tox .nox .mypy_cache .pytest_cache .ruff_cache .gradle .terraform".split(
    " ",
  ),
);
const VIRTUAL_ENVIRONMENT = "pyvenv.cfg";

const MAX_ENTRIES = 500_000;
const MAX_FOUND = 1_000;
const MAX_DEPTH = 64;
/** Folders that are listed at the same time. */
const AT_ONCE = 32;

export function isSecretFile(name: string): boolean {
  return FILE.test(name);
}

export function isSecretFolder(name: string): boolean {
  return FOLDER.test(name);
}

export function isDependencyFolder(name: string): boolean {
  return DEPENDENCIES.has(name);
}

/**
 * The files and folders below a folder that hold secrets by their names, as relative paths in Latin-1: one character for each byte,
 * because names need not be UTF-8. What a link of such a name leads to is one of them. Folders that cannot be searched are included;
 * those of dependencies are not searched. `folder` is a real path; `held` leads to the same folder whatever is renamed meanwhile. Throws a
 * RangeError if there is too much.
 */
export async function findSecrets(folder: string, held = folder): Promise<readonly string[]> {
  const found = new Set<string>();
  let entries = 0;
  let level = [""];
  for (let depth = 0; level.length > 0; depth += 1) {
    const below: string[] = [];
    if (depth > MAX_DEPTH) for (const path of level.splice(0)) found.add(path);
    while (level.length > 0) {
      const searched = await Promise.all(level.splice(0, AT_ONCE).map((path) => search(folder, held, path)));
      for (const { secrets, folders, count } of searched) {
        for (const path of secrets) found.add(path);
        below.push(...folders);
        entries += count;
      }
      if (entries > MAX_ENTRIES)
        throw new RangeError(`it has more than ${formatCount(MAX_ENTRIES)} entries to search for secrets`);
      if (found.size > MAX_FOUND)
        throw new RangeError(`it has more than ${formatCount(MAX_FOUND)} files that hold secrets by their names`);
    }
    level = below;
  }
  return [...found];
}

interface Searched {
  readonly secrets: readonly string[];
  /** To be searched next. */
  readonly folders: readonly string[];
  readonly count: number;
}

async function search(folder: string, held: string, path: string): Promise<Searched> {
  const entries = await list(toBytes(held, path));
  if (entries === "closed") return { secrets: [path], folders: [], count: 0 };
  if (path !== "" && entries.some(({ name }) => name === VIRTUAL_ENVIRONMENT))
    return { secrets: [], folders: [], count: entries.length };
  const secrets: string[] = [];
  const folders: string[] = [];
  for (const entry of entries) {
    const inner = path === "" ? entry.name : `${path}/${entry.name}`;
    if (entry.isSymbolicLink()) {
      const target = await followSecret(folder, toBytes(held, inner), entry.name);
      if (target !== undefined) secrets.push(target);
    } else if (!entry.isDirectory()) {
      if (isSecretFile(entry.name)) secrets.push(inner);
    } else if (isSecretFolder(entry.name)) secrets.push(inner);
    else if (!isDependencyFolder(entry.name)) folders.push(inner);
  }
  return { secrets, folders, count: entries.length };
}

/** `closed`: the folder exists and cannot be listed. */
async function list(path: Buffer): Promise<Dirent[] | "closed"> {
  try {
    return await readdir(path, { withFileTypes: true, encoding: "latin1" });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "EACCES" || code === "EPERM") return "closed";
    if (code === "ENOENT" || code === "ENOTDIR") return []; // it has just been removed
    throw error;
  }
}

/** What a link of a secret's name leads to. Undefined: nothing in the folder, or no secret. */
async function followSecret(folder: string, path: Buffer, name: string): Promise<string | undefined> {
  if (!isSecretFile(name) && !isSecretFolder(name)) return undefined;
  try {
    const real = await realpath(path, "latin1");
    const isFolder = (await stat(Buffer.from(real, "latin1"))).isDirectory();
    const inner = relative(toLatin1(folder), real);
    const isInside = inner !== "" && inner !== ".." && !inner.startsWith("../");
    return isInside && (isFolder ? isSecretFolder(name) : isSecretFile(name)) ? inner : undefined;
  } catch {
    return undefined; // it leads nowhere
  }
}

function toBytes(folder: string, path: string): Buffer {
  return Buffer.concat([Buffer.from(`${folder}/`), Buffer.from(path, "latin1")]);
}

/** The bytes of a path, one character each. */
export function toLatin1(path: string): string {
  return Buffer.from(path).toString("latin1");
}
