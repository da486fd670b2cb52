// The Range header (RFC 9110, section 14): one range of bytes.

export interface ByteRange {
  readonly offset: number;
  readonly length: number;
}

/** Undefined: the whole file, also for several ranges or other units, which a server may ignore. Null: the range is not satisfiable. */
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
