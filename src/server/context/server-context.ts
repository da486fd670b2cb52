// What the routes of one server share.

import type { Runtime } from "../../runtime.ts";
import type { Session } from "../../session/session.ts";
import type { SessionOptions } from "../../session/session-options.ts";
import type { AskedRuns } from "./run-admission.ts";
import type { BodyRoom } from "../net/memory-budget.ts";
import type { PaceBounds } from "../net/bodies/min-throughput.ts";
import type { Executions } from "./executions.ts";
import type { Inputs } from "./pending-inputs.ts";
import type { MCPDoor } from "../mcp-mount.ts";
import type { Begun } from "../observability/activity-tracker.ts";
import type { Metrics } from "../observability/metrics.ts";
import type { Retries } from "./idempotency.ts";
import type { Spool } from "../net/bodies/spool.ts";
import type { Tickets } from "../net/guards/tickets.ts";

/** A request to become a WebSocket, while the routes look at it. */
export interface Upgrade {
  /** Set by the route that accepts it: what is to be watched. */
  session?: Session;
  /** Set with it. */
  requestId?: string;
}

export interface Door {
  readonly runtime: Runtime;
  /** Those that began here. */
  readonly executions: Executions;
  /** Told of everything that requests begin. */
  readonly begun: Begun;
  /** Memory for what is asked. */
  readonly bodies: BodyRoom;
  /** How slow clients may be that send or take much. */
  readonly pace: PaceBounds;
  /** Those of them that wait for a line. */
  readonly inputs: Inputs;
  /** What was asked with an Idempotency-Key. */
  readonly retries: Retries;
  /** Counted since the start. */
  readonly metrics: Metrics;
  /** What sessions have unless a request says otherwise. */
  readonly sessionDefaults: Pick<SessionOptions, "env" | "includeStdlib">;
  /** Recursive runs that began here, and which model they ask. */
  readonly runs: AskedRuns;
  readonly mcp: MCPDoor;
  /** Large bodies and session files on their way. */
  readonly spool: Spool;
  /** What opens a WebSocket in place of the token. */
  readonly tickets: Tickets;
  readonly upgrades: WeakMap<Request, Upgrade>;
  /** Aborted when the server begins to end: nothing new begins, and what goes on may take a while. */
  readonly draining: AbortSignal;
  /** Aborted when that while is over: what would never end by itself ends now. */
  readonly ending: AbortSignal;
}
