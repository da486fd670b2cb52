// One call of a tool: the runtime it works on, and the request that it answers.

import type { Runtime, Session } from "../../runtime.ts";
import type { Folders } from "./folders.ts";

/** How long things may take. */
export interface Waits {
  /** After this long Python becomes a task. */
  readonly pythonMs: number;
  /** After this long a command becomes a task. */
  readonly shellMs: number;
  /** Between two reports of progress. */
  readonly progressMs: number;
}

export const DEFAULT_WAITS: Waits = { pythonMs: 30_000, shellMs: 5_000, progressMs: 5_000 };
const DEFAULT_SESSION = "default";
export const DEFAULT_TIMEOUT_SECONDS = 600;
export const IDLE_MINUTES = 30;

export interface ToolCall {
  readonly runtime: Runtime;
  readonly folders: Folders;
  readonly waits: Waits;
  /** Aborts when the client gives the request up or goes away. */
  readonly signal: AbortSignal;
  /** Tells the client how far it is. Absent: it did not ask. */
  readonly report?: (message: string) => void;
}

export const SESSION_OPTIONS = { idleTimeoutMs: IDLE_MINUTES * 60_000 };

/** The session that a call names, or the default one, which is made where it is not there. Throws SessionNotFoundError. */
export async function useSession({ runtime }: ToolCall, id: string | undefined): Promise<Session> {
  if (id !== undefined && id !== DEFAULT_SESSION) return runtime.sessions.get(id);
  return runtime.obtainSession(DEFAULT_SESSION, SESSION_OPTIONS);
}
