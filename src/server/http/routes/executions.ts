// Executions: running code in a session, and reading, following and cancelling it afterwards.
//
// An execution keeps running when its client disconnects. It is found by its id, or by repeating the request with the same Idempotency-Key.

import { ExecutionNotFoundError } from "../../../errors.ts";
import { executeAnswer, executionResult, type ExecutionResult } from "../../../protocol/execution.ts";
import type { VariableList } from "../../../protocol/variables.ts";
import type { Execution } from "../../../session/execution/execution.ts";
import { onAbort } from "../../../util/async/on-abort.ts";
import { waitFor } from "../../../util/async/wait-for.ts";
import { randomId } from "../../../util/make-id.ts";
import { omitUndefined } from "../../../util/omit-undefined.ts";
import { checkLimits } from "../../context/check-limits.ts";
import type { ServerContext } from "../../context/server-context.ts";
import { answerInput, finalEvent, startExecution, startOneOff } from "../../context/session-requests.ts";
import { withArguments } from "../../net/problem.ts";
import { streamFollowed, toCursor } from "../responses/event-stream.ts";
import { toOutput } from "../responses/output.ts";
import { BYTES, EVENTS, json, noContent, routesTagged, wantsEvents, type RouteRequest } from "../route.ts";
import * as schemas from "../../../protocol/api/executions.ts";
import { waitQuery } from "../../../protocol/api/parameters.ts";
import { SESSION_CREATED, sessionCreatedAt } from "../session-created.ts";
import { IDEMPOTENCY_KEY, startOnce } from "../start-once.ts";
import { checkNotClosed, openedBy, sessionOf, toOptions, withDefaults } from "./sessions.ts";

const route = routesTagged("Executions");

const PATH = "/v1/executions";
const EXECUTE_HEADERS = {
  ...IDEMPOTENCY_KEY,
  accept: "`text/event-stream`: events as they happen; the last one has the result",
  prefer: "`respond-async`: do not wait for the end",
};
const EXECUTE_RESPONSES = {
  200: { description: "The result, or a stream of events", schema: executeAnswer, types: [EVENTS] },
  202: { description: "Running or queued", schema: schemas.execution },
};

const execute = route("POST", "/v1/sessions/{id}/execute", {
  summary: "Execute code in a session",
  description:
    "Responds with the result when the code has ended; with server-sent events if `Accept` is `text/event-stream`; at once if " +
    "`Prefer` is `respond-async`. Code that fails is not an error of the request: see `status`.",
  headers: EXECUTE_HEADERS,
  body: schemas.executeBody,
  responses: EXECUTE_RESPONSES,
  problems: [404, 409, 410],
  handle: async ({ request, requestId, params, body: { onDisconnect, ...body } }, context) => {
    const once = { path: PATH, scope: `execute ${params["id"]}`, kind: "execution", isLasting: false, body } as const;
    const { id, headers } = await startOnce(request, once, context, () => {
      return startExecution(sessionOf({ request, params }, context), body, { requestId }, context).id;
    });
    return respond(request, { id, headers, onDisconnect, hasVariables: body.variables }, context);
  },
});

const executeOnce = route("POST", "/v1/execute", {
  summary: "Execute code in a temporary session, which ends with it",
  description:
    "Responds as the execution of code in a session does. The execution, its output and its events stay available for as long as ended " +
    "executions are kept.",
  headers: EXECUTE_HEADERS,
  body: schemas.oneOffBody,
  responses: EXECUTE_RESPONSES,
  problems: [404, 409, 410],
  handle: async ({ request, requestId, body: { onDisconnect, ...body } }, context) => {
    const once = { path: PATH, scope: "/v1/execute", kind: "execution", body } as const;
    const { id, headers } = await startOnce(request, once, context, async () => {
      const { environment, cwd, argv, limits, includeStdlib, ...own } = body;
      checkLimits(limits, context.runtime.limits);
      const options = withDefaults(toOptions({ environment, cwd, argv, limits, includeStdlib }), context);
      return (await openedBy(() => startOneOff(own, options, { requestId }, context))).id;
    });
    return respond(request, { id, headers, onDisconnect, hasVariables: false }, context);
  },
});

interface Responding {
  readonly id: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly onDisconnect: schemas.ExecuteBody["onDisconnect"];
  readonly hasVariables: boolean;
}

/** With the result, events, or at once, as the client prefers. Throws ExecutionNotFoundError when it is no longer kept. */
async function respond(request: Request, responding: Responding, context: ServerContext): Promise<Response> {
  const { id, onDisconnect, hasVariables } = responding;
  const execution = context.executions.get(id);
  if (onDisconnect === "interrupt") onAbort(request.signal, () => execution.cancel());
  const headers = { "execution-id": id, ...responding.headers };
  if (wantsEvents(request)) {
    const variables = hasVariables ? () => variablesOf(execution, context) : undefined;
    return streamFollowed(execution, context, { headers, finalEvent: () => finalEvent(execution, variables) });
  }
  if (request.headers.get("prefer")?.includes("respond-async") === true)
    return json(describe(execution, context), 202, headers);
  const result: ExecutionResult = await execution.result;
  if (!hasVariables) return json(result, 200, headers);
  // The session may have closed since. The result is not lost for that.
  const variables = await variablesOf(execution, context).catch(() => null);
  return json({ ...result, variables }, 200, headers);
}

