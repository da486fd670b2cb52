// Sessions: made, listed, looked at, interrupted, emptied, ended.

import type { z } from "zod";
import type { Limits } from "../../../session/limits.ts";
import type { Session } from "../../../session/session.ts";
import type { SessionOptions } from "../../../session/session-options.ts";
import { given } from "../../../util/omit-undefined.ts";
import { within } from "../../../util/async/with-timeout.ts";
import type { Door } from "../server-context.ts";
import { ProblemError, withArguments } from "../../net/problem.ts";
import { json, route, type Asked } from "../route.ts";
import { IDEMPOTENCY_KEY, type Once } from "../idempotency.ts";
import { openSessionBody, sessionList } from "../../../protocol/api/sessions.ts";
import { interruptAnswer, sessionInfo, type InterruptAnswer } from "../../../protocol/sessions.ts";

const TAG = "Sessions";
/** An interrupt that has no effect ends the worker after two seconds. */
const INTERRUPT_MS = 5_000;

const open = route({
  method: "POST",
  path: "/v1/sessions",
  tag: TAG,
  summary: "Open a session",
  headers: IDEMPOTENCY_KEY,
  body: openSessionBody,
  answers: {
    200: { description: "It was opened before, under the same Idempotency-Key", schema: sessionInfo },
    201: { description: "It is open", schema: sessionInfo },
  },
  problems: [409],
  handle: async ({ request, body }, door) => {
    const { id, isRetry }: Once = door.retries.once(
      request.headers.get("idempotency-key"),
      "sessions",
      body,
      async () => {
        checkLimits(body.limits, door.runtime.limits);
        const opened = await withArguments(() => door.runtime.openSession(withDefaults(toOptions(body), door)));
        return opened.id;
      },
    );
    const info = await door.runtime.sessions.get(await id).info();
    const told = { location: `/v1/sessions/${info.id}`, ...(isRetry && { "idempotency-replayed": "true" }) };
    return json(info, isRetry ? 200 : 201, told);
  },
});

const list = route({
  method: "GET",
  path: "/v1/sessions",
  tag: TAG,
  summary: "List the live sessions",
  isLight: true,
  answers: { 200: { description: "All of them", schema: sessionList } },
  handle: async (_asked, { runtime }) => {
    const sessions = await Promise.all(runtime.sessions.list().map((one) => one.info()));
    return json({ sessions });
  },
});

const show = route({
  method: "GET",
  path: "/v1/sessions/{id}",
  tag: TAG,
  summary: "What is known of a session",
  isLight: true,
  answers: { 200: { description: "Its statistics", schema: sessionInfo } },
  problems: [404],
  handle: async (asked, door) => json(await sessionOf(asked, door).info()),
});

const close = route({
  method: "DELETE",
  path: "/v1/sessions/{id}",
  tag: TAG,
  summary: "Close a session and everything in it",
  isLight: true,
  answers: { 200: { description: "Its last statistics", schema: sessionInfo } },
  problems: [404],
  handle: async (asked, door) => json(await sessionOf(asked, door).close()),
});

const interrupt = route({
  method: "POST",
  path: "/v1/sessions/{id}/interrupt",
  tag: TAG,
  summary: "Interrupt what runs now, as Ctrl-C would",
  isLight: true,
  description:
    "Answers when it has stopped, and with what became of the namespace. Nothing happens where nothing runs.",
  answers: { 200: { description: "What was interrupted", schema: interruptAnswer } },
  problems: [404],
  handle: async (asked, door) => json(await interruptIn(sessionOf(asked, door))),
});

/** Resolves when it has stopped, or does not within a while. */
export async function interruptIn(found: Session): Promise<InterruptAnswer> {
  const execution = found.interrupt();
  if (execution === undefined) return { interrupted: null, hasEnded: true, state: null };
  const result = await within(INTERRUPT_MS, execution.result).catch(() => undefined); // or there will be none
  return { interrupted: execution.id, hasEnded: result !== undefined, state: result?.state ?? null };
}

const reset = route({
  method: "POST",
  path: "/v1/sessions/{id}/reset",
  tag: TAG,
  summary: "Empty the namespace, when what was asked before has ended",
  description: "Id, statistics and files stay.",
  answers: { 200: { description: "It is empty", schema: sessionInfo } },
  problems: [404],
  handle: async (asked, door) => {
    const found = sessionOf(asked, door);
    await found.reset();
    return json(await found.info());
  },
});

export const sessionRoutes = [open, list, show, close, interrupt, reset];

/** Throws SessionNotFoundError. */
export function sessionOf({ params }: Pick<Asked, "params">, { runtime }: Pick<Door, "runtime">): Session {
  return runtime.sessions.get(params["id"] ?? "");
}

/** What a body may say of a new session, in the runtime's words. */
function toOptions({ limits, ...body }: z.output<typeof openSessionBody>): SessionOptions {
  return given({ ...body, limits: limits && given(limits) });
}

/** What the server has configured, unless the request says otherwise. */
export function withDefaults(
  options: SessionOptions,
  { sessionDefaults }: Pick<Door, "sessionDefaults">,
): SessionOptions {
  const { env } = sessionDefaults;
  return { ...sessionDefaults, ...options, ...(env !== undefined && { env: { ...env, ...options.env } }) };
}

/** Throws a ProblemError: a client may ask for less than what the server allows, not for more. */
function checkLimits(asked: Partial<Record<string, number | undefined>> | undefined, allowed: Limits): void {
  for (const [limit, value] of Object.entries(asked ?? {})) {
    const most = allowed[limit as keyof Limits];
    if (value === undefined || value <= most) continue;
    const detail = `Field 'limits.${limit}' is wrong: this server allows ${most} at most`;
    throw new ProblemError({ status: 422, code: "INVALID_BODY", detail });
  }
}
