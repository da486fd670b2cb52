// What a compaction did.

import { formatCount } from "../format.ts";

/** `12 steps are in a summary now: about 5,120 tokens become 1,480`. */
export function describeCompaction({
  replaced,
  tokensBefore,
  tokensAfter,
}: {
  readonly replaced: number;
  readonly tokensBefore: number;
  readonly tokensAfter: number;
}): string {
  const verb = replaced === 1 ? "is" : "are";
  const tokens = `about ${formatCount(tokensBefore, "token")} become ${formatCount(tokensAfter)}`;
  return `${formatCount(replaced, "step")} ${verb} in a summary now: ${tokens}`;
}
