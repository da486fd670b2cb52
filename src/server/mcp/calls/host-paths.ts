// HostPaths of the host: which ones sessions see, and where session files may be.
//
// Code in a session can rename and link what is in a folder mounted for writing, at any shortWait. So nothing is opened by a
// path that was checked before: a file is reached one folder at a time from the folder that is allowed, links are not
// followed on the way, and what was reached that way is used through its descriptor.

import { closeSync, constants, fstatSync, mkdirSync, openSync, readdirSync, realpathSync } from "node:fs";
import { basename, extname, isAbsolute, join, normalize, relative, resolve, sep } from "node:path";
import { RLMError } from "../../../errors.ts";
import { isSessionFile } from "../../../store/session-file.ts";
import { resolveMounts } from "../../../environments/mounts.ts";
import type { Mount } from "../../../environments/environment.ts";
import { makeFolder } from "../../../util/data-folder.ts";
import { ArgumentsError } from "../tools/tool.ts";

/** A file that may be used, held open as long as it is. */
export interface OpenedFile extends Disposable {
  /** For whoever opens it: leads to what was checked, whatever has happened to its name. */
  readonly path: string;
  /** For people. */
  readonly shown: string;
  /** Throws what using it threw, with the path that was given in file of the one that was used. */
  readonly fail: (error: unknown) => never;
}

const EXTENSION = ".rlm";
const MAX_LISTED = 20;
/** What is added to it while the file is written must fit into a name, too. */
const MAX_NAME_BYTES = 200;
const { O_RDONLY, O_DIRECTORY, O_NOFOLLOW, O_NONBLOCK } = constants;

export interface HostPathsOptions {
  /** Shown to every session. */
  readonly mounts: readonly Mount[];
  /** Where session files go that are given by name. Made when it is first needed. */
  readonly sessionFiles: string;
  /** Where paths begin that are not absolute. Absent: nowhere. */
  readonly startedIn?: string;
}

export class HostPaths {
  readonly mounts: readonly Mount[];
  readonly sessionFiles: string;
  readonly #startedIn: string | undefined;

  constructor({ mounts, sessionFiles, startedIn }: HostPathsOptions) {
    this.mounts = mounts;
    this.sessionFiles = sessionFiles;
    this.#startedIn = startedIn;
  }

  /**
   * Throws an ArgumentsError that names the hostPaths which are allowed, or says that something else is there which would be
   * lost. HostPaths above the file are made.
   */
  openForSaving(filepath: string): OpenedFile {
    const writable = this.mounts.filter(({ mode }) => mode === "rw").map(({ path }) => path);
    const { root, inner, shown } = this.#locate(filepath, writable, "Sessions cannot be saved at", "it goes to");
    if (root === toReal(resolve(this.sessionFiles))) makeFolder(root);
    const parts = inner.split(sep);
    const name = parts.pop() ?? "";
    const folder = openFolder(root, parts, { isMade: true }, shown);
    const file = hold(folder, join(toPath(folder), name), shown);
    try {
      checkReplaceable(file);
      return file;
    } catch (error) {
      file[Symbol.dispose]();
      throw error;
    }
  }

