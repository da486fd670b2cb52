// One call of a tool: the runtime it works on, and the request that it answers.

import type { Runtime } from "../../../runtime.ts";
import type { RLM } from "../../../rlm/rlm.ts";
import type { SessionOptions } from "../../../session/options.ts";
import type { Session } from "../../../session/session.ts";
import { omitUndefined } from "../../../util/omit-undefined.ts";
import type { Activity } from "../../observability/activity-tracker.ts";
import type { HostPaths } from "../calls/host-paths.ts";
import type { Images } from "../render/images.ts";
import type { ShortWait } from "../calls/short-wait.ts";

export interface Timings {
  /** Python or a run becomes a task after this time. */
  readonly pythonMs: number;
  /** A command becomes a task after this time. */
  readonly shellMs: number;
  /** Between two progress notifications. */
  readonly progressMs: number;
  /** An idle session is closed after this time. */
  readonly idleMs: number;
}

export const DEFAULT_SESSION = "default";
export const DEFAULT_TIMEOUT_SECONDS = 600;
export const IDLE_MINUTES = 30;
export const DEFAULT_TIMINGS: Timings = {
  pythonMs: 30_000,
  shellMs: 5_000,
  progressMs: 5_000,
  idleMs: IDLE_MINUTES * 60_000,
};

export interface ToolCall {
  readonly runtime: Runtime;
  readonly hostPaths: HostPaths;
  /** Absent: no model is configured. */
  readonly rlm?: Pick<RLM, "limits" | "run"> | undefined;
  readonly timings: Timings;
  /** Environment variables of sessions that calls open. Absent: none. */
  readonly sessionEnv?: Readonly<Record<string, string>> | undefined;
  /** Aborted when the client cancels the request or disconnects. */
  readonly signal: AbortSignal;
  /** Sends a progress notification. Absent: the client did not ask for any. */
  readonly report?: (message: string) => void;
  /** Appended to the result, whatever it is. */
  readonly notes: string[];
  readonly images: Images;
  /** Whether the server offers a tool. */
  readonly offers: (name: string) => boolean;
  readonly state: ServerState;
  /** Called with what the call starts. */
  readonly onActivity: (activity: Activity) => void;
  readonly shortWait: ShortWait;
}

/** State of the server between calls. */
export interface ServerState {
  /** The default session of the last call. */
  defaultSession?: Session;
}

const RENEWED = "[Session 'default' is a new one: the variables of the one before are gone.]";

/** The session with this id, or the default one, which is created on demand. Throws SessionNotFoundError. */
export async function useSession(call: ToolCall, id: string | undefined): Promise<Session> {
  const { runtime, notes, state } = call;
  if (id !== undefined && id !== DEFAULT_SESSION) return runtime.sessions.get(id);
  const session =
    runtime.sessions.find(DEFAULT_SESSION) ?? (await runtime.obtainSession(DEFAULT_SESSION, toSessionOptions(call)));
  if (state.defaultSession !== undefined && state.defaultSession !== session) notes.push(RENEWED);
  state.defaultSession = session;
  return session;
}

export function toSessionOptions({
  timings,
  sessionEnv: env,
}: ToolCall): Pick<SessionOptions, "idleTimeoutMs" | "env"> {
  return { idleTimeoutMs: timings.idleMs, ...omitUndefined({ env }) };
}
