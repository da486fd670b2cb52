// The value of the last expression as a model is shown it, and how it reads the rest of one that is too long.

import type { Runtime } from "../../../runtime.ts";
import type { ExecutionResult } from "../../../protocol/execution.ts";
import { truncateText } from "../../../util/text/truncate-text.ts";
import { toReprCall } from "./format.ts";

/** By way of `builtins`, where it is also found when a variable is called `_`. */
const LAST_VALUE = "__import__('builtins')._";
const ASSIGN = "assign it to a variable and print a part";

export interface ValueOptions {
  readonly maxCharacters: number;
  /** Whether the text is its `repr()`, in a session that can be asked for it. Called only where something is cut. */
  readonly isReadable: () => boolean;
}

/** `→` and the text, on lines of its own where it has several. */
export function showValue(text: string, result: ExecutionResult, options: ValueOptions): string {
  if (text === "") return "";
  const shown = cutValue(text, result, { ...options, maxCharacters: options.maxCharacters - 2 });
  return shown.includes("\n") ? `→\n${shown}` : `→ ${shown}`;
}

export function cutValue(
  text: string,
  { truncated, sessionId }: ExecutionResult,
  { maxCharacters, isReadable }: ValueOptions,
): string {
  const isTruncated = truncated?.value !== undefined;
  if (!isTruncated && text.length <= maxCharacters) return text;
  const readOn = (from: number, to: number): string => `read on with ${toReprCall(LAST_VALUE, [from, to], sessionId)}`;
  return truncateText(text, { maxCharacters, hint: isReadable() ? readOn : () => ASSIGN, isTruncated });
}

/** Whether the session still calls it its last value: nothing has been run in it since. */
export function isLastValue(runtime: Runtime, { sessionId, executionId }: ExecutionResult): boolean {
  return runtime.sessions.find(sessionId)?.history().at(-1)?.executionId === executionId;
}
