// Truncates what a node's code printed, with a reference to the variable that holds all of it.

import { type ByteSource, textSource } from "../../util/bytes/byte-source.ts";
import { truncateOutput } from "../../util/text/truncate.ts";

export interface CutOutputOptions {
  /** The variable that holds the whole, such as `_out[3]`. */
  readonly name: string;
  /** Default: `the whole is in <name>`. */
  readonly where?: string;
  /** Of the result; at least 200. Default: 10,000. */
  readonly maxCharacters?: number;
}

export function cutOutput(
  output: string | ByteSource,
  { name, where = `the whole is in ${name}`, maxCharacters = 10_000 }: CutOutputOptions,
): { readonly text: string; readonly isCut: boolean } {
  const source = typeof output === "string" ? textSource(output) : output;
  const marker = (omission: string): string => `… ${omission} …`;
  return truncateOutput(source, { maxCharacters, unit: "characters", hint: () => where, marker });
}
