// Keeps what V8 compiled of the program in the data folder, so that the next start need not compile it again.
//
// Node 22 and newer do that themselves. Before, V8 checks only that a cache was made by the same V8 for a source of the same length, and a
// broken cache ends the process. So each file begins with a digest of the source and of the cache.

import { createHash } from "node:crypto";
import { readFileSync, readdirSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { Module } from "node:module";
import { basename, dirname, join } from "node:path";
import { Script, constants } from "node:vm";
import { compiledCodeFolder } from "../util/data-folder.ts";

const NAME = "code-cache";
/** Builds and versions of Node, together. */
const MAX_FOLDERS = 8;
const FOLDER = /^[0-9a-f]{16}$/;
const CHUNK = /-[\w-]{8}\.cjs$/;
const DIGEST_BYTES = 32;
/** Whoever writes a file that is older was killed. */
const MAX_WRITE_MS = 60_000;

type Loader = (module: Module, path: string) => void;

/** What this file uses of Node's module loader beyond its types. */
interface Loading {
  /** Since Node 22. */
  readonly enableCompileCache?: (folder: string) => void;
  readonly _extensions: Record<string, Loader>;
}

/** For the chunks in this folder that are loaded from now on. Does nothing if there is no safe place for a cache. */
export function useCodeCache(program: string): void {
  const folder = openFolder(program);
  if (folder === undefined) return;
  const loading = Module as unknown as Loading;
  if (loading.enableCompileCache === undefined) cacheChunks(program, folder, loading._extensions);
  else loading.enableCompileCache(folder);
}

/** The cache of this build for this version of Node. */
function openFolder(program: string): string | undefined {
  try {
    const chunks = readdirSync(program).filter((name) => CHUNK.test(name));
    const key = createHash("sha256").update([process.version, process.arch, program, ...chunks.toSorted()].join("\0"));
    const folder = compiledCodeFolder(join(NAME, key.digest("hex").slice(0, 16)));
    if (folder !== undefined && readdirSync(folder).length === 0)
      process.once("exit", () => removeOldest(dirname(folder)));
    return folder;
  } catch {
    return undefined; // the folder of the program may not be listed
  }
}

function cacheChunks(program: string, folder: string, extensions: Record<string, Loader>): void {
  const compiled = new Map<string, Compiled>();
  const loadDefault = extensions[".js"] as Loader;
  extensions[".cjs"] = (module, path) => {
    if (dirname(path) !== program || !CHUNK.test(path)) return loadDefault(module, path);
    const cache = join(folder, `${basename(path)}.bin`);
    const { isNew, ...made } = compile(path, cache);
    if (isNew) compiled.set(cache, made);
    const run = made.script.runInThisContext() as (...values: unknown[]) => void;
    run.call(module.exports, module.exports, module.require.bind(module), module, path, program);
  };
  process.once("exit", () => {
    for (const [cache, made] of compiled) save(cache, made);
  });
}

interface Compiled {
  readonly script: Script;
  readonly source: Buffer;
}

function compile(path: string, cache: string): Compiled & { readonly isNew: boolean } {
  const source = readFileSync(path);
  const cachedData = read(cache, source);
  const script = new Script(Module.wrap(source.toString("utf8")), {
    filename: path,
    ...(cachedData !== undefined && { cachedData }),
    importModuleDynamically: constants.USE_MAIN_CONTEXT_DEFAULT_LOADER,
  });
  return { script, source, isNew: cachedData === undefined || script.cachedDataRejected === true };
}

/** Undefined: there is none, it is broken, or it was made for another source. */
function read(cache: string, source: Buffer): Buffer | undefined {
  try {
    const file = readFileSync(cache);
    const data = file.subarray(DIGEST_BYTES);
    return digest(source, data).equals(file.subarray(0, DIGEST_BYTES)) ? data : undefined;
  } catch {
    return undefined;
  }
}

/** At the end, when the functions that this command needs are compiled, too. A cache that cannot be written is no failure. */
function save(cache: string, { script, source }: Compiled): void {
  const temporary = `${cache}.new`;
  try {
    const data = script.createCachedData();
    writeFileSync(temporary, Buffer.concat([digest(source, data), data]), { mode: 0o600, flag: "wx" });
    renameSync(temporary, cache);
  } catch (error) {
    const isAnother = (error as NodeJS.ErrnoException).code === "EEXIST"; // another process writes it
    attempt(() => {
      if (!isAnother || Date.now() - statSync(temporary).mtimeMs > MAX_WRITE_MS) rmSync(temporary);
    });
  }
}

function digest(source: Buffer, data: Buffer): Buffer {
  return createHash("sha256").update(source).update(data).digest();
}

function removeOldest(parent: string): void {
  attempt(() => {
    const folders = readdirSync(parent).filter((name) => FOLDER.test(name));
    const byAge = folders
      .map((name) => ({ path: join(parent, name), time: statSync(join(parent, name)).mtimeMs }))
      .toSorted((a, b) => b.time - a.time);
    for (const { path } of byAge.slice(MAX_FOLDERS)) rmSync(path, { recursive: true, force: true });
  });
}

function attempt(work: () => void): void {
  try {
    work();
  } catch {
    // Another process did it, or it cannot be done.
  }
}
