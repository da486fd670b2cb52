// Output of code as a model is shown it: head and tail, how much is omitted, and the variable that holds all of it.

import { type ByteSource, textSource } from "../../util/bytes/byte-source.ts";
import { type Marker, toHeadAndTail, toShare } from "../../util/text/head-and-tail.ts";
import { countCharacters } from "../../util/text/utf8.ts";

export interface CutOutputOptions {
  /** The expression that holds the whole output in the session, such as `_out[3]`. */
  readonly name: string;
  /** The note about it. Default: `the whole is in <name>`. */
  readonly where?: string;
  /** Of the result; from 200 up. Default: 10,000. */
  readonly maxCharacters?: number;
}

const MAX_CHARACTERS = 10_000;
/** Longer output is measured in bytes: counting characters means reading all of it. */
const MAX_COUNTED_BYTES = 16 * 1024 * 1024;
const PIECE_BYTES = 1024 * 1024;

/**
 * Without terminal escape sequences; whole where it fits. Counts are exact, in characters as Python counts them. No character is split.
 */
export function cutOutput(
  output: string | ByteSource,
  { name, where = `the whole is in ${name}`, maxCharacters = MAX_CHARACTERS }: CutOutputOptions,
): { readonly text: string; readonly isCut: boolean } {
  const source = typeof output === "string" ? textSource(output) : output;
  const share = toCounter(source);
  const markers: readonly Marker[] = [
    (omitted, offset) => `… ${share(omitted, offset)} omitted; ${where} …\n`,
    (omitted, offset) => `… ${share(omitted, offset)} omitted …\n`,
  ];
  return toHeadAndTail(source, { maxCharacters, markers });
}

function toCounter(source: ByteSource): Marker {
  const { totalBytes, readableBytes } = source;
  if (totalBytes > Math.min(readableBytes, MAX_COUNTED_BYTES)) {
    return (omitted) => `${toShare(omitted, totalBytes)} bytes`;
  }
  let total: number | undefined;
  return (omitted, offset) => {
    total ??= countIn(source, 0, totalBytes);
    const part = omitted === totalBytes ? total : countIn(source, offset, offset + omitted);
    return `${toShare(part, total)} characters`;
  };
}

function countIn(source: ByteSource, from: number, to: number): number {
  let count = 0;
  for (let offset = from; offset < to; offset += PIECE_BYTES) {
    count += countCharacters(source.read(offset, Math.min(PIECE_BYTES, to - offset)));
  }
  return count;
}
