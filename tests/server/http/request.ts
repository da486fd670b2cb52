// A server without a socket, for tests. Every response is compared with the documentation of its route.

import { expect } from "vitest";
import type { Runtime } from "../../internals.ts";
import { createServerContext, type ServerContextOptions } from "../../../src/server/create-context.ts";
import { createApp } from "../../../src/server/http/app.ts";
import type { GuardOptions } from "../../../src/server/net/guards/guarded-app.ts";
import { COMMON_PROBLEMS } from "../../../src/server/http/description/openapi.ts";
import type { Route } from "../../../src/server/http/route.ts";
import { ROUTES } from "../../../src/server/http/routes.ts";
import { problem } from "../../../src/protocol/api/problem.ts";

export const TOKEN = "secret";

export interface Question {
  readonly body?: string | Uint8Array<ArrayBuffer> | ReadableStream;
  /** Sent as JSON. */
  readonly json?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
}

export interface Answered {
  readonly status: number;
  readonly headers: Headers;
  readonly type: string | null;
  /** Of JSON. */
  readonly body: Record<string, unknown>;
  readonly response: Response;
}

export type Ask = (method: string, path: string, question?: Question) => Promise<Answered>;

export function openTestServer(runtime: Runtime, options: ServerContextOptions & Partial<GuardOptions> = {}) {
  const context = createServerContext(runtime, options);
  const app = createApp(context, { token: TOKEN, ...options });
  const ask: Ask = async (method, path, { json, body, headers, signal } = {}) => {
    const response = await app.request(path, {
      method,
      headers: { host: "localhost", authorization: `Bearer ${TOKEN}`, ...headers },
      ...(json === undefined ? body !== undefined && { body, duplex: "half" } : { body: JSON.stringify(json) }),
      ...(signal && { signal }),
    });
    const type = response.headers.get("content-type");
    const isJSON = type?.includes("json") === true;
    const text = isJSON ? await response.text() : "";
    const parsed = (isJSON ? JSON.parse(text) : {}) as Record<string, unknown>;
    checkDocumented(
      method,
      new URL(path, "http://localhost").pathname,
      response.status,
      type,
      isJSON ? parsed : undefined,
    );
    return { status: response.status, headers: response.headers, type, body: parsed, response };
  };
  return { context, app, ask };
}

/** The route that such a path leads to. */
function routeOf(method: string, path: string): Route | undefined {
  const isIt = (one: Route): boolean => {
    const pattern = one.path
      .replaceAll(/[.]/g, String.raw`\.`)
      .replaceAll(/\{\w+(\+?)\}/g, (_, rest) => (rest ? ".+" : "[^/]+"));
    return one.method === method && new RegExp(`^${pattern}$`).test(path);
  };
  return ROUTES.find(isIt);
}

export function checkDocumented(
  method: string,
  path: string,
  status: number,
  type: string | null,
  body: unknown,
): void {
  const one = routeOf(method, path);
  if (one === undefined) return;
  const where = `${method} ${one.path} answers ${status}`;
  if (type === "application/problem+json") {
    problem.strict().parse(body);
    expect([...Object.keys(COMMON_PROBLEMS).map(Number), ...(one.problems ?? [])], where).toContain(status);
    return;
  }
  const documented = one.responses[status];
  expect(documented, where).toBeDefined();
  if (body === undefined) {
    if (type !== null) expect(documented?.types, where).toContain(type);
    return;
  }
  const parsed = documented?.schema?.safeParse(body);
  expect(parsed?.error?.message, where).toBeUndefined();
  expect(parsed?.success, where).toBe(true);
}

/** The events of a stream, up to its end. */
export async function readEvents(
  response: Response,
): Promise<readonly { id: string; type: string; data: Record<string, unknown> }[]> {
  const messages = (await response.text()).split("\n\n").filter((text) => text !== "" && !text.startsWith(":"));
  return messages.map((text) => {
    const field = (name: string): string => new RegExp(`^${name}: (.*)$`, "m").exec(text)?.[1] ?? "";
    return { id: field("id"), type: field("event"), data: JSON.parse(field("data")) as Record<string, unknown> };
  });
}
