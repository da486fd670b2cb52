// The instructions that clients show to a model first. At most 500 characters.

import type { Capabilities } from "../../protocol/capabilities.ts";
import { SEAT_BELT } from "../../views/seat-belt.ts";

interface Offer {
  /** Of the environment that sessions run in. */
  readonly capabilities: Pick<Capabilities, "fork" | "shell" | "network">;
  /** Names of the offered tools. */
  readonly tools: readonly string[];
  /** Whether sessions see any folder of the host. */
  readonly hasFiles: boolean;
  /** Whether other clients use the same sessions. */
  readonly isShared: boolean;
  /** Whether no tier confines the sessions, as far as it is known. Default: false. */
  readonly isSeatBelt?: boolean;
}

/** Says only what is true of this server: names no tool that it does not offer. */
export function toInstructions({ capabilities, tools, hasFiles, isShared, isSeatBelt = false }: Offer): string {
  const { fork, shell, network } = capabilities;
  const has = (...names: readonly string[]): boolean => names.every((name) => tools.includes(name));
  return [
    `Python${shell ? " and bash" : ""} ${isSeatBelt ? `behind ${SEAT_BELT},` : "in a sandbox"}${network === "none" ? " without network" : ""}.`,
    has("execute_python") && "Begin with execute_python: no set-up, and variables stay for the next call.",
    shell && has("shell") && "shell works in the same folder.",
    hasFiles
      ? "Files of the project are readable at their usual paths; write to the working directory."
      : "No files of this machine are visible; write to the working directory.",
    has("set_repl_context")
      ? "Load big files with set_repl_context(key, path), keep data in variables and print only what you need."
      : "Keep data in variables and print only what you need.",
    has("shell_status") && "What takes long goes on as a task; read it with shell_status.",
    toMissing({ shell, fork }),
    isShared ? toShared(has("create_repl_session")) : fork && has("fork_repl_session", "save_repl_session") && TO_KEEP,
  ]
    .filter((sentence) => sentence !== false)
    .join(" ");
}

function toMissing(has: Readonly<Record<string, boolean>>): string | false {
  const missing = Object.keys(has).filter((name) => has[name] === false);
  return missing.length > 0 && `There is no ${missing.join(" and no ")} here.`;
}

const TO_KEEP = "Use fork_repl_session to try things, save_repl_session to keep them.";

function toShared(canCreate: boolean): string {
  return `Other clients share session 'default'${canCreate ? ": create_repl_session gives you your own" : ""}.`;
}
