// Headers of a tar archive: ustar, with a pax header before an entry whose names or size do not fit. The same entries give the same bytes:
// everything belongs to root, and there are no names of users. The `tar` program would need a list of names in a file, and differs by system.

const BLOCK = 512;
const MAX_NAME = 100;
/** Eleven octal digits. */
const MAX_SIZE = 0o77777777777;
const TYPES = { file: "0", link: "2", folder: "5" } as const;
const PAX_TYPE = "x";

interface EntryBase {
  /** Without a leading slash. */
  readonly path: string;
  /** Permission bits. */
  readonly mode: number;
  /** Whole seconds since 1970. */
  readonly mtime: number;
}

export type TarEntry =
  | (EntryBase & { readonly kind: "file"; readonly size: number })
  | (EntryBase & { readonly kind: "folder" })
  | (EntryBase & { readonly kind: "link"; readonly target: string });

/** What comes before the bytes of a file. */
export function tarHeader(entry: TarEntry): Buffer {
  const size = entry.kind === "file" ? entry.size : 0;
  const path = entry.kind === "folder" ? `${entry.path}/` : entry.path;
  const target = entry.kind === "link" ? entry.target : "";
  const records = [
    ...(doesNotFit(path) ? [["path", path] as const] : []),
    ...(doesNotFit(target) ? [["linkpath", target] as const] : []),
    ...(size > MAX_SIZE ? [["size", String(size)] as const] : []),
  ];
  const fields = { path, target, size: Math.min(size, MAX_SIZE), mode: entry.mode, mtime: entry.mtime };
  const header = block({ ...fields, type: TYPES[entry.kind] });
  if (records.length === 0) return header;
  const pax = Buffer.concat(records.map(([name, value]) => paxRecord(name, value)));
  const before = block({ path: "pax", target: "", size: pax.length, mode: 0o644, mtime: 0, type: PAX_TYPE });
  return Buffer.concat([before, pax, tarPadding(pax.length), header]);
}

/** What comes after the bytes of a file. */
export function tarPadding(size: number): Buffer {
  return Buffer.alloc((BLOCK - (size % BLOCK)) % BLOCK);
}

/** What comes after the last entry. */
export function tarEnd(): Buffer {
  return Buffer.alloc(2 * BLOCK);
}

interface Fields {
  readonly path: string;
  readonly target: string;
  readonly size: number;
  readonly mode: number;
  readonly mtime: number;
  readonly type: string;
}

function block({ path, target, size, mode, mtime, type }: Fields): Buffer {
  const bytes = Buffer.alloc(BLOCK);
  bytes.set(Buffer.from(path).subarray(0, MAX_NAME), 0);
  bytes.write(octal(mode, 7), 100, "latin1");
  bytes.write(octal(0, 7), 108, "latin1");
  bytes.write(octal(0, 7), 116, "latin1");
  bytes.write(octal(size, 11), 124, "latin1");
  bytes.write(octal(Math.max(0, mtime), 11), 136, "latin1");
  bytes.write(type, 156, "latin1");
  bytes.set(Buffer.from(target).subarray(0, MAX_NAME), 157);
  bytes.write("ustar\u000000", 257, "latin1");
  // The checksum counts its own field as spaces.
  bytes.fill(" ", 148, 156);
  const sum = bytes.reduce((total, byte) => total + byte, 0);
  bytes.write(`${octal(sum, 6)}\0 `, 148, "latin1");
  return bytes;
}

function octal(value: number, digits: number): string {
  return value.toString(8).padStart(digits, "0");
}

function doesNotFit(name: string): boolean {
  return Buffer.byteLength(name) > MAX_NAME;
}

/** `LENGTH name=value\n`, where the length counts itself. */
function paxRecord(name: string, value: string): Buffer {
  const rest = Buffer.from(` ${name}=${value}\n`);
  let length = rest.length;
  while (String(length).length + rest.length !== length) length = String(length).length + rest.length;
  return Buffer.concat([Buffer.from(String(length)), rest]);
}
