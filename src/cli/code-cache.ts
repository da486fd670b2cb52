// Keeps what V8 compiled of the program in the data folder, so that the next start need not compile it again.
//
// V8 checks that a cache was made by the same V8 for a source of the same length, not of the same content. So only chunks are cached,
// whose names contain a hash of their content. Nor does it check that the cache is whole, and a broken one ends the process, so each file
// begins with a digest. A cache is code: it is used only from a folder that nobody else can write to.

import { createHash } from "node:crypto";
import { existsSync, readFileSync, readdirSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { Module } from "node:module";
import { basename, dirname, join } from "node:path";
import { Script, constants } from "node:vm";
import { dataFolder, dataPath } from "../util/data-folder.ts";

const NAME = "code-cache";
/** Builds and versions of Node, together. */
const MAX_FOLDERS = 8;
const DIGEST_BYTES = 32;
const CHUNK = /-[\w-]{8}\.cjs$/;

type Loader = (module: Module, path: string) => void;

/** What this file uses of Node's module loader beyond its types. */
interface Loading {
  /** Since Node 22. */
  readonly enableCompileCache?: (folder: string) => void;
  readonly _extensions: Record<string, Loader>;
}

/** For the chunks in this folder that are loaded from now on. Does nothing if there is no place for a cache. */
export function useCodeCache(program: string): void {
  const chunks = readdirSync(program).filter((name) => CHUNK.test(name));
  const key = createHash("sha256").update([process.version, process.arch, program, ...chunks.toSorted()].join("\0"));
  const name = join(NAME, key.digest("hex").slice(0, 16));
  if (!existsSync(dataPath(name))) process.once("exit", () => removeOldest(dataPath(NAME)));
  const folder = dataFolder(name);
  if (folder === undefined) return;
  const loading = Module as unknown as Loading;
  if (loading.enableCompileCache === undefined) cacheChunks(program, folder, loading._extensions);
  else loading.enableCompileCache(folder);
}

function cacheChunks(program: string, folder: string, extensions: Record<string, Loader>): void {
  const compiled = new Map<string, Script>();
  const loadDefault = extensions[".js"] as Loader;
  extensions[".cjs"] = (module, path) => {
    if (dirname(path) !== program || !CHUNK.test(path)) return loadDefault(module, path);
    const cache = join(folder, `${basename(path)}.bin`);
    const { script, isNew } = compile(path, read(cache));
    if (isNew) compiled.set(cache, script);
    const run = script.runInThisContext() as (...values: unknown[]) => void;
    run.call(module.exports, module.exports, module.require.bind(module), module, path, program);
  };
  process.once("exit", () => save(compiled));
}

function compile(path: string, cachedData: Buffer | undefined): { readonly script: Script; readonly isNew: boolean } {
  const script = new Script(Module.wrap(readFileSync(path, "utf8")), {
    filename: path,
    ...(cachedData !== undefined && { cachedData }),
    importModuleDynamically: constants.USE_MAIN_CONTEXT_DEFAULT_LOADER,
  });
  return { script, isNew: cachedData === undefined || script.cachedDataRejected === true };
}

/** At the end, when the functions that this command needs are compiled, too. */
function save(compiled: ReadonlyMap<string, Script>): void {
  for (const [file, script] of compiled) {
    const temporary = `${file}.${process.pid}`;
    try {
      const data = script.createCachedData();
      writeFileSync(temporary, Buffer.concat([digest(data), data]), { mode: 0o600 });
      renameSync(temporary, file);
    } catch {
      rmSync(temporary, { force: true }); // the disk is full, say
      return;
    }
  }
}

function removeOldest(parent: string): void {
  try {
    const folders = readdirSync(parent).map((name) => join(parent, name));
    const byAge = folders.map((path) => ({ path, time: statSync(path).mtimeMs })).toSorted((a, b) => b.time - a.time);
    for (const { path } of byAge.slice(MAX_FOLDERS)) rmSync(path, { recursive: true, force: true });
  } catch {
    // Another process removes them.
  }
}

/** Undefined: there is none, or it is broken. */
function read(path: string): Buffer | undefined {
  try {
    const file = readFileSync(path);
    const data = file.subarray(DIGEST_BYTES);
    return digest(data).equals(file.subarray(0, DIGEST_BYTES)) ? data : undefined;
  } catch {
    return undefined;
  }
}

function digest(data: Buffer): Buffer {
  return createHash("sha256").update(data).digest();
}
