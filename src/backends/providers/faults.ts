// What went wrong with a provider, as one kind of error.
//
// Whatever a provider or its library throws is looked at as unknown data. None of it is kept as the cause: it carries the request,
// the headers and the body of the answer, and with them keys and prompts. What is told of it is cut, and keys are struck out.

import { BackendConnectionError } from "../../errors.ts";
import type { BackendFault } from "../../errors.ts";
import { UnreadableEvent } from "./event-stream.ts";
import { secretEncodings } from "../../util/secret-encodings.ts";
import { parseRetryAfter } from "./retry-after.ts";

const MAX_WHY_CHARACTERS = 500;

/** Who is speaking, and what must never be told. */
export interface Speaker {
  readonly backend: string;
  readonly secrets: readonly string[];
}

export function toFault(error: unknown, speaker: Speaker): BackendConnectionError {
  const said = read(error);
  const kind: Kind = error instanceof UnreadableEvent ? { fault: "malformed", retryable: true } : kindOf(said);
  const message = tellable(said.message, speaker.secrets);
  const http = said.status === null ? "" : ` (HTTP ${said.status})`;
  const why = `${words[kind.fault]}${http}${message === "" ? "" : `: ${message}`}`;
  const { status, retryAfterMs } = said;
  return new BackendConnectionError({ backend: speaker.backend, ...kind, why, status, retryAfterMs });
}

/** One line of bounded length in which no secret is left. */
export function tellable(text: string, secrets: readonly string[]): string {
  let told = text;
  for (const form of secrets.flatMap(secretEncodings)) told = told.replaceAll(form, "***");
  // Also keys that are not ours, and what a provider left of one that is.
  told = told.replaceAll(/\b(sk|pk|key)[-_][\w.*-]{6,}/gi, "$1-***");
  told = told.replaceAll(/\b(bearer +|key[ :=]+(?=[\w.*-]*[\d*]))[\w.*~+/=-]{6,}/gi, "$1***");
  // oxlint-disable-next-line no-control-regex -- that is what is to go
  told = told.replaceAll(/[\s\u0000-\u001f\u007f-\u009f]+/g, " ").trim();
  const rest = told.length - MAX_WHY_CHARACTERS;
  return rest > 0 ? `${told.slice(0, MAX_WHY_CHARACTERS)}... (${rest} more characters)` : told;
}

const words: Readonly<Record<BackendFault, string>> = {
  configuration: "it is not configured",
  authentication: "the key is not accepted",
  "rate-limit": "too many requests",
  "bad-request": "the request is not accepted",
  "context-too-long": "the request is longer than the model's window",
  server: "the provider failed",
  connection: "the connection failed",
  timeout: "no answer in time",
  malformed: "the answer cannot be read",
  empty: "the answer is empty",
  refusal: "the request was refused",
};

/** What could be made out of an error, whoever threw it. */
interface Said {
  readonly status: number | null;
  readonly message: string;
  /** Names, codes and types of the error, of its causes and of the provider's error object, in lower case. */
  readonly marks: string;
  readonly retryAfterMs: number | null;
}

interface Kind {
  readonly fault: BackendFault;
  readonly retryable: boolean;
}

function kindOf({ status, message, marks }: Said): Kind {
  if (isTooLong(status, message, marks)) return { fault: "context-too-long", retryable: false };
  if (/content_filter|content_policy|invalid_prompt/.test(marks)) return { fault: "refusal", retryable: false };
  if (status !== null) return kindOfStatus(status, marks);
  // The library would not even ask.
  if (/ai_invalid|ai_unsupported|ai_typevalidation/.test(marks)) return { fault: "bad-request", retryable: false };
  return { fault: "connection", retryable: true };
}

function kindOfStatus(status: number, marks: string): Kind {
  if (status === 401 || status === 403) return { fault: "authentication", retryable: false };
  if (status === 408) return { fault: "timeout", retryable: true };
  if (status === 409) return { fault: "server", retryable: true };
  // Money that is used up does not come back by waiting.
  if (status === 429) return { fault: "rate-limit", retryable: !/insufficient_quota|billing/.test(marks) };
  if (status === 501) return { fault: "server", retryable: false };
  if (status >= 500) return { fault: "server", retryable: true };
  return { fault: "bad-request", retryable: false };
}

