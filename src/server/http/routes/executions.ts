// Executions: code in a session, and what can be asked about it afterwards.
//
// A client that goes away leaves its execution running: it is found again by its id, or by asking again under the same Idempotency-Key.

import type { ExecutionResult } from "../../../protocol/execution.ts";
import type { VariableList } from "../../../protocol/variables.ts";
import type { Execution } from "../../../session/execution/execution.ts";
import type { Session } from "../../../session/session.ts";
import { given } from "../../../util/omit-undefined.ts";
import { onAbort } from "../../../util/async/on-abort.ts";
import { waitFor } from "../../../util/async/wait-for.ts";
import type { Door } from "../server-context.ts";
import { streamEvents, type Message } from "../responses/event-stream.ts";
import { toOutput } from "../responses/output.ts";
import { ProblemError, toProblem, toWire, withArguments } from "../../net/problem.ts";
import { IDEMPOTENCY_KEY } from "../idempotency.ts";
import { json, nothing, route } from "../route.ts";
import * as schemas from "../../../protocol/api/executions.ts";
import { waitQuery } from "../../../protocol/api/parameters.ts";
import type { Origin } from "../../observability/activity.ts";
import { sessionOf } from "./sessions.ts";

const TAG = "Executions";
const MAX_WAIT_MS = 60_000;
const EVENTS = "text/event-stream";

const execute = route({
  method: "POST",
  path: "/v1/sessions/{id}/execute",
  tag: TAG,
  summary: "Execute code in a session",
  description:
    "Answers with the result when it has ended; with server-sent events where `Accept` is `text/event-stream`; at once where " +
    "`Prefer` is `respond-async`. Code that fails is an answer like any other: see `status`.",
  headers: {
    ...IDEMPOTENCY_KEY,
    accept: "`text/event-stream`: events as they happen, the result in the last of them",
    prefer: "`respond-async`: do not wait for the end",
  },
  body: schemas.executeBody,
  answers: {
    200: { description: "The result, or a stream of events", schema: schemas.executeAnswer, types: [EVENTS] },
    202: { description: "It has begun, or waits for its turn", schema: schemas.execution },
  },
  problems: [404, 410],
  handle: async ({ request, requestId, params, body: { onDisconnect, ...body } }, door) => {
    const { headers } = request;
    const { id, isRetry } = door.retries.once(
      headers.get("idempotency-key"),
      `execute ${params["id"]}`,
      body,
      () => start(sessionOf({ params }, door), body, { requestId }, door).id,
    );
    const execution = door.executions.get(await id);
    if (onDisconnect === "interrupt") onAbort(request.signal, () => execution.cancel());
    const told = {
      "execution-id": execution.id,
      location: `/v1/executions/${execution.id}`,
      ...(isRetry && { "idempotency-replayed": "true" }),
    };
    if (headers.get("accept")?.includes(EVENTS) === true) {
      const rest = (): AsyncIterable<Message> => restOf(execution, body.variables, door);
      return follow(execution, undefined, door, { headers: told, rest });
    }
    if (headers.get("prefer")?.includes("respond-async") === true) return json(describe(execution, door), 202, told);
    const result: ExecutionResult = await execution.result;
    return json(body.variables ? { ...result, variables: await variablesAfter(execution, door) } : result, 200, told);
  },
});

/** Throws what `Executions.start` throws. */
export function start(
  session: Session,
  { code, input, timeoutMs, env, fileName }: Omit<schemas.ExecuteBody, "onDisconnect">,
  origin: Origin,
  door: Door,
): Execution {
  const execution: Execution = door.executions.start(session, code, {
    ...given({ timeoutMs, env, fileName }),
    ...(input === "ask" && { onInput: door.inputs.handlerOf(() => execution.id) }),
  });
  door.begun.note({ execution }, origin);
  return execution;
}

const history = route({
  method: "GET",
  path: "/v1/sessions/{id}/executions",
  tag: TAG,
  summary: "What was executed in a session, the last 1,000",
  answers: { 200: { description: "Oldest first", schema: schemas.historyList } },
  problems: [404],
  handle: (asked, door) => json({ executions: sessionOf(asked, door).history() }),
});

const show = route({
  method: "GET",
  path: "/v1/executions/{id}",
  tag: TAG,
  summary: "How an execution stands, with its result once it has ended",
  query: waitQuery,
  answers: { 200: { description: "Its state", schema: schemas.execution } },
  problems: [404],
  handle: async ({ params, query, request }, door) => {
    const execution = door.executions.get(params["id"] ?? "");
    if (query.waitMs !== undefined)
      await waitFor(execution.result, Math.min(query.waitMs, MAX_WAIT_MS), request.signal);
    return json(describe(execution, door));
  },
});