  openForLoading(filepath: string): OpenedFile {
    const visible = this.mounts.map(({ path }) => path);
    const located = this.#locate(filepath, visible, "Sessions cannot be loaded from", "it is looked for in");
    return openFile(located, isAbsolute(filepath) ? "" : this.#listSaved());
  }

  /**
   * A file that sessions can see; undefined where the path is in none of their hostPaths. One that is not absolute begins
   * in the folder that the server was started in.
   */
  openVisible(path: string): OpenedFile | undefined {
    if (path.includes("\0") || (!isAbsolute(path) && this.#startedIn === undefined)) return undefined;
    const visible = this.mounts.map((mount) => mount.path);
    const located = locate(resolve(this.#startedIn ?? "/", path), visible);
    return located === undefined ? undefined : openFile({ ...located, shown: path });
  }

  #listSaved(): string {
    const names = listFolder(this.sessionFiles).filter((name) => name.endsWith(EXTENSION));
    const shown = names.slice(0, MAX_LISTED).map((name) => basename(name, EXTENSION));
    const more = names.length > shown.length ? `, and ${names.length - shown.length} more` : "";
    return names.length === 0 ? " Nothing is saved yet." : ` Saved: ${shown.join(", ")}${more}.`;
  }

  /** The hostPaths that code sees, in words; empty where there are none. */
  describe(): string {
    return this.mounts.map(({ path, mode }) => `${path} (${mode === "rw" ? "writable" : "read-only"})`).join(", ");
  }

  #locate(filepath: string, allowed: readonly string[], refusal: string, way: string): Located {
    if (filepath.trim() === "" || filepath.includes("\0"))
      throw new ArgumentsError("filepath must be a name or a path.");
    if (Buffer.byteLength(basename(filepath)) > MAX_NAME_BYTES)
      throw new ArgumentsError(`The name of the file is too long: ${MAX_NAME_BYTES} bytes are the most.`);
    if (!isAbsolute(filepath)) {
      const inner = normalize(filepath);
      if (inner.split(sep).includes("..") || inner === "." || inner.endsWith(sep))
        throw new ArgumentsError(`Cannot use '${filepath}': give a name, without '..'.`);
      const root = toReal(resolve(this.sessionFiles));
      const named = extname(inner) === "" ? inner + EXTENSION : inner;
      return { root, inner: named, shown: join(root, named) };
    }
    const located = locate(filepath, [this.sessionFiles, ...allowed]);
    if (located !== undefined) return located;
    const others = allowed.map((path) => `, or a path in ${path}`).join("");
    throw new ArgumentsError(`${refusal} '${filepath}'. Give a name (${way} ${this.sessionFiles})${others}.`);
  }
}

interface Located {
  /** A real path. */
  readonly root: string;
  readonly inner: string;
  readonly shown: string;
}

/** Which of the hostPaths an absolute path is in, by what it leads to now. Throws where it is the folder itself. */
function locate(path: string, hostPaths: readonly string[]): Located | undefined {
  const real = toReal(resolve(path));
  for (const folder of hostPaths) {
    const root = toReal(resolve(folder));
    const inner = relative(root, real);
    if (inner === "") throw new ArgumentsError(`'${path}' is a folder, and a file is needed.`);
    if (inner !== ".." && !inner.startsWith(`..${sep}`) && !isAbsolute(inner)) return { root, inner, shown: path };
  }
  return undefined;
}

/** Of a path whose end need not exist. */
function toReal(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    const parent = resolve(path, "..");
    return parent === path ? path : join(toReal(parent), path.slice(parent.length).replace(/^\/+/, ""));
  }
}

/** `advice` is said after the reason why it cannot be opened. */
function openFile({ root, inner, shown }: Located, advice = ""): OpenedFile {
  const parts = inner.split(sep);
  const name = parts.pop() ?? "";
  const folder = openFolder(root, parts, { isMade: false, advice }, shown);
  try {
    const file = openSync(join(toPath(folder), name), O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
    if (fstatSync(file).isFile()) return hold(file, toPath(file), shown);
    closeSync(file);
    throw new ArgumentsError(`'${shown}' is not a file.`);
  } catch (error) {
    throw explain(error, shown, advice);
  } finally {
    closeSync(folder);
  }
}

/** A descriptor of the folder, reached without following a link. */
function openFolder(
  root: string,
  parts: readonly string[],
  { isMade, advice = "" }: { readonly isMade: boolean; readonly advice?: string },
  shown: string,
): number {
  let folder: number | undefined;
  try {
    folder = openSync(root, O_RDONLY | O_DIRECTORY);
    for (const part of parts) {
      const path = join(toPath(folder), part);
      if (isMade) make(path);
      const next = openSync(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
      closeSync(folder);
      folder = next;
    }
    return folder;
  } catch (error) {
    if (folder !== undefined) closeSync(folder);
    throw explain(error, shown, advice);
  }
}

function listFolder(path: string): readonly string[] {
  try {
    return readdirSync(path);
  } catch {
    return []; // it is made when something is saved
  }
}

function make(path: string): void {
  try {
    mkdirSync(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  }
}

/** By the number of this process, so that one that it starts finds it, too. */
function toPath(descriptor: number): string {
  return `/proc/${process.pid}/fd/${descriptor}`;
}

function hold(descriptor: number, path: string, shown: string): OpenedFile {
  const fail = (error: unknown): never => {
    if (!(error instanceof RLMError) || !error.message.includes(path)) throw error;
    throw new ArgumentsError(`${error.message.replaceAll(path, shown)}.`);
  };
  return { path, shown, fail, [Symbol.dispose]: () => closeSync(descriptor) };
}

const WHY: Readonly<Record<string, string>> = {
  ENOENT: "it does not exist",
  ENOTDIR: "something on the way to it is a file or a link",
  ELOOP: "it is a link that was made a moment ago",
  EACCES: "it may not be opened",
  EROFS: "the file system is read-only",
};

function explain(error: unknown, shown: string, advice = ""): unknown {
  const { code, message } = error as NodeJS.ErrnoException;
  if (code === undefined) return error;
  return new ArgumentsError(`Cannot use '${shown}': ${WHY[code] ?? message}.${advice}`);
}

/** A file is replaced only where it is a session file, or empty. A link is replaced by the file, and never followed. */
function checkReplaceable({ path, shown }: OpenedFile): void {
  let file: number;
  try {
    file = openSync(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT" || code === "ELOOP") return;
    throw explain(error, shown);
  }
  try {
    const stat = fstatSync(file);
    if (stat.isFile() && (stat.size === 0 || isSessionFile(file))) return;
    throw new ArgumentsError(`Cannot save to '${shown}': what is there is no session file. Choose another name.`);
  } finally {
    closeSync(file);
  }
}

/**
 * What sessions see: the folder that the server was started in, read-only, where it may be shown at all, and those that
 * were asked for. Throws a REPLSecurityError for one that was asked for and may not be shown.
 */
export function toMounts(startedIn: string, asked: readonly Mount[]): readonly Mount[] {
  const given = resolveMounts(asked);
  const unique = given.filter(({ path }, at) => given.findLastIndex((other) => other.path === path) === at);
  const start = resolveStart(startedIn);
  const isSeen = start === undefined || unique.some(({ path }) => `${start.path}/`.startsWith(`${path}/`));
  return isSeen ? unique : [start, ...unique];
}

/** Undefined: it is the home directory, the root, or another one that is not for a sandbox. */
function resolveStart(path: string): Mount | undefined {
  try {
    return resolveMounts([{ path, mode: "ro" }])[0];
  } catch {
    return undefined;
  }
}