function isTooLong(status: number | null, message: string, marks: string): boolean {
  if (/context_length|request_too_large/.test(marks) || status === 413) return true;
  if (status !== null && status !== 400 && status !== 422) return false;
  return /(context (length|window|size|limit)|(prompt|input|request) is too (long|large)|too many (input )?tokens)/i.test(
    message,
  );
}

const statusOfType: Readonly<Record<string, number>> = {
  invalid_request_error: 400,
  authentication_error: 401,
  permission_error: 403,
  not_found_error: 404,
  request_too_large: 413,
  rate_limit_error: 429,
  rate_limit_exceeded: 429,
  insufficient_quota: 429,
  api_error: 500,
  server_error: 500,
  timeout_error: 504,
  overloaded_error: 529,
};

function read(error: unknown): Said {
  const outer = toRecord(error);
  const body = providerErrorOf(outer);
  const causes = causesOf(outer);
  const code = [body["code"], body["type"], outer["code"], outer["type"]].filter((mark) => mark !== undefined);
  const marks = [...code, ...causes.flatMap((cause) => [cause["name"], cause["code"]])].map(asText);
  const messages = [body["message"], outer["responseBody"], outer["message"], error].map(asText);
  const message = isBrokenOff(outer) ? "the answer broke off" : messages.find((text) => text.trim() !== "");
  return {
    status: statusOf(outer, code),
    message: withCause(message ?? "", causes),
    marks: marks.join(" ").toLowerCase(),
    retryAfterMs: parseRetryAfter(toHeaders(outer["responseHeaders"]), Date.now()),
  };
}

function statusOf(outer: Readonly<Record<string, unknown>>, codes: readonly unknown[]): number | null {
  for (const code of [outer["statusCode"], ...codes]) {
    const status = typeof code === "string" ? (statusOfType[code] ?? Number(code)) : code;
    if (typeof status === "number" && Number.isInteger(status) && status >= 300 && status < 600) return status;
  }
  return null;
}

/** It began with a good status, which says nothing about how it ended. */
function isBrokenOff({ statusCode }: Readonly<Record<string, unknown>>): boolean {
  return typeof statusCode === "number" && statusCode < 300;
}

/** `{ "error": { message, type, code } }`, which is what all of them send, however deep the library has put it. */
function providerErrorOf(outer: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const frames = [toRecord(outer["data"]), toRecord(parse(outer["responseBody"]))];
  for (const frame of frames) {
    for (const at of [frame["error"], toRecord(frame["response"])["error"]]) {
      if (typeof at === "object" && at !== null) return toRecord(at);
      if (typeof at === "string") return { message: at };
    }
    if (typeof frame["message"] === "string") return frame;
  }
  return {};
}

function causesOf(outer: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>>[] {
  const causes = [outer];
  while (causes.length < 5) {
    const cause = toRecord(causes.at(-1)?.["cause"]);
    if (Object.keys(cause).length === 0 && cause["message"] === undefined) break;
    causes.push(cause);
  }
  return causes;
}

/** The innermost code says most: ECONNREFUSED. */
function withCause(message: string, causes: readonly Readonly<Record<string, unknown>>[]): string {
  const code = asText(causes.findLast((cause) => typeof cause["code"] === "string")?.["code"]);
  return code === "" || message.includes(code) || !/^(E[A-Z]+|UND_ERR)/.test(code) ? message : `${message} (${code})`;
}

/** Fields of an error that matter here are not enumerable, hence no copy. */
function toRecord(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null ? (value as Readonly<Record<string, unknown>>) : {};
}

function toHeaders(value: unknown): Readonly<Record<string, string>> {
  const entries = Object.entries(toRecord(value)).filter(([, header]) => typeof header === "string");
  return Object.fromEntries(entries.map(([name, header]) => [name.toLowerCase(), header as string]));
}

function parse(body: unknown): unknown {
  if (typeof body !== "string" || body.length > 65_536) return undefined;
  try {
    return JSON.parse(body);
  } catch {
    return undefined;
  }
}

function asText(value: unknown): string {
  return typeof value === "string" ? value : typeof value === "number" ? String(value) : "";
}
