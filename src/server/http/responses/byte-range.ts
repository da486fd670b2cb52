// The part of a file that a request asks for (RFC 9110, section 14): one range, in bytes.

export interface ByteRange {
  readonly offset: number;
  readonly length: number;
}

/** Undefined: the whole, also where several ranges or other units are asked for, which a server may ignore. Null: there is no such part. */
export function parseRange(header: string | null, sizeBytes: number): ByteRange | null | undefined {
  const groups = /^bytes=(?<first>\d*)-(?<last>\d*)$/i.exec(header?.trim() ?? "")?.groups;
  const [first, last] = [groups?.["first"] ?? "", groups?.["last"] ?? ""];
  if (first === "" && last === "") return undefined;
  if (first === "") {
    const length = Math.min(Number(last), sizeBytes);
    return length === 0 ? null : { offset: sizeBytes - length, length };
  }
  const offset = Number(first);
  if (last !== "" && Number(last) < offset) return undefined;
  if (offset >= sizeBytes) return null;
  const end = last === "" ? sizeBytes : Math.min(Number(last) + 1, sizeBytes);
  return { offset, length: end - offset };
}
