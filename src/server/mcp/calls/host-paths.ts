// Folders of the host: which ones sessions see, and where session files may be.
//
// Code in a session can rename and link files in a writable folder at any time. So a path is never checked first and opened later: a file
// is opened one folder at a time, starting at an allowed folder and without following links, and then used by its descriptor.

import { closeSync, constants, fstatSync, mkdirSync, openSync, readdirSync, realpathSync } from "node:fs";
import { basename, extname, isAbsolute, join, normalize, relative, resolve, sep } from "node:path";
import { RLMError } from "../../../errors.ts";
import { isSessionFile } from "../../../store/session-file.ts";
import { resolveMounts } from "../../../environments/mounts.ts";
import { DEFAULT_ENVIRONMENT } from "../../../environments/registry.ts";
import type { Mount } from "../../../api/local.ts";
import { makeFolder } from "../../../util/data-folder.ts";
import { findSecrets, toLatin1 } from "../../../util/secret-files.ts";
import { ArgumentsError } from "../tools/arguments-error.ts";

/** An allowed file, open until it is disposed. */
export interface OpenedFile extends Disposable {
  /** Leads to the file that was checked, whatever happens to its name. */
  readonly path: string;
  /** For messages. */
  readonly shown: string;
  /** Throws the error with the user's path instead of the internal one. */
  readonly fail: (error: unknown) => never;
}

const SHOW = "The user can show it with the option";
const EXTENSION = ".rlm";
const MAX_LISTED = 20;
/** The temporary name during a write is longer, and must still fit. */
const MAX_NAME_BYTES = 200;
const { O_RDONLY, O_DIRECTORY, O_NOFOLLOW, O_NONBLOCK } = constants;

export interface HostPathsOptions {
  /** Visible in every session. */
  readonly mounts: readonly Mount[];
  /** Where session files that are given by name are stored. Created on demand. */
  readonly sessionFiles: string;
  /** The base of relative paths. Absent: relative paths are not allowed. */
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
   * Throws an ArgumentsError that names the allowed folders, or says that another file would be overwritten. Creates missing parent
   * folders.
   */
  openForSaving(filepath: string): OpenedFile {
    const writable = this.mounts.filter(({ mode }) => mode === "rw").map(({ path }) => path);
    const { root, inner, shown } = this.#locate(filepath, writable, "Sessions cannot be saved at", "it goes to");
    if (root === toReal(resolve(this.sessionFiles))) makeFolder(root);
    const parts = inner.split(sep);
    const name = parts.pop() ?? "";
    const folder = openFolder(root, parts, { isMade: true }, shown);
    const file = toOpenedFile(folder, join(toPath(folder), name), shown);
    try {
      checkReplaceable(file);
      return file;
    } catch (error) {
      file[Symbol.dispose]();
      throw error;
    }
  }