const history = route("GET", "/v1/sessions/{id}/executions", {
  summary: "The last 1,000 executions of a session",
  responses: { 200: { description: "Oldest first", schema: schemas.historyList } },
  problems: [404, 410],
  handle: (request, context) => json({ executions: sessionOf(request, context).history() }),
});

const show = route("GET", "/v1/executions/{id}", {
  summary: "The state of an execution, with its result when it has ended",
  query: waitQuery,
  responses: { 200: { description: "Its state", schema: schemas.execution } },
  problems: [404],
  handle: async ({ params, query, request }, context) => {
    const execution = executionOf({ params }, context);
    if (query.waitMs !== undefined) await waitFor(execution.result, query.waitMs, request.signal);
    return json(describe(execution, context));
  },
});

const output = route("GET", "/v1/executions/{id}/output", {
  summary: "The output of an execution, from a byte offset",
  description: "The raw bytes. The headers `Next-Offset`, `Total-Bytes` and `Readable-Bytes` say where to continue.",
  headers: SESSION_CREATED,
  query: schemas.executionOutputQuery,
  responses: { 200: { description: "The bytes", types: [BYTES] } },
  problems: [404, 410],
  handle: (request, context) => {
    const { sessionId: id } = request.query;
    // Without the header, the output is readable after the end of its session.
    if (id !== undefined && sessionCreatedAt(request.request) !== null)
      checkNotClosed({ ...request, params: { id } }, context);
    const execution = executionOf(request, context);
    const { sessionId = execution.sessionId } = request.query;
    if (sessionId !== execution.sessionId) throw new ExecutionNotFoundError({ executionId: execution.id });
    return toOutput(execution, request);
  },
});

const events = route("GET", "/v1/executions/{id}/events", {
  summary: "Follow an execution, from the beginning or from a cursor",
  headers: { "last-event-id": "The id of the last event received" },
  query: schemas.eventsQuery,
  responses: { 200: { description: "The events, up to the end", types: [EVENTS] } },
  problems: [404],
  handle: (request, context) => {
    const execution = executionOf(request, context);
    const options = { after: toCursor(request), finalEvent: () => finalEvent(execution, undefined) };
    return withArguments(() => streamFollowed(execution, context, options));
  },
});

const cancel = route("POST", "/v1/executions/{id}/cancel", {
  summary: "Interrupt one execution, or remove it from the queue",
  isLight: true,
  responses: { 202: { description: "Cancellation was requested", schema: schemas.execution } },
  problems: [404],
  handle: ({ params }, context) => {
    const execution = executionOf({ params }, context);
    execution.cancel();
    return json(describe(execution, context), 202);
  },
});

const stdin = route("POST", "/v1/executions/{id}/stdin", {
  isOnce: true,
  summary: "Send a line to code that waits for input",
  isLight: true,
  body: schemas.stdinBody,
  responses: { 204: { description: "Delivered" } },
  problems: [404, 409],
  handle: ({ params, body }, context) => {
    answerInput(executionOf({ params }, context), body);
    return noContent();
  },
});

/** The code is interrupted when the client disconnects. */
const interpret = route("POST", "/process/interpreter/execute", {
  summary: "Execute code in a temporary session",
  body: schemas.interpreterBody,
  responses: { 200: { description: "The result", schema: executionResult } },
  handle: async ({ request, requestId, body: { code, timeout, envs } }, context) => {
    const sessionOptions = withDefaults({ id: randomId("x"), env: envs }, context);
    const session = await withArguments(() => context.runtime.openSession(sessionOptions));
    try {
      const options = { signal: request.signal, ...(timeout !== undefined && { timeoutMs: timeout * 1000 }) };
      const execution = context.executions.start(session, code, options, "not");
      context.activity.track({ execution }, { requestId });
      return json(await execution.result);
    } finally {
      void session.discard();
      context.runtime.sessions.closed.forget(session.id);
    }
  },
});

export const executionRoutes = [execute, executeOnce, history, show, output, events, cancel, stdin, interpret];

/** Throws ExecutionNotFoundError. */
function executionOf({ params }: Pick<RouteRequest, "params">, { executions }: ServerContext): Execution {
  return executions.get(params["id"] ?? "");
}

async function variablesOf({ sessionId }: Execution, { runtime }: ServerContext): Promise<VariableList> {
  return runtime.sessions.get(sessionId).variables();
}

function describe(execution: Execution, { executions }: ServerContext): schemas.ExecutionView {
  const { id, sessionId, startedAt } = execution;
  const outcome = executions.outcomeOf(execution);
  return {
    id,
    sessionId,
    state: outcome !== undefined ? "ended" : startedAt === undefined ? "waiting" : "running",
    startedAt: startedAt === undefined ? null : new Date(startedAt).toISOString(),
    outputBytes: execution.printed.total,
    result: outcome?.result ?? null,
    ...omitUndefined({ problem: outcome?.problem }),
  };
}
