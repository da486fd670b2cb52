// What clients are told when something goes wrong: the one table from errors to statuses, and the form of the answer.
//
// Every error is `application/problem+json` (RFC 9457) with a stable `code`. What is unexpected tells nothing of us.

import { RLMError } from "../../errors.ts";

export interface Problem {
  readonly status: number;
  readonly code: string;
  readonly detail: string;
  readonly headers?: Readonly<Record<string, string>>;
}

const TITLES: Readonly<Record<number, string>> = {
  400: "Bad request",
  401: "Unauthorized",
  403: "Forbidden",
  404: "Not found",
  405: "Method not allowed",
  409: "Conflict",
  410: "Gone",
  413: "Content too large",
  422: "Unprocessable content",
  429: "Too many requests",
  500: "Internal server error",
  503: "Service unavailable",
};

/** Our errors by their code; one that is not listed is a fault of ours, 500. */
const STATUS_BY_CODE: Readonly<Record<string, number>> = {
  SECURITY: 403,
  SESSION_NOT_FOUND: 404,
  SESSION_EXISTS: 409,
  SESSION_CLOSED: 410,
  SESSION_BUSY: 429,
  LIMIT_EXCEEDED: 429,
  ENVIRONMENT_UNAVAILABLE: 503,
  WORKER_LOST: 503,
};

const RETRY_AFTER_SECONDS = "1";
const UNEXPECTED: Problem = { status: 500, code: "INTERNAL", detail: "The server failed; its log has the reason" };

export function toProblem(error: unknown): Problem {
  if (!(error instanceof RLMError)) return UNEXPECTED;
  const { code, message } = error;
  const status = STATUS_BY_CODE[code];
  if (status === undefined) return UNEXPECTED;
  const headers = { "retry-after": RETRY_AFTER_SECONDS };
  return { status, code, detail: message, ...(status === 429 && { headers }) };
}

export function toResponse({ status, code, detail, headers = {} }: Problem): Response {
  const body = { type: "about:blank", title: TITLES[status] ?? "Error", status, detail, code };
  return new Response(JSON.stringify(body), {
    status,
    headers: { "content-type": "application/problem+json", ...headers },
  });
}
