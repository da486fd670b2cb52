// One call of a tool: the runtime it works on, and the request that it answers.

import type { Runtime } from "../../../runtime.ts";
import type { RLM } from "../../../rlm/rlm.ts";
import type { Session } from "../../../session/session.ts";
import type { Activity } from "../../observability/activity-tracker.ts";
import type { HostPaths } from "../calls/host-paths.ts";
import type { Images } from "../render/images.ts";
import type { ShortWait } from "../calls/progress.ts";

/** How long things may take. */
export interface Waits {
  /** After this long Python, or a run, becomes a task. */
  readonly pythonMs: number;
  /** After this long a command becomes a task. */
  readonly shellMs: number;
  /** Between two reports of progress. */
  readonly progressMs: number;
  /** After this long without use a session ends. */
  readonly idleMs: number;
}

export const DEFAULT_SESSION = "default";
export const DEFAULT_TIMEOUT_SECONDS = 600;
export const IDLE_MINUTES = 30;
export const DEFAULT_WAITS: Waits = {
  pythonMs: 30_000,
  shellMs: 5_000,
  progressMs: 5_000,
  idleMs: IDLE_MINUTES * 60_000,
};

export interface ToolCall {
  readonly runtime: Runtime;
  readonly hostPaths: HostPaths;
  /** What questions are given to. Absent: no model is configured. */
  readonly rlm?: Pick<RLM, "limits" | "run"> | undefined;
  readonly waits: Waits;
  /** Aborts when the client gives the request up or goes away. */
  readonly signal: AbortSignal;
  /** Tells the client how far it is. Absent: it did not ask. */
  readonly report?: (message: string) => void;
  /** What is said after the answer, whatever that is. */
  readonly notes: string[];
  readonly images: Images;
  /** Whether the server has a tool of this name. */
  readonly offers: (name: string) => boolean;
  readonly state: ServerState;
  /** Told of what it begins. */
  readonly onActivity: (beginning: Activity) => void;
  readonly shortWait: ShortWait;
}

/** What a server knows from one call to the next. */
export interface ServerState {
  /** The one that was used last. */
  defaultSession?: Session;
}

const RENEWED = "[Session 'default' is a new one: the variables of the one before are gone.]";

/** The session that a call names, or the default one, which is made where it is not there. Throws SessionNotFoundError. */
export async function useSession(call: ToolCall, id: string | undefined): Promise<Session> {
  const { runtime, notes, state } = call;
  if (id !== undefined && id !== DEFAULT_SESSION) return runtime.sessions.get(id);
  const session =
    runtime.sessions.find(DEFAULT_SESSION) ?? (await runtime.obtainSession(DEFAULT_SESSION, toSessionOptions(call)));
  if (state.defaultSession !== undefined && state.defaultSession !== session) notes.push(RENEWED);
  state.defaultSession = session;
  return session;
}

export function toSessionOptions({ waits }: ToolCall): { readonly idleTimeoutMs: number } {
  return { idleTimeoutMs: waits.idleMs };
}
