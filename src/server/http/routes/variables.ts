// The variables of a session: listing, inspecting, reading and setting them. Inspecting never waits for running code: it is answered, or
// refused where the environment cannot do that. Reading and setting are queued behind it.

import { SessionStateError, VariableNotFoundError } from "../../../errors.ts";
import type { Session } from "../../../session/session.ts";
import type { VariableValue } from "../../../session/state/set-variable.ts";
import { omitUndefined } from "../../../util/omit-undefined.ts";
import { isPythonName } from "../../../util/python-name.ts";
import { ProblemError, toProblem, withArguments, type Problem } from "../../net/problem.ts";
import { toDownload } from "../responses/download.ts";
import { BYTES, json, noContent, routesTagged } from "../route.ts";
import * as schemas from "../../../protocol/api/variables.ts";
import { completions, inspectedVariable, variableList, variableRows } from "../../../protocol/variables.ts";
import { receiveValue, toKind, VALUE_TYPES } from "../variable-value.ts";
import { sessionOf } from "./sessions.ts";

const route = routesTagged("Variables");

const list = route("GET", "/v1/sessions/{id}/variables", {
  summary: "List the variables of a session, even while code runs",
  query: schemas.variablesQuery,
  responses: { 200: { description: "Names, and summaries of their values", schema: variableList } },
  problems: [404, 410],
  handle: async ({ request, params, query }, context) =>
    json(await sessionOf({ request, params }, context).variables(omitUndefined(query))),
});

const inspect = route("GET", "/v1/sessions/{id}/variables/{name}", {
  summary: "Inspect one variable, within limits",
  query: schemas.inspectQuery,
  responses: { 200: { description: "The summary", schema: inspectedVariable } },
  problems: [404, 409, 410],
  handle: async ({ request, params, query }, context) => {
    const name = params["name"] ?? "";
    const found = await withArguments(() =>
      sessionOf({ request, params }, context).inspect(name, omitUndefined(query)),
    );
    if (found === null) throw new VariableNotFoundError({ variable: name });
    return json(found);
  },
});

const rows = route("GET", "/v1/sessions/{id}/variables/{name}/rows", {
  summary: "A part of a table, an array, a list or a dict, even while code runs",
  query: schemas.rowsQuery,
  responses: { 200: { description: "Cells as text", schema: variableRows } },
  problems: [404, 409, 410],
  handle: async ({ request, params, query }, context) => {
    const name = params["name"] ?? "";
    const found = await withArguments(() => sessionOf({ request, params }, context).rows(name, omitUndefined(query)));
    if (found === null) throw new VariableNotFoundError({ variable: name });
    return json(found);
  },
});

const TYPES = { json: "application/json", text: "text/plain; charset=utf-8", bytes: BYTES } as const;

const read = route("GET", "/v1/sessions/{id}/variables/{name}/value", {
  summary: "The value of a variable, after all earlier requests",
  description:
    "As JSON, which refuses NaN, integers beyond 2^53 and keys that are not strings; as text, of a `str`; or as bytes. The value is read " +
    "completely before the response begins, so a slow client does not hold up the session.",
  query: schemas.valueQuery,
  responses: { 200: { description: "The value", schema: schemas.variableJSON, types: [TYPES.text, TYPES.bytes] } },
  problems: [404, 410, 507],
  handle: async ({ request, params, query, stream }, context) => {
    const session = sessionOf({ request, params }, context);
    const name = params["name"] ?? "";
    if (!isPythonName(name.normalize("NFKC"))) throw new ProblemError(badName(name));
    const value = context.spool.collect();
    const close = (): void => value[Symbol.dispose]();
    try {
      const options = { ...omitUndefined(query), signal: request.signal };
      await withArguments(() => session.getInto(name, (piece) => value.write(piece), options)).catch(asValueProblem);
    } catch (error) {
      close();
      throw error;
    }
    const download = { sizeBytes: value.sizeBytes, chunks: value.chunks(), close };
    return toDownload(download, { request, stream }, 200, { "content-type": TYPES[query.as ?? "json"] });
  },
});

const set = route("PUT", "/v1/sessions/{id}/variables/{name}", {
  isOnce: true,
  summary: "Set a variable to the body",
  description:
    "JSON becomes the Python value, with integers of any size; text becomes a `str`; other bytes become `bytes`. At most 1 GiB. Nothing is " +
    "set when the body is incomplete.",
  query: schemas.setQuery,
  rawBody: { types: VALUE_TYPES, description: "The value; its media type decides the Python type" },
  responses: { 204: { description: "Set" } },
  problems: [404, 410, 415, 507],
  handle: async ({ request, params, query, stream }, context) => {
    const session = sessionOf({ request, params }, context);
    const name = params["name"] ?? "";
    const kind = toKind(request.headers.get("content-type"));
    if (!isPythonName(name.normalize("NFKC"))) throw new ProblemError(badName(name));
    await using value = await stream.receive((content) => receiveValue(content, kind, context.spool));
    const options = { ...omitUndefined(query), signal: request.signal };
    await withArguments(() => setTo(session, name, value.value, options));
    return noContent();
  },
});

const complete = route("POST", "/v1/sessions/{id}/complete", {
  summary: "Completions at a position in code",
  body: schemas.lookBody,
  responses: { 200: { description: "The first 500 matches", schema: completions } },
  problems: [404, 409, 410],
  handle: async ({ request, params, body: { code, cursor, timeoutMs } }, context) =>
    json(
      await withArguments(() =>
        sessionOf({ request, params }, context).complete(code, cursor, omitUndefined({ timeoutMs })),
      ),
    ),
});

const signature = route("POST", "/v1/sessions/{id}/signature", {
  summary: "The signature of the call around a position in code",
  body: schemas.lookBody,
  responses: { 200: { description: "The signature, or null", schema: schemas.signatureAnswer } },
  problems: [404, 409, 410],
  handle: async ({ request, params, body: { code, cursor, timeoutMs } }, context) => {
    const session = sessionOf({ request, params }, context);
    return json({
      signature: await withArguments(() => session.signature(code, cursor, omitUndefined({ timeoutMs }))),
    });
  },
});

export const variableRoutes = [list, inspect, rows, read, set, complete, signature];

/** A value that the session cannot use is an error in the body. */
async function setTo(
  session: Session,
  name: string,
  value: VariableValue,
  options: { readonly signal: AbortSignal; readonly timeoutMs?: number },
): Promise<void> {
  try {
    await session.set(name, value, options);
  } catch (error) {
    if (!(error instanceof SessionStateError)) throw error;
    throw new ProblemError({ ...toProblem(error), status: 422 });
  }
}

/** A value that cannot be read in this way: 413 where it is too large, else 422. */
function asValueProblem(error: unknown): never {
  if (!(error instanceof SessionStateError)) throw error;
  if (error.cause instanceof ProblemError) throw error.cause;
  const status = error.cause instanceof RangeError ? 413 : 422;
  throw new ProblemError({ ...toProblem(error), status });
}

function badName(name: string): Problem {
  const detail = `'${name.slice(0, 100)}' cannot be the name of a variable: Python would not take it`;
  return { status: 422, code: "INVALID_NAME", detail };
}
