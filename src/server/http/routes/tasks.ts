// Tasks: shell commands in sessions, and executions and runs that became tasks, under one kind of id.
//
// A task keeps running when its client disconnects. It is found by its id, or by repeating the request with the same Idempotency-Key.

import type { z } from "zod";
import type { Task } from "../../../tasks/tasks.ts";
import { withTimeout } from "../../../util/async/with-timeout.ts";
import { omitUndefined } from "../../../util/omit-undefined.ts";
import type { ServerContext } from "../../context/server-context.ts";
import { parseJSONBytes, parseValue, readBytes } from "../../net/bodies/body.ts";
import type { Reservation } from "../../net/memory-budget.ts";
import { ProblemError, withArguments } from "../../net/problem.ts";
import type { ActivityOrigin } from "../../observability/activity-tracker.ts";
import { streamFollowed, toCursor } from "../responses/event-stream.ts";
import { listTasks } from "../../../views/lists.ts";
import { toOutput } from "../responses/output.ts";
import { BYTES, EVENTS, json, noContent, routesTagged, wantsEvents, type Route, type RouteRequest } from "../route.ts";
import { eventsQuery, outputQuery } from "../../../protocol/api/executions.ts";
import { waitQuery } from "../../../protocol/api/parameters.ts";
import * as schemas from "../../../protocol/api/tasks.ts";
import { IDEMPOTENCY_KEY, startOnce } from "../start-once.ts";
import { SESSION_CREATED } from "../session-created.ts";
import { checkNotClosed } from "./sessions.ts";

const route = routesTagged("Tasks");
const PATH = "/v1/tasks";
/** A cancelled task gets two seconds to exit before it is killed. */
const CANCEL_MS = 10_000;
/** A command that has not read its input by then may never do. */
const INPUT_MS = 2_000;

const create = route("POST", PATH, {
  summary: "Run a shell command in a session",
  description:
    "Responds at once, or after `waitMs`; with server-sent events if `Accept` is `text/event-stream`. The task does not depend on the connection.",
  headers: {
    ...IDEMPOTENCY_KEY,
    ...SESSION_CREATED,
    accept: "`text/event-stream`: events as they happen, up to the end",
  },
  body: schemas.startTaskBody,
  responses: {
    200: {
      description: "Already started with the same Idempotency-Key; or a stream of events",
      schema: schemas.task,
      types: [EVENTS],
    },
    201: { description: "Started", schema: schemas.task },
  },
  problems: [404, 409, 410],
  handle: async ({ request, requestId, body: { waitMs, ...body } }, context) => {
    const begin = (): Promise<string> => start(request, body, { requestId }, context);
    const { id, isRetry, headers } = await startOnce(request, { path: PATH, kind: "task", body }, context, begin);
    const task = context.runtime.tasks.get(id);
    if (wantsEvents(request)) return streamFollowed(task, context, { headers });
    if (waitMs !== undefined) await task.wait(waitMs, request.signal);
    return json(await describe(task), isRetry ? 200 : 201, headers);
  },
});

const list = route("GET", PATH, {
  summary: "List running tasks, and those that ended recently",
  query: schemas.tasksQuery,
  responses: { 200: { description: "In the order of their start", schema: schemas.taskList } },
  handle: async ({ query }, { runtime }) => {
    const { items: tasks, next } = await withArguments(() => listTasks(runtime, query));
    return json({ tasks, next });
  },
});

const show = route("GET", `${PATH}/{id}`, {
  summary: "The state of a task, with its result when it has ended",
  query: waitQuery,
  responses: { 200: { description: "Its state", schema: schemas.task } },
  problems: [404],
  handle: async ({ request, params, query }, context) => {
    const task = taskOf({ params }, context);
    if (query.waitMs !== undefined) await task.wait(query.waitMs, request.signal);
    return json(await describe(task));
  },
});

const output = route("GET", `${PATH}/{id}/output`, {
  summary: "The output of a task, from a byte offset",
  description:
    "The raw bytes. The headers `Next-Offset`, `Total-Bytes` and `Readable-Bytes` say where to continue. For a run: a line for each step, then the answer.",
  query: outputQuery,
  responses: { 200: { description: "The bytes", types: [BYTES] } },
  problems: [404],
  handle: (request, context) => toOutput(taskOf(request, context), request),
});

