// A recorded run with its outline and an index of its log, both extended as the log grows.
//
// The log is read once, piece by piece, so that the event loop is never held up. Damaged lines are counted and left out.

import type { FileHandle } from "node:fs/promises";
import type { RunId } from "../../../protocol/ids.ts";
import { OutlineBuilder } from "../../../protocol/run-outline/outline-builder.ts";
import type { RunOutline } from "../../../protocol/run-outline/run-outline.ts";
import { parseJSON } from "../../../util/parse-json.ts";
import { LogLines, type LogLine } from "../log-lines.ts";
import type { RunFolder } from "../run-folder.ts";
import { MAX_LINE_BYTES } from "../run-log-format.ts";
import { LineTable } from "./line-table.ts";

/** Read and parsed at once. */
const PIECE_BYTES = 256 * 1024;
/** Of a log. What comes later is not read. */
const MAX_LOG_BYTES = 4 * 1024 ** 3;
/** Approximate memory of a node, span or mark. */
const OBJECT_BYTES = 500;

export class IndexedRun {
  readonly folder: RunFolder;
  #builder: OutlineBuilder;
  #lines = new LineTable();
  /** The end of the last line that was read, or a place in one that is too long. */
  #offset = 0;
  #isInLine = false;
  /** Tells a log from a later one with the same path. */
  #inode: number | undefined;
  /** The updates so far, which run one at a time. */
  #updating: Promise<void> = Promise.resolve();

  constructor(folder: RunFolder) {
    this.folder = folder;
    this.#builder = new OutlineBuilder(folder.id);
  }

  get id(): RunId {
    return this.folder.id;
  }

  get outline(): RunOutline {
    return this.#builder.outline;
  }

  get lines(): LineTable {
    return this.#lines;
  }

  /** Approximate, of memory. */
  get byteSize(): number {
    return this.#lines.byteSize + this.#builder.size * OBJECT_BYTES;
  }

  /** Reads what was recorded since the last update. Throws where the log cannot be read. */
  update(): Promise<void> {
    const updating = this.#updating.then(() => this.#update());
    this.#updating = updating.catch(() => {});
    return updating;
  }

  async #update(): Promise<void> {
    const file = await this.#open();
    if (file === undefined) return;
    try {
      const { ino, size } = await file.stat();
      if (ino !== this.#inode || size < this.#offset) this.#reset(ino);
      const end = Math.min(size, MAX_LOG_BYTES);
      const lines = new LogLines(file, MAX_LINE_BYTES, { offset: this.#offset, end, pieceBytes: PIECE_BYTES });
      for await (const line of lines.read()) this.#add(line);
      if (end - this.#offset > MAX_LINE_BYTES) this.#skipTo(end);
    } finally {
      await file.close();
    }
  }

  /** Undefined: the folder of a run exists a moment before its log. */
  async #open(): Promise<FileHandle | undefined> {
    try {
      return await this.folder.openEvents();
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === "ENOENT" && this.#offset === 0) return undefined;
      throw error;
    }
  }

  #reset(inode: number): void {
    this.#inode = inode;
    this.#offset = 0;
    this.#isInLine = false;
    this.#builder = new OutlineBuilder(this.id);
    this.#lines = new LineTable();
  }

  /** A line that is too long is lost, wherever it ends, and is not read again with every update. */
  #skipTo(offset: number): void {
    this.#offset = offset;
    if (!this.#isInLine) this.#builder.addLostLine();
    this.#isInLine = true;
  }

  #add({ text, offset, bytes }: LogLine): void {
    this.#offset = offset + bytes;
    if (this.#isInLine) {
      this.#isInLine = false;
      return;
    }
    const event = text === null || this.#lines.isFull ? undefined : toEvent(text);
    const position = event === undefined ? undefined : this.#builder.add(event);
    if (position === undefined) this.#builder.addLostLine();
    else this.#lines.add({ offset, bytes }, position);
  }
}

function toEvent(text: string): { readonly type: string } | undefined {
  const value = parseJSON(text);
  const isEvent = typeof value === "object" && value !== null && "type" in value && typeof value.type === "string";
  return isEvent ? (value as { type: string }) : undefined;
}
