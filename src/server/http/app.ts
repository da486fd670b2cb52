// The routes of `rlm serve`, behind their guards: names and token first, then what is asked, parsed.

import type { Context } from "hono";
import type { Runtime } from "../../runtime.ts";
import { AskedRuns, type ConfiguredModel } from "../context/run-admission.ts";
import { BodyRoom } from "../net/memory-budget.ts";
import { parseBody, parseValue } from "../net/bodies/body.ts";
import { DEFAULT_PACE } from "../net/bodies/min-throughput.ts";
import type { Door } from "../context/server-context.ts";
import { Executions, type ExecutionsBounds } from "../context/executions.ts";
import { createGuardedApp, type GuardOptions } from "../net/guards/guarded-app.ts";
import { Inputs } from "../context/pending-inputs.ts";
import { MCPDoor, type MCPDoorOptions } from "../mcp-mount.ts";
import { Begun } from "../observability/activity-tracker.ts";
import { Metrics } from "../observability/metrics.ts";
import { ENDING, ProblemError } from "../net/problem.ts";
import { Retries } from "../context/idempotency.ts";
import type { Asked, Route } from "./route.ts";
import { API_ROUTES, ROUTES } from "./routes.ts";
import { Spool } from "../net/bodies/spool.ts";
import { Tickets } from "../net/guards/tickets.ts";
import { Wire, type Connection } from "../net/bodies/request-stream.ts";

export interface DoorOptions {
  /** Which model runs ask, unless a request names another there; or why there is none. */
  readonly model?: ConfiguredModel;
  /** Runs at once. Default: 8. */
  readonly runsAtOnce?: number;
  readonly mcp?: MCPDoorOptions;
  readonly executions?: Partial<ExecutionsBounds>;
  readonly sessionDefaults?: Door["sessionDefaults"];
  /** How slow a client may be that sends or takes much. */
  readonly pace?: Door["pace"];
  readonly draining?: AbortSignal;
  readonly ending?: AbortSignal;
}

const NO_MODEL = { whyNot: "none is configured" };
const NEVER = new AbortController().signal;

export function openDoor(runtime: Runtime, options: DoorOptions = {}): Door {
  const { model = NO_MODEL, runsAtOnce, sessionDefaults = {}, pace = DEFAULT_PACE } = options;
  const { draining = NEVER, ending = NEVER } = options;
  const executions = new Executions(options.executions);
  const runs = new AskedRuns(runtime, model, runsAtOnce);
  const begun = new Begun();
  return {
    runtime,
    executions,
    begun,
    metrics: new Metrics({ runtime, executions }),
    sessionDefaults,
    bodies: new BodyRoom(),
    pace,
    inputs: new Inputs(),
    retries: new Retries(),
    runs,
    mcp: new MCPDoor({ runtime, runs, begun, draining, ending }, options.mcp),
    spool: new Spool(),
    tickets: new Tickets(),
    upgrades: new WeakMap(),
    draining,
    ending,
  };
}

/** `more`: routes beside those that are documented. */
export function createApp(
  door: Door,
  guard: GuardOptions,
  more: readonly Route[] = [],
): ReturnType<typeof createGuardedApp> {
  const served = [...ROUTES, ...API_ROUTES, ...more].map((one) => ({
    method: one.method,
    path: toPattern(one.path),
    name: one.path,
    isOpen: one.isOpen === true,
    isLight: one.isLight === true,
    handle: (context: Context) => answer(one, context, door),
  }));
  return createGuardedApp(served, guard);
}

/** From OpenAPI's way to write a path to Hono's. */
function toPattern(path: string): string {
  return path.replaceAll(
    /\{(\w+)(\+?)\}/g,
    (_whole, name: string, rest: string) => `:${name}${rest === "" ? "" : "{[^]+}"}`,
  );
}

async function answer(one: Route, { req, env, get }: Context, door: Door): Promise<Response> {
  if (door.draining.aborted && beginsSomething(one)) throw new ProblemError(ENDING);
  const query = one.query === undefined ? { value: undefined } : parseValue(req.query(), one.query, "query");
  if ("problem" in query) throw new ProblemError(query.problem);
  const wire = new Wire(req.raw, env as Connection | undefined, door.pace);
  const { body: schema, maxBodyBytes } = one;
  const body =
    schema === undefined
      ? { value: undefined }
      : await wire.whileReading(door.bodies, (hold) => parseBody(req.raw, schema, hold, maxBodyBytes));
  if ("problem" in body) throw new ProblemError(body.problem);
  const asked: Asked = {
    request: req.raw,
    requestId: get("requestId") as string,
    params: req.param(),
    query: query.value,
    body: body.value,
    wire,
  };
  return one.handle(asked as Asked<never, never>, door);
}

function beginsSomething({ method, isLight }: Route): boolean {
  return isLight !== true && (method === "POST" || method === "PUT");
}
