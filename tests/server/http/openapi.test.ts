// The description against the routes, and the routes against the description as a client reads it: by its JSON Schemas.

import { rmSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { z } from "zod";
import { ScriptedBackend, type Runtime } from "../../internals.ts";
import { PageFiles } from "../../../src/server/context/page-files.ts";
import { COMMON_PROBLEMS, createOpenAPI } from "../../../src/server/http/description/openapi.ts";
import { createPage } from "../../../src/server/http/description/page.ts";
import type { Route } from "../../../src/server/http/route.ts";
import { API_ROUTES, ROUTES } from "../../../src/server/http/routes.ts";
import { makeDataFolder } from "../../make-data-folder.ts";
import { openTestRuntime } from "../../open.ts";
import { code } from "../../rlm/scripting.ts";
import { openTestServer, type Ask } from "./request.ts";
import { EXAMPLES, type Stage } from "./route-examples.ts";

type Fields = Readonly<Record<string, unknown>>;
interface Operation {
  readonly operationId: string;
  readonly tags: readonly string[];
  readonly parameters: readonly { readonly name: string; readonly in: string; readonly required?: boolean }[];
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema?: Fields }>> };
  readonly responses: Readonly<
    Record<string, { readonly description: string; readonly content?: Readonly<Record<string, { schema?: Fields }>> }>
  >;
}
interface Description {
  readonly openapi: string;
  readonly info: Fields;
  readonly tags: readonly { readonly name: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, Fields>>; readonly securitySchemes: Fields };
}

const ALL: readonly Route[] = [...ROUTES, ...API_ROUTES];
const description = JSON.parse(JSON.stringify(createOpenAPI(ALL))) as Description;
const nameOf = ({ method, path }: Route): string => `${method} ${path}`;
const pathOf = ({ path }: Route): string => path.replaceAll("+}", "}");
const operationOf = (one: Route): Operation | undefined => description.paths[pathOf(one)]?.[one.method.toLowerCase()];
const operations = ALL.map((one) => ({ one, name: nameOf(one), operation: operationOf(one) }));

describe("the description", () => {
  test("is OpenAPI 3.1, with exactly the served routes", () => {
    expect(description).toMatchObject({
      openapi: "3.1.0",
      info: { title: expect.any(String), version: expect.stringMatching(/^\d+\.\d+\.\d+/) },
      components: { securitySchemes: { token: { type: "http", scheme: "bearer" } } },
    });
    const described = Object.entries(description.paths).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
    );
    expect(described.sort()).toEqual(ALL.map((one) => `${one.method} ${pathOf(one)}`).sort());
  });

  test("names each operation once, under a listed tag", () => {
    const ids = operations.map(({ operation }) => operation?.operationId);
    expect(new Set(ids).size).toBe(ALL.length);
    for (const id of ids) expect(id).toMatch(/^[a-z][A-Za-z0-9_]+$/);
    const tags = new Set(description.tags.map(({ name }) => name));
    for (const { operation } of operations) expect(tags).toContain(operation?.tags[0]);
  });

  test.each(operations)("has the parameters and statuses of $name", ({ one, operation }) => {
    const inPath = operation?.parameters.filter((parameter) => parameter.in === "path");
    expect(inPath?.map(({ name }) => name)).toEqual([...one.path.matchAll(/\{(\w+)\+?\}/g)].map(([, name]) => name));
    expect(inPath?.every(({ required }) => required)).toBe(true);
    const places = operation?.parameters.map(({ in: place, name }) => `${place} ${name}`) ?? [];
    expect(new Set(places).size).toBe(places.length);
    const statuses = [
      ...Object.keys(one.responses),
      ...(one.problems ?? []).map(String),
      ...(one.isOpen === true ? [] : Object.keys(COMMON_PROBLEMS)),
    ];
    expect(Object.keys(operation?.responses ?? {}).sort()).toEqual([...new Set(statuses)].sort());
    for (const response of Object.values(operation?.responses ?? {})) expect(response.description).not.toBe("");
    expect(operation?.requestBody === undefined).toBe(one.body === undefined && one.rawBody === undefined);
  });

  test("refers only to existing schemas, and to all of them", () => {
    const references = [...JSON.stringify(description).matchAll(/"\$ref":"([^"]+)"/g)].map(
      ([, address]) => address ?? "",
    );
    expect(references.length).toBeGreaterThan(0);
    const known = Object.keys(description.components.schemas).map((id) => `#/components/schemas/${id}`);
    expect([...new Set(references)].sort()).toEqual(known.sort());
  });

  test("lists no fields that are never there", () => {
    expect(JSON.stringify(description)).not.toContain('"not":{}');
  });

  test("has schemas that can be parsed", () => {
    for (const [id, schema] of Object.entries(description.components.schemas)) {
      expect(() => toValidator(schema), id).not.toThrow();
    }
  });
});

/** From the description alone, as a client's generator would make it. */
function toValidator(schema: Fields): z.ZodType {
  const text = JSON.stringify({ allOf: [schema], $defs: description.components.schemas });
  return z.fromJSONSchema(
    JSON.parse(text.replaceAll("#/components/schemas/", "#/$defs/")) as Parameters<typeof z.fromJSONSchema>[0],
  );
}

