// The files of a session as callers see them.

import type { FileChange, FileEntry, FileListing } from "../protocol/files.ts";
import type { Content, Signal } from "./web-types.ts";

/**
 * The files in the working directory of a session. No operation waits for an execution. Paths are relative to the working directory, or
 * absolute below it; a path that leads out of it is a REPLSecurityError.
 */
export interface Files {
  /** A whole file, or a part of it, in memory. */
  read(path: string, options?: FileReadOptions): Promise<Uint8Array>;
  /** Streams a file of any size with backpressure. It is opened when the first piece is requested. */
  readStream(path: string, options?: FileRangeOptions): AsyncIterable<Uint8Array>;
  /** Creates or replaces a file atomically, and creates its parent folders. */
  write(path: string, content: Content, options?: FileOptions): Promise<FileEntry>;
  /** Lists a folder, sorted; with `depth` its subfolders, too. Links are not followed. Default: the working directory. */
  list(path?: string, options?: FileListOptions): Promise<FileListing>;
  /** Describes a file, folder or link. Links are not followed. */
  stat(path: string, options?: FileOptions): Promise<FileEntry>;
  /** Whether there is a file, folder or link of this name. */
  exists(path: string, options?: FileOptions): Promise<boolean>;
  /** Creates a folder and its parents. False: it existed. */
  makeFolder(path: string, options?: FileOptions): Promise<boolean>;
  /** Moves a file, link or folder, and creates parent folders. A file at the new path is replaced. */
  rename(path: string, to: string, options?: FileOptions): Promise<FileEntry>;
  /** Removes a file, a link (not its target), or a folder with its content. */
  remove(path: string, options?: FileOptions): Promise<void>;
  /**
   * Resolves when watching has started. Close the watch, or leave its loop. Default: the working directory. Needs the capability `watch`.
   */
  watch(path?: string, options?: FileWatchOptions): Promise<FileWatch>;
}

/** Options of every operation on files. */
export interface FileOptions {
  /** Aborting ends the operation. A file that was being written is unchanged. */
  readonly signal?: Signal | undefined;
}

/** Which part of a file to read. */
export interface FileRangeOptions extends FileOptions {
  /** In bytes. Default: 0. */
  readonly offset?: number | undefined;
  /** The maximum number of bytes. Default: up to the end as it was when the file was opened. */
  readonly length?: number | undefined;
}

/** How to read a file into memory. */
export interface FileReadOptions extends FileRangeOptions {
  /** Larger content is refused with reason `too-large`. Default: 64 MiB. */
  readonly maxBytes?: number | undefined;
}

/** How to list a folder. */
export interface FileListOptions extends FileOptions {
  /** Levels of folders. Default: 1; at most 64. */
  readonly depth?: number | undefined;
}

/** What to watch. */
export interface FileWatchOptions extends FileOptions {
  /** Also below subfolders. Default: false. */
  readonly recursive?: boolean | undefined;
}

/** Changes as they happen. Ends with the session. */
export interface FileWatch extends AsyncIterable<FileChange>, AsyncDisposable {
  /** Ends the watch. Idempotent. */
  close(): Promise<void>;
}
