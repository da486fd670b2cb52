// Searches the texts of one recorded run for one pattern, those in blobs included.

import type { FileHandle } from "node:fs/promises";
import { setImmediate } from "node:timers/promises";
import { isBlobReference, type BlobReference } from "../../../protocol/run-outline/stored-text.ts";
import { isTooDeep } from "../../../util/bytes/json-depth.ts";
import { parseJSON } from "../../../util/parse-json.ts";
import type { RunFolder } from "../run-folder.ts";
import { MAX_DEPTH as BLOB_DEPTH } from "../run-log-format.ts";
import type { Found, TextPattern } from "./text-pattern.ts";

const PIECE_BYTES = 256 * 1024;
/** Searched at once. A text that nearly matches everywhere takes some milliseconds for so much. */
const PIECE_CHARACTERS = 64 * 1024;
/** Of one event. What is longer is searched up to there. */
const MAX_EVENT_BYTES = 64 * 1024 * 1024;
/** Of one event. */
const MAX_EVENT_TEXTS = 10_000;
/** A value as JSON. A larger one is searched as text. */
const MAX_DATA_BYTES = 4 * 1024 * 1024;
const MAX_DEPTH = 100;
/** Blobs whose result is kept: a prompt may be in thousands of calls. */
const MAX_KNOWN = 10_000;

export class TextSearch {
  readonly #folder: RunFolder;
  readonly #pattern: TextPattern;
  readonly #signal: AbortSignal | undefined;
  readonly #known = new Map<string, Found | undefined>();
  /** Blobs are read one after the other. */
  readonly #piece = Buffer.allocUnsafe(PIECE_BYTES);
  #bytesLeft = MAX_EVENT_BYTES;
  #textsLeft = MAX_EVENT_TEXTS;
  /** Characters that were searched since other work went on. */
  #heldCharacters = 0;

  constructor(folder: RunFolder, pattern: TextPattern, signal?: AbortSignal) {
    this.#folder = folder;
    this.#pattern = pattern;
    this.#signal = signal;
  }

  /** Call before the texts of each event: what one may cost is limited. */
  beginEvent(): void {
    this.#bytesLeft = MAX_EVENT_BYTES;
    this.#textsLeft = MAX_EVENT_TEXTS;
  }

  /** The first occurrence in a text, a reference, or data with both. Damaged blobs are left out. */
  async find(value: unknown, depth = 0): Promise<Found | undefined> {
    if (this.#textsLeft <= 0 || depth > MAX_DEPTH) return undefined;
    this.#textsLeft -= 1;
    if (typeof value === "string") return this.#findInText(value);
    if (typeof value === "number" || typeof value === "boolean") return this.#pattern.findIn(String(value));
    if (typeof value !== "object" || value === null) return undefined;
    if (isBlobReference(value)) return this.#findInBlob(value, depth);
    // Not all of its entries at once: there may be millions.
    const keys = Array.isArray(value) ? value.keys() : Object.keys(value);
    for (const key of keys) {
      if (this.#textsLeft <= 0) return undefined;
      const item = (value as Readonly<Record<string | number, unknown>>)[key];
      const found =
        (typeof key === "string" ? this.#pattern.findIn(key) : undefined) ?? (await this.find(item, depth + 1));
      if (found !== undefined) return found;
    }
    return undefined;
  }

  /** Whether a value may have it, as far as its JSON text shows. */
  async mayBeIn(json: string): Promise<boolean> {
    return !this.#pattern.isSameInJSON || (await this.#findInText(json)) !== undefined;
  }

  /** Piece by piece, as in a file. Other work goes on between two pieces. */
  async #findInText(text: string): Promise<Found | undefined> {
    if (text.length <= PIECE_CHARACTERS) {
      await this.#makeWay(text.length);
      return this.#pattern.findIn(text);
    }
    const { reach } = this.#pattern;
    for (let start = 0; ; start += PIECE_CHARACTERS) {
      await this.#makeWay(PIECE_CHARACTERS);
      const end = start + PIECE_CHARACTERS + 2 * reach;
      const isLast = end >= text.length;
      const found = this.#pattern.findIn(text.slice(start, end));
      if (found !== undefined && (isLast || found.index + reach <= end - start)) return found;
      if (isLast) return undefined;
    }
  }

  /** Before so many characters are searched. Many short texts hold up others as long as a long one. */
  async #makeWay(characters: number): Promise<void> {
    this.#heldCharacters += characters;
    if (this.#heldCharacters < PIECE_CHARACTERS) return;
    this.#heldCharacters = 0;
    await setImmediate();
    this.#signal?.throwIfAborted();
  }

  async #findInBlob(reference: BlobReference, depth: number): Promise<Found | undefined> {
    const { $blob: digest } = reference;
    if (this.#known.has(digest)) return this.#known.get(digest);
    const found = await this.#readBlob(reference, depth).catch((error: unknown) => {
      this.#signal?.throwIfAborted();
      if (error instanceof Error) return undefined; // missing or damaged
      throw error;
    });
    if (this.#known.size < MAX_KNOWN) this.#known.set(digest, found);
    return found;
  }

  async #readBlob({ $blob: digest, encoding }: BlobReference, depth: number): Promise<Found | undefined> {
    const file = await this.#folder.openBlob(digest);
    try {
      const size = encoding === "json" ? (await file.stat()).size : Infinity;
      if (size > MAX_DATA_BYTES) return await this.#findInFile(file);
      this.#bytesLeft -= size;
      if (this.#bytesLeft < 0) return undefined;
      const data = await file.readFile();
      if (isTooDeep(data, BLOB_DEPTH)) return undefined;
      return await this.find(parseJSON(data.toString("utf8")), depth + 1);
    } finally {
      await file.close();
    }
  }

  /** Piece by piece. Pieces overlap, so that nothing at their ends is missed. */
  async #findInFile(file: FileHandle): Promise<Found | undefined> {
    const { reach } = this.#pattern;
    const decoder = new TextDecoder();
    const piece = this.#piece;
    let text = "";
    for (;;) {
      this.#signal?.throwIfAborted();
      const { bytesRead } = await file.read(piece, 0, piece.length);
      this.#bytesLeft -= bytesRead;
      const isLast = bytesRead < piece.length || this.#bytesLeft <= 0;
      text += decoder.decode(piece.subarray(0, bytesRead), { stream: !isLast });
      const found = this.#pattern.findIn(text);
      // Later there is more of what comes after it.
      if (found !== undefined && (isLast || found.index + reach <= text.length)) return found;
      if (isLast) return undefined;
      text = text.slice(-2 * reach);
    }
  }
}
