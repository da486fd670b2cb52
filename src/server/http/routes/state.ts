// The whole state of a session: fork, checkpoints, rewind, save and load.
//
// Session files pass through anonymous files of the server. Clients never name a path on the host.

import { REPLSecurityError, SessionStateError } from "../../../errors.ts";
import type { SaveReport } from "../../../protocol/session-manifest.ts";
import type { Session } from "../../../session/session.ts";
import { omitUndefined } from "../../../util/omit-undefined.ts";
import { toAttachment, toDownload } from "../responses/download.ts";
import type { Facts } from "../../net/facts.ts";
import { ProblemError, toProblem, withArguments } from "../../net/problem.ts";
import { json, noContent, routesTagged } from "../route.ts";
import { toSaveReport } from "../responses/save-report.ts";
import * as schemas from "../../../protocol/api/state.ts";
import { checkpoint as checkpointSchema, sessionInfo } from "../../../protocol/sessions.ts";
import type { SpooledFile } from "../../net/bodies/spool.ts";
import { sessionOf, withDefaults } from "./sessions.ts";

const route = routesTagged("State");
const SESSION_FILE = "application/vnd.rlm.session";
const MAX_FILE_BYTES = 4 * 1024 ** 3;

const fork = route("POST", "/v1/sessions/{id}/fork", {
  isOnce: true,
  summary: "A live copy of a session, with its files",
  body: schemas.forkBody,
  responses: { 201: { description: "The copy", schema: sessionInfo } },
  problems: [404, 409, 410],
  handle: async ({ request, params, body }, context) => {
    const copy = await withArguments(() => sessionOf({ request, params }, context).fork(omitUndefined(body)));
    return json(await copy.info(), 201, { location: `/v1/sessions/${copy.id}` });
  },
});

const keep = route("POST", "/v1/sessions/{id}/checkpoints", {
  isOnce: true,
  summary: "Create a checkpoint of the namespace, without files",
  responses: { 201: { description: "The checkpoint", schema: checkpointSchema } },
  problems: [404, 409, 410],
  handle: async (request, context) => json(await sessionOf(request, context).checkpoint(), 201),
});

const listKept = route("GET", "/v1/sessions/{id}/checkpoints", {
  summary: "The checkpoints of a session",
  responses: { 200: { description: "Oldest first", schema: schemas.checkpointList } },
  problems: [404, 410],
  handle: (request, context) => json({ checkpoints: sessionOf(request, context).checkpoints() }),
});

const drop = route("DELETE", "/v1/sessions/{id}/checkpoints/{checkpointId}", {
  summary: "Drop a checkpoint and free its memory",
  responses: { 204: { description: "Removed" } },
  problems: [404, 410],
  handle: ({ request, params }, context) => {
    const session = sessionOf({ request, params }, context);
    session.dropCheckpoint(checkExists(session, params["checkpointId"] ?? ""));
    return noContent();
  },
});

const rewind = route("POST", "/v1/sessions/{id}/rewind", {
  isOnce: true,
  summary: "Return to a checkpoint, or to before the last execution",
  description: "Undoing an execution needs a session that was opened with `autoCheckpoint`. Files do not change.",
  body: schemas.rewindBody,
  responses: { 200: { description: "The session afterwards", schema: sessionInfo } },
  problems: [404, 409, 410],
  handle: async ({ request, params, body: { checkpoint } }, context) => {
    const session = sessionOf({ request, params }, context);
    if (checkpoint === undefined) await session.undo();
    else {
      // Without the capability the session says so; that there is no such checkpoint would hide the reason.
      const { checkpoint: canRewind } = session.tasks.environment.capabilities;
      await session.rewind(canRewind ? checkExists(session, checkpoint) : checkpoint);
    }
    return json(await session.info());
  },
});

const save = route("POST", "/v1/sessions/{id}/save", {
  summary: "Save all variables that can be saved to a session file",
  description:
    "The header `Save-Report` is JSON: `saved`, `skippedCount`, as many of `skipped` (name and reason) as fit, and the number of `omitted` ones.",
  query: schemas.saveQuery,
  responses: { 200: { description: "The session file", types: [SESSION_FILE] } },
  problems: [404, 409, 410, 507],
  handle: async ({ params, query, request, stream }, context) => {
    const session = sessionOf({ request, params }, context);
    const options = { ...omitUndefined(query), signal: request.signal };
    let report: SaveReport | undefined;
    const file = await context.spool.create((path) =>
      withoutPath(path, async () => (report = await withArguments(() => session.save(path, options)))),
    );
    const download = {
      sizeBytes: file.sizeBytes,
      chunks: file.chunks(),
      close: () => void file[Symbol.asyncDispose](),
    };
    return toDownload(download, { request, stream }, 200, {
      "content-type": SESSION_FILE,
      "content-disposition": toAttachment(`${session.id}.rlm`),
      ...(report && { "save-report": toSaveReport(report) }),
    });
  },
});

const load = route("POST", "/v1/sessions/load", {
  isOnce: true,
  summary: "A new session with the state of a session file",
  description: "The file is loaded inside a sandbox only. A damaged file is refused before that.",
  query: schemas.loadQuery,
  rawBody: { types: [SESSION_FILE, "application/octet-stream"], description: "A session file; at most 4 GiB" },
  responses: { 201: { description: "The session, and what was loaded", schema: schemas.loadAnswer } },
  problems: [409, 507],
  handle: async ({ query, request, stream }, context) => {
    await using file: SpooledFile = await stream.receive((content) => context.spool.receive(content, MAX_FILE_BYTES));
    const options = { ...withDefaults(omitUndefined(query), context), signal: request.signal };
    const session = await withoutPath(file.path, () =>
      withArguments(() => context.runtime.loadSession(file.path, options)),
    ).catch(asInvalid);
    const answer = { session: await session.info(), loaded: session.loaded };
    return json(answer, 201, { location: `/v1/sessions/${session.id}` });
  },
});

export const stateRoutes = [fork, keep, listKept, drop, rewind, save, load];

function checkExists(session: Session, id: string): string {
  const exists = session.checkpoints().some((one) => one.id === id);
  if (exists) return id;
  const detail = `There is no checkpoint '${id.slice(0, 100)}': it does not exist, or is no longer kept`;
  throw new ProblemError({ status: 404, code: "CHECKPOINT_NOT_FOUND", detail });
}

/** Keeps the path of the spooled file out of error messages. */
async function withoutPath<Value>(path: string, work: () => Promise<Value>): Promise<Value> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof REPLSecurityError || error instanceof SessionStateError)) throw error;
    const problem = toProblem(error);
    const names = [`session file '${path}'`, `'${path}'`, path];
    const hide = (text: string): string =>
      names.reduce((rest, name) => rest.replaceAll(name, "the session file"), text);
    const facts = Object.entries(problem.facts ?? {}).map(([name, value]) => [
      name,
      typeof value === "string" ? hide(value) : value,
    ]);
    throw new ProblemError({ ...problem, detail: hide(problem.detail), facts: Object.fromEntries(facts) as Facts });
  }
}

/** An unusable session file is an error of the client. */
function asInvalid(error: unknown): never {
  if (!(error instanceof ProblemError) || error.problem.status !== 409) throw error;
  throw new ProblemError({ ...error.problem, status: 422 });
}
