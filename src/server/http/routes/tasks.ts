// Tasks: shell commands in sessions, and executions and runs that became tasks, under one kind of id.
//
// A client that goes away leaves its task running: it is found again by its id, or by asking again under the same Idempotency-Key.

import type { z } from "zod";
import type { Task } from "../../../tasks/tasks.ts";
import { given } from "../../../util/omit-undefined.ts";
import { within } from "../../../util/async/with-timeout.ts";
import type { Hold } from "../../net/bodies/memory-budget.ts";
import { parseBody, readBytes } from "../../net/bodies/body.ts";
import type { Door } from "../server-context.ts";
import { ProblemError, withArguments } from "../../net/problem.ts";
import { toOutput } from "../responses/output.ts";
import { IDEMPOTENCY_KEY } from "../idempotency.ts";
import { json, nothing, route, type Asked } from "../route.ts";
import { eventsQuery, outputQuery } from "../../../protocol/api/executions.ts";
import { waitQuery } from "../../../protocol/api/parameters.ts";
import * as schemas from "../../../protocol/api/tasks.ts";
import type { Origin } from "../../observability/activity.ts";
import { follow } from "./executions.ts";

const TAG = "Tasks";
const EVENTS = "text/event-stream";
const RAW = "application/octet-stream";
const MAX_WAIT_MS = 60_000;
/** What is asked to end has two seconds; then it is ended. */
const CANCEL_MS = 10_000;
/** A command that has not read its input by then may never do. */
const INPUT_MS = 2_000;

const start = route({
  method: "POST",
  path: "/v1/tasks",
  tag: TAG,
  summary: "Run a shell command in a session, once",
  description:
    "Answers at once, or after `waitMs`; with server-sent events where `Accept` is `text/event-stream`. The task goes on without its client.",
  headers: { ...IDEMPOTENCY_KEY, accept: "`text/event-stream`: events as they happen, up to the end" },
  body: schemas.startTaskBody,
  answers: {
    200: {
      description: "It was started before, under the same Idempotency-Key; or a stream of events",
      schema: schemas.task,
      types: [EVENTS],
    },
    201: { description: "It has started", schema: schemas.task },
  },
  problems: [404, 410],
  handle: async ({ request, requestId, body }, door) => {
    const { headers, signal } = request;
    const key = headers.get("idempotency-key");
    const { waitMs, ...asked } = body;
    const { id, isRetry } = door.retries.once(key, "tasks", asked, () => begin(asked, { requestId }, door));
    const found = door.runtime.tasks.get(await id);
    const told = {
      location: `/v1/tasks/${found.id}`,
      ...(isRetry && { "idempotency-replayed": "true" }),
    };
    if (headers.get("accept")?.includes(EVENTS) === true) return follow(found, undefined, door, { headers: told });
    if (waitMs !== undefined) await found.wait(waitMs, signal);
    return json(await describe(found), isRetry ? 200 : 201, told);
  },
});

const list = route({
  method: "GET",
  path: "/v1/tasks",
  tag: TAG,
  summary: "List the tasks that run, and those that ended lately",
  query: schemas.tasksQuery,
  answers: { 200: { description: "In the order in which they started", schema: schemas.taskList } },
  handle: ({ query }, { runtime }) => {
    const tasks = runtime.tasks.list().map((one) => one.info());
    const isMeant = ({ status, sessionId }: (typeof tasks)[number]): boolean =>
      (query.status ?? status) === status && (query.sessionId ?? sessionId) === sessionId;
    return json({ tasks: tasks.filter(isMeant) });
  },
});

const show = route({
  method: "GET",
  path: "/v1/tasks/{id}",
  tag: TAG,
  summary: "How a task stands, with its result once it has ended",
  query: waitQuery,
  answers: { 200: { description: "Its state", schema: schemas.task } },
  problems: [404],
  handle: async ({ request, params, query }, door) => {
    const found = taskOf({ params }, door);
    if (query.waitMs !== undefined) await found.wait(Math.min(query.waitMs, MAX_WAIT_MS), request.signal);
    return json(await describe(found));
  },
});

const output = route({
  method: "GET",
  path: "/v1/tasks/{id}/output",
  tag: TAG,
  summary: "What a task printed, from a byte offset",
  description:
    "Byte for byte. The headers `Next-Offset`, `Total-Bytes` and `Readable-Bytes` say where it goes on. Of a run: a line for each step, then the answer.",
  query: outputQuery,
  answers: { 200: { description: "The bytes", types: [RAW] } },
  problems: [404],
  handle: (asked, door) => toOutput(taskOf(asked, door), asked),
});

