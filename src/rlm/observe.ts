// What a model is shown of the code it had run.

import type { ExecutionResult, StateAfter } from "../protocol/execution.ts";
import type { Execution } from "../session/execution.ts";
import type { Session } from "../session/session.ts";
import { cutOutput } from "./cut-output.ts";

const MAX_CHARACTERS = 10_000;

const STATE: Readonly<Record<StateAfter, string>> = {
  kept: "",
  restored: "The variables are those of an earlier moment: the session was restored from a checkpoint.",
  lost: "All variables were lost, also those of the context: the process had to be ended.",
};

/** What was printed, the value, the error; the whole of what is cut is put into `_out[turn]`. */
export async function observe(
  session: Session,
  execution: Execution,
  result: ExecutionResult,
  turn: number,
): Promise<string> {
  const { stdout, stderr, value, error, status, reason, exitCode, state, incomplete } = result;
  const printed = [stdout.trimEnd(), stderr.trim() === "" ? "" : `[stderr]\n${stderr.trimEnd()}`]
    .filter((part) => part !== "")
    .join("\n");
  const cut = cutOutput(printed, { maxCharacters: MAX_CHARACTERS, name: `_out[${turn}]` });
  if (cut.isCut && state === "kept") await keep(session, execution, turn);
  const parts = [
    cut.text,
    value === undefined
      ? ""
      : `→ ${cutOutput(value["text/plain"] ?? "", { maxCharacters: MAX_CHARACTERS, name: "_" }).text}`,
    incomplete === true ? "The code ends in the middle of a statement. Nothing was run." : "",
    error === undefined || error.name === "Final" ? "" : error.traceback.trimEnd(),
    status === "interrupted" ? `The code was stopped: ${reason ?? "interrupted"}.` : "",
    status === "exit" ? `The code called exit(${exitCode ?? 0}). The session goes on.` : "",
    STATE[state],
  ].filter((part) => part !== "");
  const shown =
    parts.length === 0
      ? "(no output: print what you want to see, or leave it as the last expression)"
      : parts.join("\n");
  return `Output of block ${turn}:\n${shown}`;
}

/** All that can still be read of it, as one text. */
async function keep(session: Session, execution: Execution, turn: number): Promise<void> {
  const { bytes } = execution.output({ length: 64 * 1024 * 1024 });
  await session.set("_rlm_out", { text: bytes.toString("utf8") });
  await session.execute(`_out[${turn}] = globals().pop("_rlm_out")`).result;
}
