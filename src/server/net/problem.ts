// Problem documents (RFC 9457), and the one table from errors to statuses.
//
// Every error is `application/problem+json` with a stable `code`. Unexpected errors reveal no details.

import { FileError, RLMError, type FileReason } from "../../errors.ts";
import type { ProblemSummary } from "../../protocol/api/problem.ts";
import { omitUndefined } from "../../util/omit-undefined.ts";
import { factsOf } from "./facts.ts";

export interface Problem extends ProblemSummary {
  readonly headers?: Readonly<Record<string, string>>;
}

/** Carries a problem to where the response is made. */
export class ProblemError extends Error {
  readonly problem: Problem;
  constructor(problem: Problem) {
    super(problem.detail);
    this.problem = problem;
  }
}

const TITLES: Readonly<Record<number, string>> = {
  400: "Bad request",
  401: "Unauthorized",
  403: "Forbidden",
  404: "Not found",
  405: "Method not allowed",
  408: "Request timeout",
  409: "Conflict",
  410: "Gone",
  413: "Content too large",
  415: "Unsupported media type",
  416: "Range not satisfiable",
  422: "Unprocessable content",
  426: "Upgrade required",
  429: "Too many requests",
  431: "Request header fields too large",
  500: "Internal server error",
  502: "Bad gateway",
  503: "Service unavailable",
  507: "Insufficient storage",
};

/** By the code of an RLMError. Others are internal errors: 500. */
const STATUS_BY_CODE: Readonly<Record<string, number>> = {
  SECURITY: 403,
  SESSION_NOT_FOUND: 404,
  TASK_NOT_FOUND: 404,
  RUN_NOT_FOUND: 404,
  EXECUTION_NOT_FOUND: 404,
  VARIABLE_NOT_FOUND: 404,
  ID_REUSED: 409,
  SESSION_EXISTS: 409,
  TASK_STATE: 409,
  FORK_REFUSED: 409,
  CAPABILITY_MISSING: 409,
  SESSION_STATE: 409,
  STDLIB: 422,
  // Of runs: in the `problem` of a run that rejected.
  MAX_DEPTH_EXCEEDED: 409,
  TOKEN_BUDGET_EXHAUSTED: 409,
  TOOL_BUDGET_EXHAUSTED: 409,
  PRICE_UNKNOWN: 409,
  BACKEND: 502,
  SESSION_CLOSED: 410,
  SESSION_BUSY: 429,
  LIMIT_EXCEEDED: 429,
  INSPECTION_FAILED: 503,
  ENVIRONMENT_UNAVAILABLE: 503,
  WORKER_LOST: 503,
};

const RETRY_AFTER_SECONDS = "1";
const UNEXPECTED: Problem = { status: 500, code: "INTERNAL", detail: "The server failed; its log has the reason" };

export const SHUTTING_DOWN: Problem = {
  status: 503,
  code: "ENDING",
  detail: "The server is shutting down and accepts no new work",
  headers: { "retry-after": "5", connection: "close" },
};

const STATUS_BY_FILE_REASON: Readonly<Record<FileReason, number>> = {
  "not-found": 404,
  exists: 409,
  "not-a-folder": 409,
  "is-a-folder": 409,
  "not-a-file": 409,
  "no-space": 507,
  "too-large": 413,
  denied: 403,
};

export function toProblem(error: unknown): Problem {
  if (error instanceof ProblemError) return error.problem;
  if (!(error instanceof RLMError)) return UNEXPECTED;
  const { code, message } = error;
  const status = error instanceof FileError ? STATUS_BY_FILE_REASON[error.reason] : STATUS_BY_CODE[code];
  if (status === undefined) return UNEXPECTED;
  const headers = { "retry-after": RETRY_AFTER_SECONDS };
  const problem = { status, code, detail: message, ...omitUndefined({ facts: factsOf(error) }) };
  return { ...problem, ...((status === 429 || status === 503) && { headers }) };
}

/** For arguments that only the runtime can validate: its TypeErrors and RangeErrors become problems of the client. */
export async function withArguments<Value>(call: () => Value | Promise<Value>): Promise<Value> {
  try {
    return await call();
  } catch (error) {
    if (!(error instanceof RangeError || error instanceof TypeError)) throw error;
    throw new ProblemError({ status: 422, code: "INVALID", detail: error.message });
  }
}

export function toResponse(problem: Problem, requestId?: string): Response {
  const { status, headers = {} } = problem;
  return new Response(JSON.stringify(toBody(problem, requestId)), {
    status,
    headers: { "content-type": "application/problem+json", ...headers },
  });
}

export function toBody({ status, code, detail, facts }: Problem, requestId?: string): object {
  const title = TITLES[status] ?? "Error";
  return { type: "about:blank", title, status, detail, code, ...omitUndefined({ facts, requestId }) };
}

/** For a problem inside another message. */
export function toSummary({ status, code, detail, facts }: Problem): ProblemSummary {
  return { status, code, detail, ...omitUndefined({ facts }) };
}
