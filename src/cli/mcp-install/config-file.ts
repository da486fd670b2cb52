// Reads and atomically replaces a configuration file of another program, with a backup.
//
// Links are followed and stay links. The new text is written to a temporary file with the mode and owner of the old one,
// which then replaces it. A file that was changed in between is left alone.

import {
  chownSync,
  closeSync,
  fchmodSync,
  fsyncSync,
  lstatSync,
  openSync,
  readFileSync,
  readdirSync,
  readlinkSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { randomBytes } from "node:crypto";
import { basename, dirname, join, resolve } from "node:path";
import { Refusal } from "./refusal.ts";

const MAX_BYTES = 64 * 1024 * 1024;
const MAX_LINKS = 40;
/** Older backups are removed. */
const KEPT_BACKUPS = 5;
const MARK = "\u{FEFF}";

export interface ConfigFile {
  /** The target, with links resolved. */
  readonly path: string;
  /** Undefined: there is no file. */
  readonly bytes: Buffer | undefined;
  /** Without the byte order mark. Empty if there is no file. */
  readonly text: string;
}

/** Throws a `Refusal` if it is not text. */
export function readConfig(path: string): ConfigFile {
  const target = followLinks(path);
  const bytes = readIfThere(target);
  return { path: target, bytes, text: bytes === undefined ? "" : toText(bytes) };
}

/** Returns the path of the backup; undefined if there was no file. If it fails, nothing has changed. */
export function replaceConfig({ path, bytes }: ConfigFile, text: string): string | undefined {
  const mark = bytes !== undefined && decode(bytes).startsWith(MARK) ? MARK : "";
  const backup = bytes === undefined ? undefined : keepBackup(path, bytes);
  try {
    writeWhole(path, Buffer.from(`${mark}${text}`), bytes);
  } catch (error) {
    if (backup !== undefined) rmSync(backup, { force: true });
    throw error;
  }
  for (const old of backupsOf(path).slice(KEPT_BACKUPS)) rmSync(old, { force: true });
  return backup;
}

/** For a file that contains only our entry. */
export function removeConfig({ path, bytes }: ConfigFile): void {
  checkUnchanged(path, bytes);
  rmSync(path);
}

/** Earlier texts of the file, the latest first. */
export function readBackups(path: string): readonly string[] {
  return backupsOf(path).flatMap((backup) => {
    try {
      return [toText(readIfThere(backup) ?? Buffer.alloc(0))];
    } catch {
      return []; // it is damaged
    }
  });
}

function followLinks(path: string): string {
  let at = resolve(path);
  for (let links = 0; links < MAX_LINKS; links += 1) {
    const status = lstatSync(at, { throwIfNoEntry: false });
    if (status === undefined || !status.isSymbolicLink()) return at;
    at = resolve(dirname(at), readlinkSync(at));
  }
  throw new Refusal("too many links");
}

function readIfThere(path: string): Buffer | undefined {
  const status = statSync(path, { throwIfNoEntry: false });
  if (status === undefined) return undefined;
  if (!status.isFile()) throw new Refusal("it is not a file");
  if (status.size > MAX_BYTES) throw new Refusal("it is larger than 64 MiB");
  return readFileSync(path);
}

function toText(bytes: Buffer): string {
  return decode(bytes).replace(/^\u{FEFF}/u, "");
}

function decode(bytes: Buffer): string {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch (error) {
    throw new Refusal("it is not UTF-8 text", { cause: error });
  }
}

/** `name.bak-20261116T101500Z`; with a counter within the same second, which keeps the order when older ones are removed. */
function keepBackup(path: string, bytes: Buffer): string {
  const name = `${path}.bak-${new Date().toISOString().replaceAll(/[-:]|\.\d+/g, "")}`;
  const [latest] = backupsOf(path).filter((backup) => backup.startsWith(name));
  const backup = latest === undefined ? name : `${name}-${Number(latest.slice(name.length + 1) || 1) + 1}`;
  writeNew(backup, bytes, path);
  return backup;
}

/** The latest first. */
function backupsOf(path: string): readonly string[] {
  const prefix = `${basename(path)}.bak-`;
  return readdirSync(dirname(path))
    .filter((name) => name.startsWith(prefix) && /^\d{8}T\d{6}Z(?:-\d+)?$/.test(name.slice(prefix.length)))
    .toSorted((a, b) => b.localeCompare(a, "en", { numeric: true }))
    .map((name) => join(dirname(path), name));
}

function writeWhole(path: string, data: Buffer, before: Buffer | undefined): void {
  const temporary = join(dirname(path), `.${basename(path)}.${randomBytes(6).toString("hex")}.tmp`);
  try {
    writeNew(temporary, data, before === undefined ? undefined : path);
    checkUnchanged(path, before);
    renameSync(temporary, path);
  } catch (error) {
    rmSync(temporary, { force: true });
    throw error;
  }
}

function checkUnchanged(path: string, before: Buffer | undefined): void {
  const now = readIfThere(path);
  const isSame = before === undefined ? now === undefined : now?.equals(before) === true;
  if (!isSame) throw new Refusal("another program changed it just now; try again");
}

/** With the mode and owner of the file `like`. */
function writeNew(path: string, data: Buffer, like: string | undefined): void {
  const status = like === undefined ? undefined : statSync(like);
  const fd = openSync(path, "wx", status === undefined ? 0o666 : 0o600);
  try {
    writeFileSync(fd, data);
    fsyncSync(fd);
    if (status !== undefined) {
      keepOwner(path, status);
      fchmodSync(fd, status.mode & 0o7777);
    }
  } finally {
    closeSync(fd);
  }
}

/** Only root can change the owner, and only root needs to. */
function keepOwner(path: string, { uid, gid }: { readonly uid: number; readonly gid: number }): void {
  try {
    chownSync(path, uid, gid);
  } catch {
    // it then belongs to the current user, as after an edit
  }
}
