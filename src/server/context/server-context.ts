// The state that all interfaces of one server share.

import type { Runtime } from "../../runtime.ts";
import type { Session } from "../../session/session.ts";
import type { SessionOptions } from "../../session/options.ts";
import type { RequestStream } from "../net/bodies/request-stream.ts";
import type { ThroughputLimit } from "../net/bodies/min-throughput.ts";
import type { Spool } from "../net/bodies/spool.ts";
import type { Tickets } from "../net/guards/tickets.ts";
import type { MemoryBudget } from "../net/memory-budget.ts";
import type { ActivityTracker } from "../observability/activity-tracker.ts";
import type { Metrics } from "../observability/metrics.ts";
import type { Executions } from "./executions.ts";
import type { Idempotency } from "./idempotency.ts";
import type { PageFiles } from "./page-files.ts";
import type { RunAdmission } from "./run-admission.ts";
import type { StoredResponses } from "./stored-responses.ts";

export interface ServerContext {
  readonly runtime: Runtime;
  /** Started over HTTP and WebSocket. */
  readonly executions: Executions;
  readonly activity: ActivityTracker;
  /** For request bodies that are read as a whole. */
  readonly bodyMemory: MemoryBudget;
  /** Of clients that upload or download. */
  readonly minThroughput: ThroughputLimit;
  readonly idempotency: Idempotency;
  /** To requests that act once. */
  readonly responses: StoredResponses;
  readonly metrics: Metrics;
  /** Defaults of new sessions. */
  readonly sessionDefaults: Pick<SessionOptions, "env" | "includeStdlib">;
  readonly runs: RunAdmission;
  readonly mcp: MCPHandler;
  /** Large bodies and session files in transit. */
  readonly spool: Spool;
  /** Contexts that came as files, for as long as their runs read them. */
  readonly runContexts: { readonly spool: Spool; readonly maxBytes: number };
  readonly tickets: Tickets;
  readonly page: PageFiles;
  readonly upgrades: WeakMap<Request, Upgrade>;
  /** Aborted when shutdown begins: nothing new starts, and running work gets a grace period. */
  readonly draining: AbortSignal;
  /** Aborted when the grace period is over: open streams end now. */
  readonly closing: AbortSignal;
}

export interface MCPRequest {
  readonly request: Request;
  readonly requestId: string;
  readonly stream: RequestStream;
}

/** Answers `POST /mcp`. An interface, because HTTP and MCP do not import each other. */
export interface MCPHandler {
  answer(request: MCPRequest, bodyMemory: MemoryBudget): Promise<Response>;
}

/** A request to become a WebSocket. The route that accepts it sets both fields. */
export interface Upgrade {
  session?: Session;
  requestId?: string;
}
