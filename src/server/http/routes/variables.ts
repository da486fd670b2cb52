// The variables of a session: listed, looked at and set. Looking never waits for the code that runs; setting waits for its turn.

import { SessionStateError } from "../../../errors.ts";
import type { Session } from "../../../session/session.ts";
import type { VariableValue } from "../../../session/state/set-variable.ts";
import { given } from "../../../util/omit-undefined.ts";
import { isPythonName } from "../../../util/python-name.ts";
import { ProblemError, withArguments, type Problem } from "../../net/problem.ts";
import { json, nothing, route } from "../route.ts";
import * as schemas from "../../../protocol/api/variables.ts";
import { completions, inspectedVariable, variableList } from "../../../protocol/variables.ts";
import { receiveValue, toKind, VALUE_TYPES } from "../variable-value.ts";
import { sessionOf } from "./sessions.ts";

const TAG = "Variables";

const list = route({
  method: "GET",
  path: "/v1/sessions/{id}/variables",
  tag: TAG,
  summary: "List the variables of a session, while code may run",
  query: schemas.variablesQuery,
  answers: { 200: { description: "Names and what is known of their values", schema: variableList } },
  problems: [404, 410],
  handle: async (asked, door) => json(await sessionOf(asked, door).variables(given(asked.query))),
});

const inspect = route({
  method: "GET",
  path: "/v1/sessions/{id}/variables/{name}",
  tag: TAG,
  summary: "Look at one variable, within bounds",
  query: schemas.inspectQuery,
  answers: { 200: { description: "What was found out", schema: inspectedVariable } },
  problems: [404, 410],
  handle: async ({ params, query }, door) => {
    const name = params["name"] ?? "";
    const found = await withArguments(() => sessionOf({ params }, door).inspect(name, given(query)));
    if (found === null) throw new ProblemError(notFound(name));
    return json(found);
  },
});

const set = route({
  method: "PUT",
  path: "/v1/sessions/{id}/variables/{name}",
  tag: TAG,
  summary: "Set a variable to the body",
  description:
    "JSON becomes the value that Python reads in it, integers of any size included; text becomes a `str`; other bytes become `bytes`. " +
    "1 GiB at most. Nothing is set unless all of it came.",
  query: schemas.setQuery,
  rawBody: { types: VALUE_TYPES, description: "The value; its type says what it becomes" },
  answers: { 204: { description: "It is set" } },
  problems: [404, 410, 415, 507],
  handle: async ({ request, params, query, wire }, door) => {
    const session = sessionOf({ params }, door);
    const name = params["name"] ?? "";
    const kind = toKind(request.headers.get("content-type"));
    if (!isPythonName(name.normalize("NFKC"))) throw new ProblemError(badName(name));
    await using value = await wire.receive((content) => receiveValue(content, kind, door.spool));
    const options = { ...given(query), signal: request.signal };
    await withArguments(() => setTo(session, name, value.value, options));
    return nothing();
  },
});

const complete = route({
  method: "POST",
  path: "/v1/sessions/{id}/complete",
  tag: TAG,
  summary: "What could stand at a place in code",
  body: schemas.lookBody,
  answers: { 200: { description: "The first 500 matches", schema: completions } },
  problems: [404, 410],
  handle: async ({ params, body: { code, cursor, timeoutMs } }, door) =>
    json(await withArguments(() => sessionOf({ params }, door).complete(code, cursor, given({ timeoutMs })))),
});

const signature = route({
  method: "POST",
  path: "/v1/sessions/{id}/signature",
  tag: TAG,
  summary: "The signature of the call that is open at a place in code",
  body: schemas.lookBody,
  answers: { 200: { description: "It, or null", schema: schemas.signatureAnswer } },
  problems: [404, 410],
  handle: async ({ params, body: { code, cursor, timeoutMs } }, door) => {
    const session = sessionOf({ params }, door);
    return json({ signature: await withArguments(() => session.signature(code, cursor, given({ timeoutMs }))) });
  },
});

export const variableRoutes = [list, inspect, set, complete, signature];

/** What the session cannot make of the body is wrong with the body. */
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
    throw new ProblemError({ status: 422, code: error.code, detail: error.message });
  }
}

function notFound(name: string): Problem {
  return { status: 404, code: "VARIABLE_NOT_FOUND", detail: `There is no variable '${name.slice(0, 100)}'` };
}

function badName(name: string): Problem {
  const detail = `'${name.slice(0, 100)}' cannot be the name of a variable: Python would not take it`;
  return { status: 422, code: "INVALID_NAME", detail };
}
