// The OpenAPI description of the routes, made from the schemas that validate requests.

import { z } from "zod";
import { VERSION } from "../../../util/version.ts";
import type { Route, RouteResponse } from "../route.ts";
import { SESSION_CREATED } from "../session-created.ts";
import { problem } from "../../../protocol/api/problem.ts";

/** Problems that any route with a token may return. */
export const COMMON_PROBLEMS: Readonly<Record<number, string>> = {
  400: "The request is malformed",
  401: "The token is missing or wrong",
  403: "The host, the origin or the action is not allowed",
  408: "The body arrived too slowly",
  413: "The body is too large",
  422: "The body, the query or a header is invalid; `detail` says what",
  429: "Too many requests; `Retry-After` says when to retry",
  500: "The server failed",
  503: "Sessions cannot be opened now, or the server is shutting down",
};

const OTHER_PROBLEMS: Readonly<Record<number, string>> = {
  404: "Not found",
  409: "Conflicts with the current state",
  410: "It existed and is gone",
  415: "The content type is not supported",
  416: "The range cannot be satisfied",
  426: "A WebSocket upgrade is required",
  507: "There is no space left",
};

/** Of routes that act once. */
const REPEATED = {
  "idempotency-key":
    "1 to 255 visible characters. Repeating a request with the same key does nothing, and has the same response",
};
const JSON_TYPE = "application/json";
const PROBLEM_TYPE = "application/problem+json";

/** OpenAPI 3.1, as JSON. */
export function createOpenAPI(routes: readonly Route[]): object {
  const paths: Record<string, Record<string, object>> = {};
  for (const one of routes) {
    const path = one.path.replaceAll("+}", "}");
    (paths[path] ??= {})[one.method.toLowerCase()] = toOperation(one);
  }
  return {
    openapi: "3.1.0",
    info: {
      title: "RLM Runtime",
      version: VERSION,
      description:
        "Persistent, sandboxed Python sessions, shell tasks and recursive runs. Errors are problem+json with a stable `code`.",
    },
    servers: [{ url: "/" }],
    security: [{ token: [] }],
    tags: [...new Set(routes.map(({ tag }) => tag))].map((name) => ({ name })),
    paths,
    components: {
      securitySchemes: { token: { type: "http", scheme: "bearer" } },
      schemas: toSchemas(routes),
    },
  };
}

function toOperation(one: Route): object {
  const { summary, description, tag, isOpen, responses, problems = [] } = one;
  const common = isOpen === true ? [] : Object.entries(COMMON_PROBLEMS);
  const own = problems.map((status): [string, string] => [String(status), OTHER_PROBLEMS[status] ?? "Error"]);
  const content = { [PROBLEM_TYPE]: { schema: refer(problem) } };
  return {
    operationId: toOperationId(one),
    summary,
    ...(description !== undefined && { description }),
    tags: [tag],
    ...(isOpen === true && { security: [] }),
    parameters: toParameters(one),
    ...toBody(one),
    responses: {
      ...Object.fromEntries([...common, ...own].map(([status, text]) => [status, { description: text, content }])),
      ...Object.fromEntries(Object.entries(responses).map(([status, response]) => [status, toResponse(response)])),
    },
  };
}

/** `POST /v1/sessions/{id}/execute` is `post_v1_sessions_id_execute`. */
function toOperationId({ method, path }: Route): string {
  return `${method.toLowerCase()}${path.replaceAll(/[^A-Za-z0-9]+/g, "_").replace(/_$/, "")}`;
}

function toParameters({ path, query, headers = {}, isOnce = false }: Route): object[] {
  const names = [...path.matchAll(/\{(\w+)\+?\}/g)].map(([, name]) => name ?? "");
  const inPath = names.map((name) => ({ name, in: "path", required: true, schema: { type: "string" } }));
  const isOfSession = path.startsWith("/v1/sessions/{id}");
  const all = { ...headers, ...(isOnce && REPEATED), ...(isOfSession && SESSION_CREATED) };
  const inHeaders = Object.entries(all).map(([name, description]) => ({
    name,
    in: "header",
    description,
    schema: { type: "string" },
  }));
  return [...inPath, ...toQuery(query), ...inHeaders];
}

function toQuery(query: z.ZodType | undefined): object[] {
  if (query === undefined) return [];
  const { properties = {}, required = [] } = z.toJSONSchema(query, { io: "input" });
  return Object.entries(properties).map(([name, schema]) => {
    const { description, ...rest } = schema as { readonly description?: string };
    return { name, in: "query", required: required.includes(name), description, schema: rest };
  });
}

function toBody({ body, rawBody, form }: Route): object {
  if (rawBody !== undefined) {
    const { types, description } = rawBody;
    return { requestBody: { description, content: Object.fromEntries(types.map((type) => [type, {}])) } };
  }
  if (body === undefined) return {};
  const isRequired = !body.safeParse({}).success;
  const json = { [JSON_TYPE]: { schema: refer(body) } };
  if (form === undefined) return { requestBody: { required: isRequired, content: json } };
  return { requestBody: { required: isRequired, description: form, content: { ...json, "multipart/form-data": {} } } };
}

function toResponse({ description, schema, types = [] }: RouteResponse): object {
  const content = {
    ...(schema !== undefined && { [JSON_TYPE]: { schema: refer(schema) } }),
    ...Object.fromEntries(types.map((type) => [type, {}])),
  };
  return Object.keys(content).length === 0 ? { description } : { description, content };
}

function refer(schema: z.ZodType): object {
  return { $ref: toAddress(idOf(schema)) };
}

const toAddress = (id: string): string => `#/components/schemas/${id}`;

function idOf(schema: z.ZodType): string {
  const id = schema.meta()?.id;
  if (id === undefined) throw new TypeError("Cannot describe a schema without an id: give it one with .meta({ id })");
  return id;
}

/** Schemas of bodies describe what is sent, those of responses what is received. */
function toSchemas(routes: readonly Route[]): object {
  const bodies = routes.flatMap(({ body }) => (body === undefined ? [] : [body]));
  const responses = routes.flatMap(({ responses: own }) => Object.values(own).flatMap(({ schema }) => schema ?? []));
  return { ...convert(bodies, "input"), ...convert([problem, ...responses], "output") };
}

function convert(schemas: readonly z.ZodType[], io: "input" | "output"): Record<string, object> {
  const registry = z.registry<{ id: string }>();
  for (const schema of new Set(schemas)) registry.add(schema, { id: idOf(schema) });
  const { schemas: converted } = z.toJSONSchema(registry, { io, uri: toAddress });
  // zod puts schemas that several others use into `__shared`; here they stand beside the others.
  const { __shared: shared, ...own } = converted;
  const all = { ...own, ...(shared?.["$defs"] as Record<string, object> | undefined) };
  const text = JSON.stringify(all).replaceAll(`"${toAddress("__shared")}#/$defs/`, `"${toAddress("")}`);
  return Object.fromEntries(
    Object.entries(JSON.parse(text, withoutAbsent) as Record<string, Record<string, unknown>>).map(
      ([id, { $id: _id, $schema: _dialect, id: _name, ...schema }]) => [id, schema],
    ),
  );
}

/** Fields that a variant never has: a description that lists them would only confuse. */
function withoutAbsent(key: string, value: unknown): unknown {
  if (key !== "properties" || typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).filter(([, schema]) => !isNever(schema)));
}

function isNever(schema: unknown): boolean {
  return typeof schema === "object" && schema !== null && "not" in schema && JSON.stringify(schema.not) === "{}";
}