const events = route({
  method: "GET",
  path: "/v1/tasks/{id}/events",
  tag: TAG,
  summary: "Follow a task, from its beginning or from where a reader was",
  description: "Of an execution its own events, of a run those of the run.",
  headers: { "last-event-id": "The id of the last event that was seen" },
  query: eventsQuery,
  answers: { 200: { description: "Its events, up to the end", types: [EVENTS] } },
  problems: [404],
  handle: ({ request, params, query }, door) => {
    const after = query.after ?? request.headers.get("last-event-id") ?? undefined;
    return withArguments(() => follow(taskOf({ params }, door), after, door));
  },
});

const cancel = route({
  method: "POST",
  path: "/v1/tasks/{id}/cancel",
  tag: TAG,
  summary: "End a task and everything that it started",
  isLight: true,
  description: "Answers when nothing is left of it, after 10 s at most. Nothing happens where it has ended.",
  answers: { 200: { description: "Its state", schema: schemas.task } },
  problems: [404],
  handle: async (asked, door) => {
    const found = taskOf(asked, door);
    await within(CANCEL_MS, found.cancel());
    return json(await describe(found));
  },
});

const pause = route({
  method: "POST",
  path: "/v1/tasks/{id}/pause",
  tag: TAG,
  summary: "Hold every process of a shell command",
  isLight: true,
  answers: { 200: { description: "Its state", schema: schemas.task } },
  problems: [404, 409],
  handle: async (asked, door) => {
    const found = taskOf(asked, door);
    await found.pause();
    return json(await describe(found));
  },
});

const resume = route({
  method: "POST",
  path: "/v1/tasks/{id}/resume",
  tag: TAG,
  summary: "Let a shell command go on",
  isLight: true,
  answers: { 200: { description: "Its state", schema: schemas.task } },
  problems: [404, 409],
  handle: async (asked, door) => {
    const found = taskOf(asked, door);
    await found.resume();
    return json(await describe(found));
  },
});

const stdin = route({
  method: "POST",
  path: "/v1/tasks/{id}/stdin",
  tag: TAG,
  summary: "Write to a shell command that was started with `stdin: open`",
  isLight: true,
  description: "As JSON `{ text?, close? }`, or as bytes where `Content-Type` is `application/octet-stream`.",
  query: schemas.taskInputQuery,
  rawBody: {
    types: ["application/json", RAW],
    description: "`{ text?, close? }`, or the bytes themselves; at most 64 MiB",
  },
  answers: {
    202: { description: "It waits to be read" },
    204: { description: "It is on its way" },
  },
  problems: [404, 409],
  handle: async ({ request, params, query, wire }, door) => {
    const found = taskOf({ params }, door);
    const { data, isLast } = await wire.whileReading(door.bodies, (hold) =>
      readInput(request, query.close === true, hold),
    );
    const writing = data === undefined ? Promise.resolve() : found.write(data);
    const isTaken = await within(
      INPUT_MS,
      writing.then(() => true),
    );
    if (isLast) found.closeInput();
    return isTaken === true ? nothing() : new Response(null, { status: 202 });
  },
});

export const taskRoutes = [start, list, show, output, events, cancel, pause, resume, stdin];

/** Throws TaskNotFoundError. */
function taskOf({ params }: Pick<Asked, "params">, { runtime }: Pick<Door, "runtime">): Task {
  return runtime.tasks.get(params["id"] ?? "");
}

async function begin(
  { command, sessionId: session, ...options }: Omit<z.output<typeof schemas.startTaskBody>, "waitMs">,
  origin: Origin,
  { runtime, begun }: Door,
): Promise<string> {
  const task = await withArguments(() => runtime.shell(command, given({ ...options, session })));
  begun.note({ task }, origin);
  return task.id;
}

async function describe(found: Task): Promise<schemas.TaskView> {
  if (found.kind === "shell" && !found.isOver) await found.measure();
  const result = found.isOver ? await found.result : null;
  return { ...found.info(), result };
}

interface Input {
  readonly data: string | Uint8Array | undefined;
  readonly isLast: boolean;
}

async function readInput(request: Request, isLast: boolean, hold: Hold): Promise<Input> {
  if (request.headers.get("content-type")?.startsWith(RAW) === true) {
    const bytes = await readBytes(request, hold);
    if ("problem" in bytes) throw new ProblemError(bytes.problem);
    return { data: bytes.value, isLast };
  }
  const body = await parseBody(request, schemas.taskInputBody, hold);
  if ("problem" in body) throw new ProblemError(body.problem);
  return { data: body.value.text, isLast: isLast || body.value.close };
}
