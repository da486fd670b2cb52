// Renders output, with other text after it.
//
// The whole if it fits, else its beginning and its end, with the call that reads the rest. Both streams are in the order they were printed.
// Where all of stderr comes last, it has a heading.

import { cleanTerminalText } from "../../../util/text/clean-terminal-text.ts";
import type { Task } from "../../../tasks/tasks.ts";
import type { ByteSource } from "../../../util/bytes/byte-source.ts";
import { isInterleaved } from "../../../util/text/is-interleaved.ts";
import { truncateOutput } from "../../../util/text/truncate.ts";
import { truncateText } from "../../../util/text/truncate-text.ts";
import { joinParts, toStatusCall } from "./format.ts";

export interface Printed {
  readonly stdout: string;
  readonly stderr: string;
  /** The texts are all that was printed. */
  readonly isWhole: boolean;
  /** Both streams in the order they were printed. Called if the texts are whole. */
  readonly inOrder: () => Buffer;
  /** The task to read from when it does not fit. */
  readonly toTask: () => Task;
}

export interface Shown {
  readonly text: string;
  /** Present when something is omitted. */
  readonly cutFrom?: Task;
}

/** A progress bar of many minutes is one line when it is cleaned. Longer output is not cleaned as a whole. */
const WORTH_CLEANING = 400_000;

export function showPrinted(printed: Printed, after: string, maxCharacters: number): Shown {
  const { stdout, stderr, isWhole, inOrder, toTask } = printed;
  const rest = cleanTerminalText(after);
  if (isWhole && stdout.length + stderr.length <= WORTH_CLEANING) {
    const isMixed = isInterleaved(stdout, stderr, inOrder);
    const text = isMixed
      ? joinParts(cleanTerminalText(inOrder().toString("utf8")), rest)
      : joinParts(cleanTerminalText(stdout), toSection("stderr", cleanTerminalText(stderr)), rest);
    if (text.length <= maxCharacters) return { text };
  }
  const task = stdout === "" && stderr === "" ? undefined : toTask();
  if (task === undefined) return { text: truncateText(rest, { maxCharacters, hint: PRINT_PART }) };
  const end = truncateText(rest, { maxCharacters: Math.floor(maxCharacters * 0.75), hint: PRINT_PART });
  const hint = (offset: number): string => toReadOn(task, offset);
  const { text } = truncateOutput(taskSource(task), { maxCharacters: maxCharacters - end.length - 1, hint });
  return { text: joinParts(text, end), cutFrom: task };
}

const PRINT_PART = (): string => "print a part of it";

/** The hint where output of a task is omitted. */
export function toReadOn({ id }: Task, offset: number): string {
  return `read on with ${toStatusCall(id, { offset })}`;
}

/** Both streams in the order they were printed. */
export function taskSource(task: Task): ByteSource {
  const { totalBytes, readableBytes } = task.output({ offset: 0, length: 0 });
  return { totalBytes, readableBytes, read: (offset, length) => task.output({ offset, length }).bytes };
}

function toSection(name: string, text: string): string {
  return text.trim() === "" ? "" : `[${name}]\n${text}`;
}
