// Builds the context of `rlm serve`: the one module that knows HTTP, MCP and the metrics.

import type { Runtime } from "../runtime.ts";
import { Executions, type ExecutionLimits } from "./context/executions.ts";
import { Idempotency, type Journal } from "./context/idempotency.ts";
import { PageFiles } from "./context/page-files.ts";
import { DEFAULT_MAX_RUNS, RunAdmission, type ConfiguredModel } from "./context/run-admission.ts";
import { StoredResponses } from "./context/stored-responses.ts";
import type { ServerContext } from "./context/server-context.ts";
import { MCPMount, type MCPMountOptions } from "./mcp-mount.ts";
import { DEFAULT_MIN_THROUGHPUT } from "./net/bodies/min-throughput.ts";
import { Spool } from "./net/bodies/spool.ts";
import { Tickets } from "./net/guards/tickets.ts";
import { MemoryBudget, BODY_MEMORY } from "./net/memory-budget.ts";
import { ActivityTracker } from "./observability/activity-tracker.ts";
import { Metrics } from "./observability/metrics.ts";

export interface ServerContextOptions extends Partial<
  Pick<ServerContext, "sessionDefaults" | "minThroughput" | "draining" | "closing">
> {
  /** The model that runs use by default, or why there is none. */
  readonly model?: ConfiguredModel;
  /** Concurrent runs. Default: 8. */
  readonly maxRuns?: number;
  /** Of the context of a run that comes as a form. Default: 4 GiB. */
  readonly maxContextBytes?: number;
  /** Of starts, across restarts. Default: none. */
  readonly journal?: Journal;
  readonly mcp?: MCPMountOptions;
  readonly executions?: Partial<ExecutionLimits>;
  /** Default: the page of this package. */
  readonly page?: PageFiles;
}

const MAX_CONTEXT_BYTES = 4 * 1024 ** 3;
/** Contexts that arrive while all runs are running. */
const MAX_UPLOADS = 8;
const NO_MODEL = { whyNot: "none is configured" };
const NEVER = new AbortController().signal;

export function createServerContext(runtime: Runtime, options: ServerContextOptions = {}): ServerContext {
  const {
    model = NO_MODEL,
    maxRuns,
    maxContextBytes = MAX_CONTEXT_BYTES,
    sessionDefaults = {},
    minThroughput = DEFAULT_MIN_THROUGHPUT,
  } = options;
  const { draining = NEVER, closing = NEVER } = options;
  const executions = new Executions(options.executions ?? {}, (id) => runtime.sessions.findExecution(id));
  const runs = new RunAdmission(runtime, model, maxRuns);
  const activity = new ActivityTracker();
  return {
    runtime,
    executions,
    activity,
    metrics: new Metrics(runtime, executions),
    sessionDefaults,
    bodyMemory: new MemoryBudget(BODY_MEMORY),
    minThroughput,
    idempotency: new Idempotency(options.journal),
    responses: new StoredResponses(),
    runs,
    mcp: new MCPMount({ runtime, runs, activity, draining, closing }, options.mcp),
    spool: new Spool(),
    runContexts: { spool: new Spool((maxRuns ?? DEFAULT_MAX_RUNS) + MAX_UPLOADS), maxBytes: maxContextBytes },
    tickets: new Tickets(),
    page: options.page ?? new PageFiles(),
    upgrades: new WeakMap(),
    draining,
    closing,
  };
}