const events = route("GET", `${PATH}/{id}/events`, {
  summary: "Follow a task, from the beginning or from a cursor",
  description: "A task that is an execution or a run has the events of that.",
  headers: { "last-event-id": "The id of the last event received" },
  query: eventsQuery,
  responses: { 200: { description: "The events, up to the end", types: [EVENTS] } },
  problems: [404],
  handle: (request, context) =>
    withArguments(() => streamFollowed(taskOf(request, context), context, { after: toCursor(request) })),
});

interface Control {
  readonly summary: string;
  readonly description?: string;
  readonly problems: readonly number[];
  readonly apply: (task: Task) => Promise<unknown>;
}

/** A route that changes a task and responds with its state. */
function control(action: string, { apply, ...description }: Control): Route {
  return route("POST", `${PATH}/{id}/${action}`, {
    ...description,
    isLight: true,
    responses: { 200: { description: "Its state", schema: schemas.task } },
    handle: async (request, context) => {
      const task = taskOf(request, context);
      await apply(task);
      return json(await describe(task));
    },
  });
}

const cancel = control("cancel", {
  summary: "End a task and everything that it started",
  description: "Responds when all its processes have ended, after 10 s at most. Does nothing when it has ended.",
  problems: [404],
  apply: (task) => withTimeout(CANCEL_MS, task.cancel()),
});

const pause = control("pause", {
  summary: "Pause every process of a shell command",
  problems: [404, 409],
  apply: (task) => task.pause(),
});

const resume = control("resume", {
  summary: "Resume a shell command",
  problems: [404, 409],
  apply: (task) => task.resume(),
});

const stdin = route("POST", `${PATH}/{id}/stdin`, {
  isOnce: true,
  summary: "Write to a shell command that was started with `stdin: open`",
  isLight: true,
  description: "As JSON `{ text?, close? }`, or as bytes if `Content-Type` is `application/octet-stream`.",
  query: schemas.taskInputQuery,
  rawBody: {
    types: ["application/json", BYTES],
    description: "`{ text?, close? }`, or the bytes themselves; at most 64 MiB",
  },
  responses: {
    202: { description: "Not read yet" },
    204: { description: "Delivered" },
  },
  problems: [404, 409],
  handle: async ({ request, params, query, stream }, context) => {
    const task = taskOf({ params }, context);
    const { data, isLast } = await stream.whileReading(context.bodyMemory, (memory) =>
      readInput({ request, stream }, query.close === true, memory),
    );
    const writing = data === undefined ? Promise.resolve() : task.write(data);
    const isTaken = await withTimeout(
      INPUT_MS,
      writing.then(() => true),
    );
    if (isLast) task.closeInput();
    return isTaken === true ? noContent() : new Response(null, { status: 202 });
  },
});

export const taskRoutes = [create, list, show, output, events, cancel, pause, resume, stdin];

/** Throws TaskNotFoundError. */
function taskOf({ params }: Pick<RouteRequest, "params">, { runtime }: ServerContext): Task {
  return runtime.tasks.get(params["id"] ?? "");
}

async function start(
  request: Request,
  { command, sessionId: session, stdin: given, ...options }: Omit<z.output<typeof schemas.startTaskBody>, "waitMs">,
  origin: ActivityOrigin,
  context: ServerContext,
): Promise<string> {
  if (session !== undefined) checkNotClosed({ request, params: { id: session } }, context);
  const { runtime, activity } = context;
  const isBase64 = typeof given === "object" && "base64" in given;
  const input = isBase64 ? { bytes: Buffer.from(given.base64, "base64") } : given;
  const task = await withArguments(() => runtime.shell(command, omitUndefined({ ...options, stdin: input, session })));
  activity.track({ task }, origin);
  return task.id;
}

async function describe(task: Task): Promise<schemas.TaskView> {
  if (task.kind === "shell" && !task.isOver) await task.measure();
  const result = task.isOver ? await task.result : null;
  return { ...task.info(), result };
}

async function readInput(
  { request, stream }: Pick<RouteRequest, "request" | "stream">,
  isLast: boolean,
  memory: Reservation,
): Promise<{ data: string | Uint8Array | undefined; isLast: boolean }> {
  const bytes = await readBytes(request, memory);
  if ("problem" in bytes) throw new ProblemError(bytes.problem);
  stream.noteBody(bytes.value);
  if (request.headers.get("content-type")?.startsWith(BYTES) === true) return { data: bytes.value, isLast };
  const parsed = parseJSONBytes(bytes.value, { empty: "{}" });
  const body = "problem" in parsed ? parsed : parseValue(parsed.value, schemas.taskInputBody, "body");
  if ("problem" in body) throw new ProblemError(body.problem);
  return { data: body.value.text, isLast: isLast || body.value.close };
}