const output = route({
  method: "GET",
  path: "/v1/executions/{id}/output",
  tag: TAG,
  summary: "What an execution printed, from a byte offset",
  description: "Byte for byte. The headers `Next-Offset`, `Total-Bytes` and `Readable-Bytes` say where it goes on.",
  query: schemas.outputQuery,
  answers: { 200: { description: "The bytes", types: ["application/octet-stream"] } },
  problems: [404],
  handle: (asked, door) => toOutput(door.executions.get(asked.params["id"] ?? ""), asked),
});

const events = route({
  method: "GET",
  path: "/v1/executions/{id}/events",
  tag: TAG,
  summary: "Follow an execution, from its beginning or from where a reader was",
  headers: { "last-event-id": "The id of the last event that was seen" },
  query: schemas.eventsQuery,
  answers: { 200: { description: "Its events, up to the end", types: [EVENTS] } },
  problems: [404],
  handle: ({ request, params, query }, door) => {
    const after = query.after ?? request.headers.get("last-event-id") ?? undefined;
    const execution = door.executions.get(params["id"] ?? "");
    return withArguments(() => follow(execution, after, door, { rest: () => restOf(execution, false, door) }));
  },
});

const cancel = route({
  method: "POST",
  path: "/v1/executions/{id}/cancel",
  tag: TAG,
  summary: "Interrupt one execution; one that waits for its turn never starts",
  isLight: true,
  answers: { 202: { description: "It was told", schema: schemas.execution } },
  problems: [404],
  handle: ({ params }, door) => {
    const execution = door.executions.get(params["id"] ?? "");
    execution.cancel();
    return json(describe(execution, door), 202);
  },
});

const stdin = route({
  method: "POST",
  path: "/v1/executions/{id}/stdin",
  tag: TAG,
  summary: "Answer code that waits for a line",
  isLight: true,
  body: schemas.stdinBody,
  answers: { 204: { description: "The code has it" } },
  problems: [404, 409],
  handle: ({ params, body }, door) => {
    const execution = door.executions.get(params["id"] ?? "");
    answerInput(execution, body.text, door);
    return nothing();
  },
});

/** Throws a ProblemError where it waits for nothing. */
export function answerInput({ id }: Execution, text: string | null, { inputs }: Pick<Door, "inputs">): void {
  if (!inputs.answer(id, text)) throw new ProblemError(NOT_WAITING);
}

export const executionRoutes = [execute, history, show, output, events, cancel, stdin];

const NOT_WAITING = {
  status: 409,
  code: "NOT_WAITING",
  detail: "The execution waits for no input: it was answered, has ended, or was started without `input: ask`",
};

/** What happens, with places between. */
interface Followed {
  follow(options: FollowOptions): AsyncIterable<{ readonly event: Message["event"]; readonly place: string }>;
}

interface FollowOptions {
  readonly after?: string;
  readonly signal?: AbortSignal;
}

interface Telling {
  readonly headers?: Readonly<Record<string, string>>;
  /** What is told when the story has ended, and is no part of it. */
  readonly rest?: () => AsyncIterable<Message>;
}

/** Throws a RangeError for what is no place in it. */
export function follow(
  story: Followed,
  after: string | undefined,
  door: Door,
  { headers = {}, rest }: Telling = {},
): Response {
  const toMessages = async function* (signal: AbortSignal): AsyncGenerator<Message> {
    for await (const { event, place } of story.follow({ ...(after !== undefined && { after }), signal })) {
      yield { id: place, event };
    }
    if (rest !== undefined && !signal.aborted) yield* rest();
  };
  if (after !== undefined) story.follow({ after }); // throws for what is no place
  return streamEvents(toMessages, door, headers);
}

/** Once the story has ended. */
async function* restOf(execution: Execution, wantsVariables: boolean, door: Door): AsyncGenerator<Message> {
  const { id: executionId } = execution;
  const problem = await execution.result.then(
    () => undefined,
    (error: unknown) => toWire(toProblem(error)),
  );
  if (problem !== undefined) {
    const event = { type: "execution-failed", executionId, problem };
    yield { event };
    return;
  }
  const variables = wantsVariables ? await variablesAfter(execution, door) : null;
  if (variables === null) return;
  const event = { type: "variables", executionId, ...variables };
  yield { event };
}

/** Null: the session has closed meanwhile, or cannot be looked into. The result is not lost for that. */
async function variablesAfter({ sessionId }: Execution, { runtime }: Door): Promise<VariableList | null> {
  try {
    return await runtime.sessions.get(sessionId).variables();
  } catch {
    return null;
  }
}

function describe(execution: Execution, { executions }: Pick<Door, "executions">): schemas.ExecutionView {
  const { id, sessionId, startedAt } = execution;
  const isOver = executions.isOver(execution);
  return {
    id,
    sessionId,
    state: isOver ? "ended" : startedAt === undefined ? "waiting" : "running",
    startedAt: startedAt === undefined ? null : new Date(startedAt).toISOString(),
    outputBytes: execution.printed.total,
    result: executions.resultOf(execution) ?? null,
    ...given({ problem: executions.problemOf(execution) }),
  };
}
