// The state of a session as a whole: copied, kept to return to, saved to a file, begun from one.
//
// Session files go through a file of this server that no client can name; paths of the host never come from outside.

import { REPLSecurityError, SessionStateError } from "../../../errors.ts";
import type { SaveReport } from "../../../session/state/save-state.ts";
import type { Session } from "../../../session/session.ts";
import { given } from "../../../util/omit-undefined.ts";
import { toAttachment, toDownload } from "../responses/download.ts";
import { ProblemError, toProblem, withArguments } from "../../net/problem.ts";
import { json, nothing, route } from "../route.ts";
import { toSaveReport } from "../responses/save-report.ts";
import * as schemas from "../../../protocol/api/state.ts";
import { checkpoint as checkpointSchema, sessionInfo } from "../../../protocol/sessions.ts";
import type { Held } from "../../net/bodies/spool.ts";
import { sessionOf, withDefaults } from "./sessions.ts";

const TAG = "State";
const SESSION_FILE = "application/vnd.rlm.session";
const MAX_FILE_BYTES = 4 * 1024 ** 3;

const fork = route({
  method: "POST",
  path: "/v1/sessions/{id}/fork",
  tag: TAG,
  summary: "A live copy of a session, with its files",
  body: schemas.forkBody,
  answers: { 201: { description: "The copy", schema: sessionInfo } },
  problems: [404, 409, 410],
  handle: async ({ params, body }, door) => {
    const copy = await withArguments(() => sessionOf({ params }, door).fork(given(body)));
    return json(await copy.info(), 201, { location: `/v1/sessions/${copy.id}` });
  },
});

const keep = route({
  method: "POST",
  path: "/v1/sessions/{id}/checkpoints",
  tag: TAG,
  summary: "Keep the namespace as it is, to return to; files are not part of it",
  answers: { 201: { description: "The checkpoint", schema: checkpointSchema } },
  problems: [404, 409, 410],
  handle: async (asked, door) => json(await sessionOf(asked, door).checkpoint(), 201),
});

const listKept = route({
  method: "GET",
  path: "/v1/sessions/{id}/checkpoints",
  tag: TAG,
  summary: "The checkpoints of a session",
  answers: { 200: { description: "Oldest first", schema: schemas.checkpointList } },
  problems: [404],
  handle: (asked, door) => json({ checkpoints: sessionOf(asked, door).checkpoints() }),
});

const drop = route({
  method: "DELETE",
  path: "/v1/sessions/{id}/checkpoints/{checkpointId}",
  tag: TAG,
  summary: "Give a checkpoint up, and the memory it holds",
  answers: { 204: { description: "It is gone" } },
  problems: [404],
  handle: ({ params }, door) => {
    const session = sessionOf({ params }, door);
    session.dropCheckpoint(checkKept(session, params["checkpointId"] ?? ""));
    return nothing();
  },
});

const rewind = route({
  method: "POST",
  path: "/v1/sessions/{id}/rewind",
  tag: TAG,
  summary: "Go back to a checkpoint, or to before the last execution",
  description: "Undoing needs a session that was opened with `autoCheckpoint`. Files stay as they are.",
  body: schemas.rewindBody,
  answers: { 200: { description: "The session as it is now", schema: sessionInfo } },
  problems: [404, 409, 410],
  handle: async ({ params, body: { checkpoint } }, door) => {
    const session = sessionOf({ params }, door);
    if (checkpoint === undefined) await session.undo();
    else await session.rewind(checkKept(session, checkpoint));
    return json(await session.info());
  },
});

const save = route({
  method: "POST",
  path: "/v1/sessions/{id}/save",
  tag: TAG,
  summary: "Save every variable that can be saved, as a session file",
  description:
    "The header `Save-Report` has, as JSON, `saved` and `skippedCount`, and of `skipped` as many names with the reason as fit; `omitted` more.",
  query: schemas.saveQuery,
  answers: { 200: { description: "The session file", types: [SESSION_FILE] } },
  problems: [404, 409, 410, 507],
  handle: async ({ params, query, request, wire }, door) => {
    const session = sessionOf({ params }, door);
    const options = { ...given(query), signal: request.signal };
    let report: SaveReport | undefined;
    const held = await door.spool.make((path) =>
      withoutPath(path, async () => (report = await withArguments(() => session.save(path, options)))),
    );
    const download = {
      sizeBytes: held.sizeBytes,
      pieces: held.pieces(),
      close: () => void held[Symbol.asyncDispose](),
    };
    return toDownload(download, { request, wire }, 200, {
      "content-type": SESSION_FILE,
      "content-disposition": toAttachment(`${session.id}.rlm`),
      ...(report && { "save-report": toSaveReport(report) }),
    });
  },
});

const load = route({
  method: "POST",
  path: "/v1/sessions/load",
  tag: TAG,
  summary: "A new session with the state of a session file",
  description: "The file is only ever read inside a sandbox; one that is damaged is refused before.",
  query: schemas.loadQuery,
  rawBody: { types: [SESSION_FILE, "application/octet-stream"], description: "A session file, 4 GiB at most" },
  answers: { 201: { description: "The session, and what came out of the file", schema: schemas.loadAnswer } },
  problems: [409, 507],
  handle: async ({ query, request, wire }, door) => {
    await using held: Held = await wire.receive((content) => door.spool.receive(content, MAX_FILE_BYTES));
    const options = { ...withDefaults(given(query), door), signal: request.signal };
    const session = await withoutPath(held.path, () =>
      withArguments(() => door.runtime.loadSession(held.path, options)),
    ).catch(asUnusable);
    const answer = { session: await session.info(), loaded: session.loaded };
    return json(answer, 201, { location: `/v1/sessions/${session.id}` });
  },
});

export const stateRoutes = [fork, keep, listKept, drop, rewind, save, load];

function checkKept(session: Session, id: string): string {
  const isKept = session.checkpoints().some((one) => one.id === id);
  if (isKept) return id;
  const detail = `There is no checkpoint '${id.slice(0, 100)}': it never was, or it is no longer kept`;
  throw new ProblemError({ status: 404, code: "CHECKPOINT_NOT_FOUND", detail });
}

/** A path of this server is nobody's business. */
async function withoutPath<Value>(path: string, work: () => Promise<Value>): Promise<Value> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof REPLSecurityError || error instanceof SessionStateError)) throw error;
    const problem = toProblem(error);
    const detail = [`session file '${path}'`, `'${path}'`].reduce(
      (text, name) => text.replaceAll(name, "the session file"),
      problem.detail,
    );
    throw new ProblemError({ ...problem, detail });
  }
}

/** A file that cannot be used is a mistake of whoever sent it. */
function asUnusable(error: unknown): never {
  if (!(error instanceof ProblemError) || error.problem.status !== 409) throw error;
  throw new ProblemError({ ...error.problem, status: 422 });
}
