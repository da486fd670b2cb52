// What one execution shows, in order: printed text and displays, with a limit on the text that is kept.
//
// The beginning and the end stay, and a gap between them says how much is not here. Text is kept in pieces that end with a line, so that a
// component draws only the pieces that changed. A carriage return overwrites its line, as in a terminal: a progress bar is one line.

import type { MimeBundle, OutputStream } from "rlm-runtime/client";
import { byteLength, foldReturns, lastLineBreak, styleAfter } from "./terminal-text.ts";

export type OutputItem =
  | {
      readonly kind: "text";
      readonly key: number;
      readonly stream: OutputStream;
      readonly text: string;
      /** Colours that were in force before it, as escape sequences. */
      readonly style: string;
      /** As it was printed. */
      readonly bytes: number;
    }
  | {
      readonly kind: "display";
      readonly key: number;
      /** Empty: a placeholder. */
      readonly data: MimeBundle;
      readonly displayId: string | undefined;
    }
  | {
      readonly kind: "gap";
      readonly key: number;
      readonly bytes: number;
      /** Where it begins in the output of both streams. Undefined: the server has dropped it. */
      readonly offset: number | undefined;
    };

/** Between two characters of what was printed. */
export interface OutputPlace {
  readonly key: number;
  readonly at: number;
}

type TextItem = Extract<OutputItem, { readonly kind: "text" }>;

export interface OutputItemsLimits {
  /** Characters at the beginning that stay. */
  readonly head: number;
  /** Characters at the end that stay. */
  readonly tail: number;
  /** Characters of one piece. */
  readonly piece: number;
  /** Pieces at the beginning and as many at the end, since streams may alternate with every character. */
  readonly pieces: number;
  readonly displays: number;
  /** Characters of all displays together, unless a single one has more. */
  readonly displayed: number;
}

const LIMITS: OutputItemsLimits = {
  head: 16_000,
  tail: 32_000,
  piece: 4_000,
  pieces: 300,
  displays: 200,
  displayed: 16_000_000,
};
/** Text that the reader asked for counts, too. */
const MAX_LOADED = 2_000_000;

export class OutputItems {
  readonly #limits: OutputItemsLimits;
  #head: OutputItem[] = [];
  #tail: OutputItem[] = [];
  #headCharacters = 0;
  #tailCharacters = 0;
  #headBytes = 0;
  #gapBytes = 0;
  readonly #displayIds = new Set<string>();
  #displayed = 0;
  /** In displays that made room. */
  #droppedCharacters = 0;
  #nextKey = 1;
  #snapshot: readonly OutputItem[] | undefined = [];
  /** Of the gap: a character may be cut at the end of what was loaded. */
  #decoder = new TextDecoder();

  constructor(limits: Partial<OutputItemsLimits> = {}) {
    this.#limits = { ...LIMITS, ...limits };
  }

  /** The same array as long as nothing changes. */
  get items(): readonly OutputItem[] {
    this.#snapshot ??= [...this.#dropped(), ...this.#head, ...this.#gap(), ...this.#tail];
    return this.#snapshot;
  }

  /** Characters of all displays. */
  get displayed(): number {
    return this.#displayed;
  }