describe("each route", () => {
  let data: string;
  let runtime: Runtime;
  let ask: Ask;
  beforeAll(async () => {
    data = makeDataFolder();
    vi.stubEnv("RLM_DATA", data);
    runtime = await openTestRuntime({ ids: "random" });
    await runtime.warm();
    const backend = new ScriptedBackend(() => code("print('x' * 20_000)\nFINAL(len(context))"));
    const model = { backend, model: "root", mode: "rlm", cache: false } as const;
    ({ ask } = openTestServer(runtime, { model, page: new PageFiles("tests/fixtures/page") }));
  });
  afterAll(async () => {
    await runtime.close();
    vi.unstubAllEnvs();
    rmSync(data, { recursive: true, force: true });
  });

  function createStage(): Stage {
    const idOf = async (path: string, json: object): Promise<string> =>
      (await ask("POST", path, { json })).body["id"] as string;
    const session = (): Promise<string> => idOf("/v1/sessions", {});
    const used = async (): Promise<string> => {
      const id = await session();
      const json = { code: "x = [1, 2]\ndef f(a, b=1): return a" };
      await ask("POST", `/v1/sessions/${id}/execute`, { json });
      return id;
    };
    const task = (command: string, more: object = {}): Promise<string> => idOf("/v1/tasks", { command, ...more });
    const run = (): Promise<string> =>
      idOf("/v1/runs", { query: "How long?", context: "ab".repeat(5000), waitMs: 20_000 });
    const execution = async (source: string, more: object = {}): Promise<string> => {
      const headers = { prefer: "respond-async" };
      const begun = await ask("POST", `/v1/sessions/${await session()}/execute`, {
        json: { code: source, ...more },
        headers,
      });
      return begun.body["id"] as string;
    };
    return { ask, session, used, execution, task, run };
  }

  test("has an example, and there is none for a removed route", () => {
    expect(Object.keys(EXAMPLES).sort()).toEqual(ALL.map(nameOf).sort());
  });

  test.each(operations)("$name answers what is described", async ({ one, operation, name }) => {
    const answered = await EXAMPLES[name]?.(createStage());
    expect(answered, "an example").toBeDefined();
    const { status = 0, type = null, body } = answered ?? {};
    if (101 in one.responses) return expect(status, "it is a WebSocket").toBe(426);
    expect(status, JSON.stringify(body)).toBeLessThan(400);
    const described = operation?.responses[status];
    expect(Object.keys(described?.content ?? {}), `${name} ${status}`).toEqual(
      type === null ? [] : expect.arrayContaining([type]),
    );
    const schema = type === null ? undefined : described?.content?.[type]?.schema;
    if (one.responses[status]?.schema !== undefined && type === "application/json") {
      expect(schema).toBeDefined();
      expect(toValidator(schema ?? {}).safeParse(body).error?.message).toBeUndefined();
    }
    if (answered?.response.bodyUsed === false) await answered.response.body?.cancel();
  });

  test("problems are described, too", async () => {
    const { body, type } = await ask("GET", "/v1/sessions/nope");
    const schema = operationOf(ALL.find((one) => nameOf(one) === "GET /v1/sessions/{id}") as Route)?.responses["404"];
    const problem = schema?.content?.[type ?? ""]?.schema ?? {};
    expect(toValidator(problem).parse(body)).toMatchObject({ status: 404, code: "SESSION_NOT_FOUND" });
    expect(toValidator(problem).safeParse({ ...body, more: 1 }).success).toBe(false);
  });

  test("the page needs no token, covers everything, and loads or executes nothing", async () => {
    const { status, headers, response } = await ask("GET", "/v1/docs", { headers: { authorization: "" } });
    const html = await response.text();
    expect(status).toBe(200);
    expect(headers.get("content-security-policy")).toMatch(/^default-src 'none'; style-src 'sha256-[\w+/=]+'; /);
    expect(html).not.toMatch(/<script|<link|<img|<iframe|javascript:|\son\w+=|url\(|https?:/i);
    const anchors = new Set([...html.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id));
    for (const [, target] of html.matchAll(/href="#([^"]+)"/g)) expect(anchors).toContain(target);
    for (const { operation } of operations) expect(anchors).toContain(operation?.operationId);
    for (const id of Object.keys(description.components.schemas)) expect(anchors).toContain(`schema-${id}`);
  });

  test("a description cannot inject markup into the page", () => {
    const evil = `<img src=x onerror=alert(1)>"'&`;
    const html = createPage({
      info: { title: evil, version: evil, description: evil },
      tags: [{ name: evil }],
      paths: {
        [evil]: {
          get: {
            operationId: "get_evil",
            summary: evil,
            description: `\`${evil}\``,
            tags: [evil],
            parameters: [{ name: evil, in: "query", description: evil, schema: { enum: [evil], default: evil } }],
            responses: { 200: { description: evil, content: { [evil]: { schema: { type: evil } } } } },
          },
        },
      },
      components: { schemas: { Evil: { properties: { [evil]: { const: evil, description: evil } } } } },
    });
    expect(html).not.toContain("<img");
    expect(html).not.toContain(`"'`);
  });
});
