// Recursive runs: questions over more than a model can read, asked, followed, ended; and what was recorded of earlier ones.
//
// A client that goes away leaves its run going on: it is found again by its id, or by asking again under the same Idempotency-Key.

import type { z } from "zod";
import type { RecordedRun } from "../../../store/runs/run-log-reader.ts";
import type { Run } from "../../../rlm/run.ts";
import type { RunRequest } from "../../../rlm/rlm.ts";
import { omitUndefined } from "../../../util/omit-undefined.ts";
import { waitFor } from "../../../util/async/wait-for.ts";
import type { Door } from "../server-context.ts";
import { streamEvents } from "../responses/event-stream.ts";
import { ProblemError, withArguments, type Problem } from "../../net/problem.ts";
import { followRecorded } from "../responses/recorded-events.ts";
import { IDEMPOTENCY_KEY } from "../idempotency.ts";
import { json, route } from "../route.ts";
import { describeRun, findRecorded, findRun, isRecorded, listAll } from "../responses/run-views.ts";
import * as schemas from "../schemas/runs.ts";
import { follow } from "./executions.ts";

const TAG = "Runs";
const EVENTS = "text/event-stream";
const RAW = "application/octet-stream";
const MAX_WAIT_MS = 60_000;
const DEFAULT_LISTED = 50;
const MAX_LISTED = 1000;
/** A run that has just begun is on disk by then. */
const RECORDING_TRIES = 20;
const RECORDING_MS = 50;

const start = route({
  method: "POST",
  path: "/v1/runs",
  tag: TAG,
  summary: "Ask a question over material that is too long to read",
  description:
    "Answers at once, or after `waitMs`; with server-sent events where `Accept` is `text/event-stream`. The run goes on without its client. " +
    "Which backend and which key are used is the server's configuration alone.",
  headers: { ...IDEMPOTENCY_KEY, accept: "`text/event-stream`: events as they happen, the result in the last of them" },
  body: schemas.startRunBody,
  answers: {
    200: {
      description: "It was started before, under the same Idempotency-Key; or a stream of events",
      schema: schemas.run,
      types: [EVENTS],
    },
    201: { description: "It has begun", schema: schemas.run },
  },
  problems: [404, 409],
  handle: async ({ request, requestId, body }, door) => {
    const { headers, signal } = request;
    const { waitMs, ...asked } = body;
    const begin = async (): Promise<string> => {
      const run = await withArguments(() => door.runs.start(toRequest(asked)));
      door.begun.note({ run }, { requestId });
      return run.id;
    };
    const { id, isRetry } = door.retries.once(headers.get("idempotency-key"), "runs", asked, begin);
    const found = await findRun(door.runtime, await id);
    const told = { location: `/v1/runs/${found.id}`, ...(isRetry && { "idempotency-replayed": "true" }) };
    if (headers.get("accept")?.includes(EVENTS) === true) return tell(found, 0, door, told);
    if (waitMs !== undefined && !isRecorded(found)) await waitFor(found.result, waitMs, signal);
    return json(await describeRun(found), isRetry ? 200 : 201, told);
  },
});

const list = route({
  method: "GET",
  path: "/v1/runs",
  tag: TAG,
  summary: "List runs, those that go on and those that were recorded",
  query: schemas.runsQuery,
  answers: { 200: { description: "The latest first", schema: schemas.runList } },
  handle: async ({ query: { limit = DEFAULT_LISTED } }, { runtime }) =>
    json(await listAll(runtime, Math.min(limit, MAX_LISTED))),
});

const show = route({
  method: "GET",
  path: "/v1/runs/{id}",
  tag: TAG,
  summary: "How a run stands, with its result once it has ended",
  query: schemas.runQuery,
  answers: { 200: { description: "Its state", schema: schemas.run } },
  problems: [404],
  handle: async ({ request, params, query: { waitMs } }, { runtime }) => {
    const found = await findRun(runtime, params["id"] ?? "");
    if (waitMs !== undefined && !isRecorded(found))
      await waitFor(found.result, Math.min(waitMs, MAX_WAIT_MS), request.signal);
    return json(await describeRun(found));
  },
});