  /** The gap that can be loaded. Undefined: there is none, or the reader has loaded as much as the page takes. */
  get missing(): { readonly offset: number; readonly bytes: number } | undefined {
    if (this.#gapBytes === 0 || this.#headCharacters > MAX_LOADED) return undefined;
    return { offset: this.#headBytes, bytes: this.#gapBytes };
  }

  print(stream: OutputStream, text: string): void {
    if (text === "") return;
    this.#snapshot = undefined;
    let rest = text;
    while (rest !== "")
      rest = this.#isInHead ? this.#printTo(this.#head, stream, rest) : this.#printTo(this.#tail, stream, rest);
    this.#trim();
  }

  /** Where it ends now. What is printed later comes after it. */
  markEnd(): OutputPlace {
    const list = this.#isInHead ? this.#head : this.#tail;
    const last = list.at(-1);
    if (last?.kind === "text" && last.stream === "stdout") return { key: last.key, at: last.text.length };
    const key = this.#key();
    this.#add({ kind: "text", key, stream: "stdout", text: "", style: this.#styleBefore(list, "stdout"), bytes: 0 });
    return { key, at: 0 };
  }

  /** Text that the server does not have, so that it counts for no offset. Nothing if the place is no longer kept. */
  insert({ key, at }: OutputPlace, text: string): void {
    for (const list of [this.#head, this.#tail]) {
      const index = list.findIndex((item) => item.key === key);
      const item = list[index];
      if (item?.kind !== "text") continue;
      this.#snapshot = undefined;
      list[index] = { ...item, text: item.text.slice(0, at) + text + item.text.slice(at) };
      if (list === this.#head) this.#headCharacters += text.length;
      else this.#tailCharacters += text.length;
    }
  }

  /** Output that the server has dropped. */
  lose(bytes: number): void {
    const list = this.#isInHead ? this.#head : this.#tail;
    const last = list.at(-1);
    if (last?.kind !== "gap") return this.#add({ kind: "gap", key: this.#key(), bytes, offset: undefined });
    this.#snapshot = undefined;
    list[list.length - 1] = { ...last, bytes: last.bytes + bytes };
  }

  /** A new display. The oldest ones make room. */
  display(data: MimeBundle, displayId: string | undefined): void {
    this.#add({ kind: "display", key: this.#key(), data, displayId });
    this.#displayed += sizeOf(data);
    if (displayId !== undefined) this.#displayIds.add(displayId);
    this.#trimDisplays();
  }

  /** Replaces displays. False: there is none with this id. */
  update(data: MimeBundle, displayId: string): boolean {
    if (!this.#displayIds.has(displayId)) return false; // an update may look for it in thousands of cells
    let isFound = false;
    for (const list of [this.#head, this.#tail]) {
      for (const [index, item] of list.entries()) {
        if (item.kind !== "display" || item.displayId !== displayId) continue;
        list[index] = { ...item, data };
        this.#displayed += sizeOf(data) - sizeOf(item.data);
        isFound = true;
      }
    }
    if (isFound) {
      this.#snapshot = undefined;
      this.#trimDisplays();
    }
    return isFound;
  }

  /** Makes room for other cells: all displays go, and are counted. */
  dropDisplays(): void {
    this.#droppedCharacters += this.#displayed;
    this.clearDisplays();
  }

  /** Removes every display. Printed text stays. */
  clearDisplays(): void {
    this.#snapshot = undefined;
    this.#head = this.#head.filter(({ kind }) => kind !== "display");
    this.#tail = this.#tail.filter(({ kind }) => kind !== "display");
    this.#displayed = 0;
  }

  /** Puts what was read at `missing` before the gap. */
  fill(bytes: Uint8Array): void {
    this.#snapshot = undefined;
    this.#gapBytes = Math.max(0, this.#gapBytes - bytes.length);
    const text = this.#decoder.decode(bytes, { stream: this.#gapBytes > 0 });
    const before = this.#headBytes;
    let rest = text;
    while (rest !== "") rest = this.#printTo(this.#head, "stdout", rest);
    this.#headBytes = before + bytes.length;
  }

  /** What follows the beginning is not here but for this end, which begins at an offset in the output of both streams. */
  replaceEnd(end: Uint8Array, offset: number): void {
    this.#snapshot = undefined;
    this.#tail = this.#tail.filter(({ kind }) => kind !== "text");
    this.#tailCharacters = 0;
    this.#gapBytes = Math.max(1, offset - this.#headBytes);
    this.print("stdout", new TextDecoder().decode(end));
  }

  /** Nothing more can be read: the server no longer keeps it. */
  abandonGap(): void {
    if (this.#gapBytes === 0) return;
    this.#snapshot = undefined;
    this.#head.push({ kind: "gap", key: this.#key(), bytes: this.#gapBytes, offset: undefined });
    this.#gapBytes = 0;
  }

  get #isInHead(): boolean {
    const { head, pieces } = this.#limits;
    const hasRoom = this.#headCharacters < head && this.#head.length < pieces;
    return hasRoom && this.#tail.length === 0 && this.#gapBytes === 0;
  }

  /** Adds as much as fits into one piece, and returns the rest. */
  #printTo(list: OutputItem[], stream: OutputStream, text: string): string {
    const last = list.at(-1);
    const open =
      last?.kind === "text" && last.stream === stream && last.text.length < this.#limits.piece ? last : undefined;
    const room = this.#limits.piece - (open?.text.length ?? 0);
    const end = text.length <= room ? text.length : lastLineBreak(text, room);
    const added = text.slice(0, end);
    const whole = foldReturns((open?.text ?? "") + added);
    const bytes = byteLength(added);
    const isNew = open === undefined;
    const item: TextItem = isNew
      ? { kind: "text", key: this.#key(), stream, text: whole, style: this.#styleBefore(list, stream), bytes }
      : { ...open, text: whole, bytes: open.bytes + bytes };
    if (isNew) list.push(item);
    else list[list.length - 1] = item;
    const grown = item.text.length - (open?.text.length ?? 0);
    if (list === this.#head) {
      this.#headCharacters += grown;
      this.#headBytes += bytes;
    } else this.#tailCharacters += grown;
    return text.slice(end);
  }

  #styleBefore(list: readonly OutputItem[], stream: OutputStream): string {
    const isOfStream = (item: OutputItem): item is TextItem => item.kind === "text" && item.stream === stream;
    const before = list.findLast(isOfStream) ?? this.#head.findLast(isOfStream);
    return before === undefined ? "" : styleAfter(before.style + before.text);
  }

  #add(item: OutputItem): void {
    this.#snapshot = undefined;
    (this.#isInHead ? this.#head : this.#tail).push(item);
  }

  /** Drops the oldest text between the beginning and the end. Displays stay. */
  #trim(): void {
    const { tail, pieces } = this.#limits;
    while (this.#tailCharacters > tail || this.#tail.length > pieces) {
      const index = this.#tail.findIndex(({ kind }) => kind === "text");
      const oldest = this.#tail[index];
      if (oldest?.kind !== "text" || index === this.#tail.length - 1) return;
      this.#tail.splice(index, 1);
      this.#tailCharacters -= oldest.text.length;
      this.#gapBytes += oldest.bytes;
    }
  }

  /** Drops the oldest displays, but never the last one. */
  #trimDisplays(): void {
    const { displays, displayed } = this.#limits;
    let count = this.#head.filter(isDisplay).length + this.#tail.filter(isDisplay).length;
    for (; count > 1 && (count > displays || this.#displayed > displayed); count -= 1) {
      const list = this.#head.some(isDisplay) ? this.#head : this.#tail;
      const [oldest] = list.splice(list.findIndex(isDisplay), 1);
      const size = oldest?.kind === "display" ? sizeOf(oldest.data) : 0;
      this.#displayed -= size;
      this.#droppedCharacters += size;
    }
  }

  #dropped(): OutputItem[] {
    return this.#droppedCharacters === 0
      ? []
      : [{ kind: "gap", key: -1, bytes: this.#droppedCharacters, offset: undefined }];
  }

  #gap(): OutputItem[] {
    return this.#gapBytes === 0 ? [] : [{ kind: "gap", key: 0, bytes: this.#gapBytes, offset: this.#headBytes }];
  }

  #key(): number {
    return this.#nextKey++;
  }
}

function isDisplay({ kind }: OutputItem): boolean {
  return kind === "display";
}

/** In characters. */
function sizeOf(data: MimeBundle): number {
  return Object.values(data).reduce((sum, text) => sum + text.length, 0);
}
