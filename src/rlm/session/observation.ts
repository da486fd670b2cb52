// What a model is shown of the code that it wrote.

import type { ExecutionResult, StateAfter } from "../../protocol/execution.ts";
import type { Execution } from "../../session/execution/execution.ts";
import type { Session } from "../../session/session.ts";
import { isInterleaved } from "../../util/text/is-interleaved.ts";
import { escapeHostLines, toHostLine } from "../notes/host-line.ts";
import type { Strategy } from "../../protocol/strategy/strategy.ts";
import { cutOutput } from "./cut-output.ts";

/** Of one block, kept in `_out`. */
const MAX_KEPT_BYTES = 32 * 1024 * 1024;

const STATE: Readonly<Record<StateAfter, string>> = {
  kept: "",
  restored: "The variables are those of an earlier moment: the session was restored from a checkpoint",
  lost: "All variables were lost: the process had to be ended",
};
const NOTHING = "(no output: print what you want to see, or leave it as the last expression)";

export interface ObservationOptions {
  readonly step: number;
  readonly sizes: Strategy["observations"];
  /** The type and the size of the value, where only a part of it is shown. */
  readonly sizeOfValue: () => Promise<string>;
}

/** Output, displays, the value and the error. Output that is cut is kept whole in `_out[step]`. */
export async function toObservation(
  session: Session,
  execution: Execution,
  result: ExecutionResult,
  options: ObservationOptions,
): Promise<string> {
  const { step, sizes } = options;
  const { value, error, status, reason, exitCode, state, incomplete, displays } = result;
  const shownDisplays = displays
    .slice(0, sizes.displays)
    .map((bundle) => cutDisplay(bundle["text/plain"] ?? "(a picture)", sizes));
  const output = [
    await showPrinted(session, execution, result, options),
    ...shownDisplays,
    displays.length > sizes.displays ? `… ${displays.length - sizes.displays} more displays …` : "",
    value === undefined ? "" : `→ ${await showValue(value["text/plain"] ?? "", options)}`,
    error === undefined || error.name === "Final" ? "" : cutError(error.traceback.trimEnd(), sizes),
  ];
  const said = [
    incomplete === true ? "The code ends in the middle of a statement. Nothing was run" : "",
    status === "interrupted" ? `The code was stopped: ${reason ?? "interrupted"}` : "",
    status === "exit" && state === "kept" ? `The code called exit(${exitCode ?? 0}). The session goes on` : "",
    STATE[state],
  ];
  const parts = [
    ...output.filter((part) => part !== "").map(escapeHostLines),
    ...said.filter((part) => part !== "").map(toHostLine),
  ];
  const shown = parts.length === 0 ? NOTHING : parts.join("\n");
  return `Output of block ${step}:\n${shown}`;
}

/** Both streams in the order they were printed. Where it fits and all of stderr comes last, that has a heading. */
async function showPrinted(
  session: Session,
  execution: Execution,
  { stdout, stderr, truncated, state }: ExecutionResult,
  { step, sizes: { characters: maxCharacters } }: ObservationOptions,
): Promise<string> {
  const { totalBytes, readableBytes } = execution.output({ length: 0 });
  const isWhole = truncated?.stdout === undefined && truncated?.stderr === undefined;
  const inOrder = (): Buffer => execution.output({ length: Infinity }).bytes;
  const errors = stderr.trim() === "" ? "" : `[stderr]\n${stderr.trimEnd()}`;
  const printed = isInterleaved(stdout, stderr, inOrder)
    ? inOrder().toString("utf8").trimEnd()
    : [stdout.trimEnd(), errors].filter((part) => part !== "").join("\n");
  const keptBytes = Math.min(readableBytes, MAX_KEPT_BYTES);
  const name = `_out[${step}]`;
  const cut = cutOutput(
    isWhole && printed.length <= maxCharacters
      ? printed
      : { totalBytes, readableBytes, read: (offset, length) => execution.output({ offset, length }).bytes },
    { maxCharacters, name, where: whereIs(name, keptBytes, totalBytes, state) },
  );
  if (cut.isCut && state === "kept") await keep(session, execution, step, keptBytes);
  return cut.text;
}

function whereIs(name: string, keptBytes: number, totalBytes: number, state: StateAfter): string {
  if (state !== "kept") return "it is gone";
  return keptBytes === totalBytes ? `the whole is in ${name}` : `the first ${keptBytes} bytes are in ${name}`;
}

async function keep(session: Session, execution: Execution, step: number, keptBytes: number): Promise<void> {
  const { bytes } = execution.output({ length: keptBytes });
  await session.set("_rlm_out", { text: bytes.toString("utf8") });
  await session.execute(`__import__("rlm_session").keep(${step})`).result;
}

async function showValue(text: string, { sizes, sizeOfValue }: ObservationOptions): Promise<string> {
  const size = text.length > sizes.characters ? await sizeOfValue() : "";
  const where = size === "" ? "the whole is in _" : `the whole is in _ (${size})`;
  return cutOutput(text, { maxCharacters: sizes.characters, name: "_", where }).text;
}

function cutDisplay(text: string, { characters: maxCharacters }: Strategy["observations"]): string {
  return cutOutput(text, { maxCharacters, name: "", where: "of what was displayed" }).text;
}

function cutError(text: string, { errorCharacters: maxCharacters }: Strategy["observations"]): string {
  return cutOutput(text, { maxCharacters, name: "", where: "of the error" }).text;
}
