// Recursive runs: starting, following and cancelling them, and reading what is recorded of earlier ones.
//
// A run keeps running when its client disconnects. It is found by its id, or by repeating the request with the same Idempotency-Key.

import { RunNotFoundError } from "../../../errors.ts";
import type { RunRequest } from "../../../rlm/rlm.ts";
import type { ContextValue } from "../../../rlm/context/context-items.ts";
import type { Run } from "../../../rlm/run.ts";
import type { RecordedRun } from "../../../store/runs/run-log-reader.ts";
import { waitFor } from "../../../util/async/wait-for.ts";
import { omitUndefined } from "../../../util/omit-undefined.ts";
import { OUTCOME_LOST } from "../../context/idempotency.ts";
import type { ServerContext } from "../../context/server-context.ts";
import { isMultipart } from "../../net/bodies/multipart.ts";
import type { RequestStream } from "../../net/bodies/request-stream.ts";
import { ProblemError, toProblem, toSummary, withArguments, type Problem } from "../../net/problem.ts";
import { streamEvents, streamFollowed } from "../responses/event-stream.ts";
import { followRecorded } from "../responses/recorded-events.ts";
import { describeRun, findRecord, findRecorded, findRun, isRecorded, listRuns } from "../../../views/runs.ts";
import { BYTES, EVENTS, json, routesTagged, wantsEvents } from "../route.ts";
import { run as runSchema, runList, type RunView } from "../../../protocol/runs.ts";
import { waitQuery } from "../../../protocol/api/parameters.ts";
import * as schemas from "../../../protocol/api/runs.ts";
import { receiveRunForm, type RunForm } from "../run-form.ts";
import { IDEMPOTENCY_KEY, startOnce } from "../start-once.ts";

const route = routesTagged("Runs");
const PATH = "/v1/runs";

const start = route("POST", "/v1/runs", {
  summary: "Start a run: a question over a long context",
  description:
    "Responds at once, or after `waitMs`; with server-sent events if `Accept` is `text/event-stream`. The run does not depend on the " +
    "connection. The server's configuration alone decides which backend and which key are used.",
  headers: { ...IDEMPOTENCY_KEY, accept: "`text/event-stream`: events as they happen; the last one has the result" },
  body: schemas.startRunRequest,
  form:
    "As a form: the part `request` first, which is the JSON body; then the context, one part for each text. A part is the variable of its " +
    "name, and several parts of one name, with file names, are a dict from file name to text. `parts` in the request says it exactly: " +
    "`[{ part, variable, as: text | json } | { part, variable, file } | { part, variable, files: [{ name, size }] }]`. A part with `files` " +
    "has their contents one after the other. At most 1,000 parts, 100,000 files and 4 GiB.",
  responses: {
    200: {
      description: "Already started with the same Idempotency-Key; or a stream of events",
      schema: runSchema,
      types: [EVENTS],
    },
    201: { description: "Started", schema: runSchema },
  },
  problems: [404, 409, 410, 507],
  handle: async ({ request, requestId, body: sent, stream }, context) => {
    context.runs.checkConfigured();
    const form = isMultipart(request) ? await receiveForm(request, stream, context) : undefined;
    const { waitMs, ...body } = form?.request ?? sent;
    const once = {
      path: PATH,
      kind: "run",
      isLasting: "recorded",
      body: { ...body, ...(form && { received: form.parts }) },
    } as const;
    let started: Run | undefined;
    const begin = async (): Promise<string> => {
      started = await withArguments(() => context.runs.start(toRequest(body, form?.variables)));
      context.activity.track({ run: started }, { requestId });
      return started.id;
    };
    const starting = startOnce(request, once, context, begin);
    if (form !== undefined) {
      await starting.catch(() => {});
      await disposeAfter(form, started, context);
    }
    const { id, isRetry, isEarlier, headers } = await starting;
    const found = await findRun(context.runtime, id).catch((error: unknown) => {
      throw isEarlier && error instanceof RunNotFoundError ? new ProblemError(OUTCOME_LOST) : error;
    });
    if (wantsEvents(request)) return streamRun(found, 0, context, headers);
    if (waitMs !== undefined && !isRecorded(found)) await waitFor(found.result, waitMs, request.signal);
    return json(await describe(found), isRetry ? 200 : 201, headers);
  },
});

const list = route("GET", "/v1/runs", {
  summary: "List running and recorded runs",
  query: schemas.runsQuery,
  responses: { 200: { description: "The latest first", schema: runList } },
  handle: async ({ query }, { runtime }) => {
    const { items: runs, next, total } = await withArguments(() => listRuns(runtime, query));
    return json({ runs, next, total });
  },
});

const show = route("GET", "/v1/runs/{id}", {
  summary: "The state of a run, with its result when it has ended",
  query: waitQuery,
  responses: { 200: { description: "Its state", schema: runSchema } },
  problems: [404],
  handle: async ({ request, params, query: { waitMs } }, { runtime }) => {
    const found = await findRun(runtime, params["id"] ?? "");
    if (waitMs !== undefined && !isRecorded(found)) await waitFor(found.result, waitMs, request.signal);
    return json(await describe(found));
  },
});

