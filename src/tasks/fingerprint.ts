// Whether two requests for a shell command are the same request.

import { createHash } from "node:crypto";
import type { ShellTaskSettings } from "./shell-task.ts";

/** What makes a command the same work. Who waits for it, and where its output goes, does not. */
export type ShellRequest = Pick<ShellTaskSettings, "command" | "sessionId" | "cwd" | "env" | "timeoutMs" | "stdin">;

export function fingerprintOf({ command, sessionId, cwd, env, timeoutMs, stdin }: ShellRequest): string {
  const variables = Object.entries(env).toSorted(([a], [b]) => (a < b ? -1 : 1));
  const hash = createHash("sha256");
  hash.update(JSON.stringify([command, sessionId, cwd ?? null, variables, timeoutMs]));
  if (typeof stdin === "string") hash.update(` ${stdin}`);
  else hash.update(" fixed ").update("text" in stdin ? stdin.text : stdin.bytes);
  return hash.digest("base64");
}