const events = route({
  method: "GET",
  path: "/v1/runs/{id}/events",
  tag: TAG,
  summary: "Follow a run, from its beginning or from where a reader was",
  description:
    "Each event once, its number as id; recorded ones first, and then those that happen. Of an earlier run deltas are not recorded. " +
    "Of one that goes on, a reader that is too far behind is told `event-gap`: what is after its `after`, up to its `seq`, is read with `texts=references`.",
  headers: { "last-event-id": "The number of the last event that was seen" },
  query: schemas.runEventsQuery,
  answers: { 200: { description: "Its events, up to the end", types: [EVENTS] } },
  problems: [404],
  handle: async ({ request, params, query }, door) => {
    const after = query.after ?? toNumber(request.headers.get("last-event-id"));
    const found = await findRun(door.runtime, params["id"] ?? "");
    if (query.texts === "whole") return tell(found, after, door);
    const recorded = isRecorded(found) ? found : await awaitRecorded(found);
    return streamEvents((signal) => followRecorded(recorded, after, { isWhole: false, signal }), door);
  },
});

const blob = route({
  method: "GET",
  path: "/v1/runs/{id}/blobs/{hash}",
  tag: TAG,
  summary: "A long text of a run, by its hash",
  description:
    "What `$blob` in an event stands for. The same hash always means the same bytes, so it may be kept for ever.",
  answers: { 200: { description: "The bytes: a text in UTF-8, JSON, or a piece of the context", types: [RAW] } },
  problems: [404],
  handle: async ({ params }) => {
    const { id = "", hash = "" } = params;
    const recorded = await findRecorded(id);
    if (!/^[0-9a-f]{64}$/.test(hash)) throw new ProblemError(noBlob(hash));
    const bytes = await recorded.blob(hash).catch((error: NodeJS.ErrnoException) => {
      throw error.code === "ENOENT" ? new ProblemError(noBlob(hash)) : error;
    });
    const headers = { "content-type": RAW, "cache-control": "private, max-age=31536000, immutable" };
    return new Response(new Uint8Array(bytes), { headers });
  },
});

const cancel = route({
  method: "POST",
  path: "/v1/runs/{id}/cancel",
  tag: TAG,
  summary: "End a run with all its calls and sessions",
  isLight: true,
  description: "Answers when it is told. Nothing happens where it has ended.",
  answers: { 202: { description: "It was told", schema: schemas.run } },
  problems: [404, 409],
  handle: async ({ params }, { runtime }) => {
    const found = await findRun(runtime, params["id"] ?? "");
    if (!isRecorded(found)) found.cancel();
    const described = await describeRun(found);
    if (isRecorded(found) && described.status === "running") throw new ProblemError(ELSEWHERE);
    return json(described, 202);
  },
});

export const runRoutes = [start, list, show, events, blob, cancel];

const ELSEWHERE: Problem = {
  status: 409,
  code: "RUN_ELSEWHERE",
  detail: "Another process runs it: it can be ended only there",
};

function noBlob(hash: string): Problem {
  return { status: 404, code: "BLOB_NOT_FOUND", detail: `The run has no blob '${hash.slice(0, 100)}'` };
}

/** Whatever a client sends as context is data: it names no file of the host. */
function toRequest({
  query,
  context,
  schema: outputSchema,
  limits,
  model,
  subModel,
  mode,
}: Omit<z.output<typeof schemas.startRunBody>, "waitMs">): RunRequest {
  return {
    query,
    ...(context !== undefined && { context: typeof context === "string" ? { text: context } : { json: context } }),
    ...omitUndefined({ outputSchema, model, subModel, mode, limits: limits && omitUndefined(limits) }),
  };
}

function tell(
  found: Run | RecordedRun,
  after: number,
  door: Door,
  headers: Readonly<Record<string, string>> = {},
): Response {
  if (!isRecorded(found)) return follow(found, String(after), door, { headers });
  return streamEvents((signal) => followRecorded(found, after, { isWhole: true, signal }), door, headers);
}

function toNumber(id: string | null): number {
  if (id === null || id === "") return 0;
  if (/^\d{1,15}$/.test(id)) return Number(id);
  const detail = `Cannot go on after '${id.slice(0, 100)}': it is no place in a stream of events`;
  throw new ProblemError({ status: 422, code: "INVALID", detail });
}

/** Throws a ProblemError where it is not recorded. */
async function awaitRecorded({ id }: Run): Promise<RecordedRun> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await findRecorded(id);
    } catch (error) {
      if (tries >= RECORDING_TRIES || !(error instanceof ProblemError)) throw error;
      await new Promise((resolve) => {
        setTimeout(resolve, RECORDING_MS);
      });
    }
  }
}