const events = route("GET", "/v1/runs/{id}/events", {
  summary: "Follow a run, from the beginning or from a cursor",
  description:
    "Each event once, with its number as id: recorded events first, then live ones. Deltas are not recorded. A reader of a running run that " +
    "is too far behind gets an `event-gap`: read the events after its `after`, up to its `seq`, with `texts=references`.",
  headers: { "last-event-id": "The number of the last event received" },
  query: schemas.runEventsQuery,
  responses: { 200: { description: "The events, up to the end", types: [EVENTS] } },
  problems: [404],
  handle: async ({ request, params, query }, context) => {
    const after = query.after ?? toSequenceNumber(request.headers.get("last-event-id"));
    const found = await findRun(context.runtime, params["id"] ?? "");
    if (query.texts === "whole") return streamRun(found, after, context);
    const recorded = isRecorded(found) ? found : await findRecord(context.runtime, found.id);
    return streamEvents((signal) => followRecorded(recorded, after, { isWhole: false, signal }), context);
  },
});

const blob = route("GET", "/v1/runs/{id}/blobs/{hash}", {
  summary: "A long text of a run, by its hash",
  description:
    "The value of a `$blob` in an event. A hash always means the same bytes, so the response may be cached forever.",
  responses: { 200: { description: "The bytes: UTF-8 text, JSON, or a part of the context", types: [BYTES] } },
  problems: [404],
  handle: async ({ params }) => {
    const { id = "", hash = "" } = params;
    const recorded = await findRecorded(id);
    if (!/^[0-9a-f]{64}$/.test(hash)) throw new ProblemError(noBlob(hash));
    const bytes = await recorded.blob(hash).catch((error: NodeJS.ErrnoException) => {
      throw error.code === "ENOENT" ? new ProblemError(noBlob(hash)) : error;
    });
    const headers = { "content-type": BYTES, "cache-control": "private, max-age=31536000, immutable" };
    return new Response(new Uint8Array(bytes), { headers });
  },
});

const cancel = route("POST", "/v1/runs/{id}/cancel", {
  summary: "Cancel a run with all its calls and sessions",
  isLight: true,
  description: "Responds without waiting for the end. Does nothing when it has ended.",
  responses: { 202: { description: "Cancellation was requested", schema: runSchema } },
  problems: [404, 409],
  handle: async ({ params }, { runtime }) => {
    const found = await findRun(runtime, params["id"] ?? "");
    if (!isRecorded(found)) found.cancel();
    const described = await describe(found);
    if (isRecorded(found) && described.status === "running") throw new ProblemError(ELSEWHERE);
    return json(described, 202);
  },
});

/** With the problem of a run that rejected. */
async function describe(found: Run | RecordedRun): Promise<RunView> {
  const view = await describeRun(found);
  if (isRecorded(found) || view.endedAt === null) return view;
  const problem = await found.result.then(
    () => undefined,
    (error: unknown) => toSummary(toProblem(error)),
  );
  return { ...view, ...omitUndefined({ problem }) };
}

export const runRoutes = [start, list, show, events, blob, cancel];

const ELSEWHERE: Problem = {
  status: 409,
  code: "RUN_ELSEWHERE",
  detail: "Another process runs it: it can be cancelled only there",
};

function noBlob(hash: string): Problem {
  const path = hash.slice(0, 100);
  return { status: 404, code: "BLOB_NOT_FOUND", detail: `The run has no blob '${path}'`, facts: { path } };
}

/** A client's context is always data and never a path on the host. */
function toRequest(
  request: Omit<schemas.StartRunRequest, "waitMs">,
  variables: Readonly<Record<string, ContextValue>> = {},
): RunRequest {
  const { id, query, context, schema, limits, mode, onLimit } = request;
  const { model, subModel, childModel, extractModel, temperature, seed } = request;
  const inline = typeof context === "string" ? { text: context } : { json: context };
  const all = { ...(context !== undefined && { context: inline }), ...variables };
  return {
    query,
    ...(Object.keys(all).length > 0 && { context: all }),
    ...omitUndefined({ id, schema, mode, onLimit, limits: limits && omitUndefined(limits) }),
    ...omitUndefined({ model, subModel, childModel, extractModel, temperature, seed }),
  };
}

async function receiveForm(request: Request, stream: RequestStream, context: ServerContext): Promise<RunForm> {
  using memory = context.bodyMemory.reserve();
  const { spool, maxBytes } = context.runContexts;
  const type = request.headers.get("content-type");
  return await stream.receive((content) => receiveRunForm(content, { type, spool, maxBytes, memory }));
}

/** The context is read until the run has ended and is recorded. A request that started nothing needs none. */
async function disposeAfter(form: RunForm, started: Run | undefined, { runtime }: ServerContext): Promise<void> {
  if (started === undefined) await form[Symbol.asyncDispose]();
  else void runtime.runs.settled(started.id).finally(() => void form[Symbol.asyncDispose]());
}

function streamRun(
  found: Run | RecordedRun,
  after: number,
  context: ServerContext,
  headers: Readonly<Record<string, string>> = {},
): Response {
  if (!isRecorded(found)) return streamFollowed(found, context, { after: String(after), headers });
  return streamEvents((signal) => followRecorded(found, after, { isWhole: true, signal }), context, headers);
}

function toSequenceNumber(id: string | null): number {
  if (id === null || id === "") return 0;
  if (/^\d{1,15}$/.test(id)) return Number(id);
  const detail = `Cannot resume after '${id.slice(0, 100)}': it is not a cursor of this event stream`;
  throw new ProblemError({ status: 422, code: "INVALID", detail });
}
