// Builds the context of `rlm serve`: the one module that knows HTTP, MCP and the metrics.

import type { Runtime } from "../runtime.ts";
import { Executions, type ExecutionLimits } from "./context/executions.ts";
import { Idempotency } from "./context/idempotency.ts";
import { PendingInputs } from "./context/pending-inputs.ts";
import { RunAdmission, type ConfiguredModel } from "./context/run-admission.ts";
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
  readonly mcp?: MCPMountOptions;
  readonly executions?: Partial<ExecutionLimits>;
}

const NO_MODEL = { whyNot: "none is configured" };
const NEVER = new AbortController().signal;

export function createServerContext(runtime: Runtime, options: ServerContextOptions = {}): ServerContext {
  const { model = NO_MODEL, maxRuns, sessionDefaults = {}, minThroughput = DEFAULT_MIN_THROUGHPUT } = options;
  const { draining = NEVER, closing = NEVER } = options;
  const executions = new Executions(options.executions);
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
    pendingInputs: new PendingInputs(),
    idempotency: new Idempotency(),
    runs,
    mcp: new MCPMount({ runtime, runs, activity, draining, closing }, options.mcp),
    spool: new Spool(),
    tickets: new Tickets(),
    upgrades: new WeakMap(),
    draining,
    closing,
  };
}
