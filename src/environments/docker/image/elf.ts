// What a program or shared library needs to start, from its ELF headers: the loader, the libraries by name, and the folders that it names
// for them. Nothing is executed, unlike with `ldd`. 64-bit little-endian files only, which is x64 and arm64.

import { closeSync, openSync, readSync } from "node:fs";

/** Larger tables are not those of a real program. */
const MAX_TABLE_BYTES = 16 << 20;
const MAX_PROGRAM_HEADERS = 256;
const SEGMENT = { load: 1, dynamic: 2, interpreter: 3 } as const;
const TAG = { end: 0, needed: 1, strings: 5, stringsSize: 10, rpath: 15, runpath: 29 } as const;

export interface ElfNeeds {
  /** The path of the dynamic loader. Absent in libraries and static programs. */
  readonly loader?: string;
  readonly libraries: readonly string[];
  /** Searched first; `$ORIGIN` is the folder of the file. */
  readonly folders: readonly string[];
}

/** Undefined: it is no ELF file of this kind. */
export function readElf(path: string): ElfNeeds | undefined {
  const fd = openSync(path, "r");
  try {
    return parse((offset, length) => readAt(fd, offset, length));
  } catch (error) {
    if (error instanceof RangeError) return undefined; // a file that ends too early, or numbers that cannot be
    throw error;
  } finally {
    closeSync(fd);
  }
}

type ReadAt = (offset: number, length: number) => Buffer;

interface Segment {
  readonly type: number;
  readonly offset: number;
  readonly address: number;
  readonly size: number;
}

function parse(read: ReadAt): ElfNeeds | undefined {
  const identity = read(0, 6);
  // Magic number, 64 bits, little-endian.
  if (identity.toString("latin1") !== "\u007fELF\u0002\u0001") return undefined;
  const header = read(0, 64);
  const segments = readSegments(read, header);
  const interpreter = segments.find(({ type }) => type === SEGMENT.interpreter);
  const loader = interpreter && { loader: untilNull(read(interpreter.offset, interpreter.size), 0) };
  const dynamic = segments.find(({ type }) => type === SEGMENT.dynamic);
  if (dynamic === undefined) return { ...loader, libraries: [], folders: [] };
  const tags = readTags(read(dynamic.offset, dynamic.size));
  const first = (tag: number): number => tags.find(([name]) => name === tag)?.[1] ?? 0;
  const strings = read(offsetOf(first(TAG.strings), segments), first(TAG.stringsSize));
  const all = (tag: number): string[] =>
    tags.filter(([name]) => name === tag).map(([, value]) => untilNull(strings, value));
  const folders = [...all(TAG.runpath), ...all(TAG.rpath)].flatMap((text) => text.split(":")).filter(Boolean);
  return { ...loader, libraries: all(TAG.needed), folders };
}

function readSegments(read: ReadAt, header: Buffer): Segment[] {
  const start = toNumber(header.readBigUInt64LE(32));
  const entrySize = header.readUInt16LE(54);
  const count = header.readUInt16LE(56);
  if (count > MAX_PROGRAM_HEADERS || (count > 0 && entrySize < 56)) throw new RangeError("not a program header");
  const table = read(start, count * entrySize);
  return Array.from({ length: count }, (_, index) => {
    const at = index * entrySize;
    return {
      type: table.readUInt32LE(at),
      offset: toNumber(table.readBigUInt64LE(at + 8)),
      address: toNumber(table.readBigUInt64LE(at + 16)),
      size: toNumber(table.readBigUInt64LE(at + 32)),
    };
  });
}

function readTags(table: Buffer): (readonly [tag: number, value: number])[] {
  const tags: (readonly [number, number])[] = [];
  for (let at = 0; at + 16 <= table.length; at += 16) {
    const tag = table.readBigUInt64LE(at);
    if (tag === BigInt(TAG.end)) break;
    // Tags of the processor are larger numbers, and not of interest here.
    if (tag <= BigInt(TAG.runpath)) tags.push([Number(tag), toNumber(table.readBigUInt64LE(at + 8))]);
  }
  return tags;
}

/** Where an address in memory is in the file. */
function offsetOf(address: number, segments: readonly Segment[]): number {
  const found = segments.find(
    (segment) =>
      segment.type === SEGMENT.load && address >= segment.address && address < segment.address + segment.size,
  );
  if (found === undefined) throw new RangeError("an address outside of the file");
  return address - found.address + found.offset;
}

function untilNull(bytes: Buffer, start: number): string {
  const end = bytes.indexOf(0, start);
  if (end === -1) throw new RangeError("a text without an end");
  return bytes.toString("utf8", start, end);
}

function toNumber(value: bigint): number {
  if (value > BigInt(Number.MAX_SAFE_INTEGER)) throw new RangeError("a number that is too large");
  return Number(value);
}

function readAt(fd: number, offset: number, length: number): Buffer {
  if (length > MAX_TABLE_BYTES) throw new RangeError("a table that is too large");
  const bytes = Buffer.alloc(length);
  if (readSync(fd, bytes, 0, length, offset) !== length) throw new RangeError("the file ends too early");
  return bytes;
}