  async openForLoading(filepath: string): Promise<OpenedFile> {
    const visible = this.mounts.map(({ path }) => path);
    const located = this.#locate(filepath, visible, "Sessions cannot be loaded from", "it is looked for in");
    await this.#refuseHidden(located);
    return openFile(located, isAbsolute(filepath) ? "" : this.#listSaved());
  }

  /**
   * A file that sessions can see; undefined: the path is in none of their folders. A relative path starts in the folder that the server was
   * started in. Throws an ArgumentsError for a file that is hidden.
   */
  async openVisible(path: string): Promise<OpenedFile | undefined> {
    if (path.includes("\0") || (!isAbsolute(path) && this.#startedIn === undefined)) return undefined;
    const visible = this.mounts.map((mount) => mount.path);
    const located = locate(resolve(this.#startedIn ?? "/", path), visible);
    if (located === undefined) return undefined;
    const file = { ...located, shown: path };
    await this.#refuseHidden(file);
    return openFile(file);
  }

  /** The host opens no file that sessions cannot read because it holds secrets. Those that were created meanwhile count as well. */
  async #refuseHidden({ root, inner, shown }: Located): Promise<void> {
    const mount = this.mounts.find(({ path, hideSecrets }) => hideSecrets === true && toReal(resolve(path)) === root);
    if (mount === undefined) return;
    const hidden = await findSecrets(root).catch((error: Error) => {
      throw new ArgumentsError(`Cannot use '${shown}': ${error.message}. ${SHOW} --mount ${root}.`);
    });
    const name = toLatin1(inner);
    if (hidden.some((path) => name === path || name.startsWith(`${path}/`)))
      throw new ArgumentsError(
        `Cannot use '${shown}': by its name it holds secrets, so it is hidden. ${SHOW} --mount ${join(root, inner)}.`,
      );
  }

  #listSaved(): string {
    const names = listFolder(this.sessionFiles).filter((name) => name.endsWith(EXTENSION));
    const shown = names.slice(0, MAX_LISTED).map((name) => basename(name, EXTENSION));
    const more = names.length > shown.length ? `, and ${names.length - shown.length} more` : "";
    return names.length === 0 ? " Nothing is saved yet." : ` Saved: ${shown.join(", ")}${more}.`;
  }

  /** The visible folders, for messages; empty: there are none. */
  describe(): string {
    return this.mounts.map((mount) => `${mount.path} (${describeMode(mount)})`).join(", ");
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

function describeMode({ mode, hideSecrets }: Mount): string {
  const access = mode === "rw" ? "writable" : "read-only";
  return hideSecrets === true ? `${access}; secrets such as .env are hidden` : access;
}

interface Located {
  /** A real path. */
  readonly root: string;
  readonly inner: string;
  readonly shown: string;
}

/** Finds the innermost folder that an absolute path is in, with links resolved. Throws when the path is the folder itself. */
function locate(path: string, hostPaths: readonly string[]): Located | undefined {
  const real = toReal(resolve(path));
  const roots = hostPaths.map((folder) => toReal(resolve(folder)));
  for (const root of roots.toSorted((a, b) => b.length - a.length)) {
    const inner = relative(root, real);
    if (inner === "") throw new ArgumentsError(`'${path}' is a folder, and a file is needed.`);
    if (inner !== ".." && !inner.startsWith(`..${sep}`) && !isAbsolute(inner)) return { root, inner, shown: path };
  }
  return undefined;
}

/** The real path, though its end need not exist. */
function toReal(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    const parent = resolve(path, "..");
    return parent === path ? path : join(toReal(parent), path.slice(parent.length).replace(/^\/+/, ""));
  }
}

/** `advice` is appended to the error message. */
function openFile({ root, inner, shown }: Located, advice = ""): OpenedFile {
  const parts = inner.split(sep);
  const name = parts.pop() ?? "";
  const folder = openFolder(root, parts, { isMade: false, advice }, shown);
  try {
    const file = openSync(join(toPath(folder), name), O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
    if (fstatSync(file).isFile()) return toOpenedFile(file, toPath(file), shown);
    closeSync(file);
    throw new ArgumentsError(`'${shown}' is not a file.`);
  } catch (error) {
    throw explain(error, shown, advice);
  } finally {
    closeSync(folder);
  }
}

/** Opens a folder without following links, and returns its descriptor. */
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
      if (isMade) makeSubfolder(path);
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
    return []; // it is created by the first save
  }
}

function makeSubfolder(path: string): void {
  try {
    mkdirSync(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  }
}

/** With the process id, so that child processes can open it, too. */
function toPath(descriptor: number): string {
  return `/proc/${process.pid}/fd/${descriptor}`;
}

function toOpenedFile(descriptor: number, path: string, shown: string): OpenedFile {
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

/** Only a session file or an empty file may be replaced. A link is replaced itself, and never followed. */
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
 * The folders that sessions see: the one that the server was started in, read-only, without its secrets and where allowed, and the requested
 * ones. Throws a REPLSecurityError for a requested folder that is not allowed.
 */
export function toMounts(startedIn: string, requested: readonly Mount[]): readonly Mount[] {
  const resolved = resolveMounts(requested, DEFAULT_ENVIRONMENT);
  const unique = resolved.filter(({ path }, at) => resolved.findLastIndex((other) => other.path === path) === at);
  const start = resolveStart(startedIn);
  const isSeen = start === undefined || unique.some(({ path }) => `${start.path}/`.startsWith(`${path}/`));
  return isSeen ? unique : [start, ...unique];
}

/** Undefined: it is the home directory, the root, or another one that must not be mounted. */
function resolveStart(path: string): Mount | undefined {
  try {
    return resolveMounts([{ path, mode: "ro", hideSecrets: true, isOptional: true }], DEFAULT_ENVIRONMENT)[0];
  } catch {
    return undefined;
  }
}
