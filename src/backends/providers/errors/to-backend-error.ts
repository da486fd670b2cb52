// Whatever a provider or a model object throws, as a BackendConnectionError.
//
// The error is read as unknown data, in the shape of the AI SDK's `APICallError` (statusCode, responseHeaders, responseBody,
// isRetryable), which our own client throws as well. It is not kept as the cause: it may hold the request, the headers and the
// response, and with them keys and prompts.

import { BackendConnectionError, type BackendFault } from "../../../errors.ts";
import { parseJSON } from "../../../util/parse-json.ts";
import { isTooLong } from "../refusals/token-limits.ts";
import { readGoogleDetails } from "./google-details.ts";
import { redact } from "./redact.ts";
import { parseRetryAfter } from "./retry-after.ts";
import { readRetryHint } from "./retry-hint.ts";
import { toHeaders } from "./to-headers.ts";
import { toFields, UnreadableEvent, type Fields } from "../protocols/wire-protocol.ts";

const MAX_CAUSES = 5;
const MAX_BODY_CHARACTERS = 65_536;

export function toBackendError(error: unknown, backend: string, secrets: readonly string[]): BackendConnectionError {
  if (error instanceof BackendConnectionError) return error;
  const facts = readFacts(error);
  const { fault, retryable } = error instanceof UnreadableEvent ? MALFORMED : classify(facts);
  const message = redact(facts.message, secrets);
  const http = facts.status === null ? "" : ` (HTTP ${facts.status})`;
  const isWithoutKey = fault === "authentication" && toFields(error)["hasKey"] === false;
  const what = isWithoutKey ? "it wants a key, and none is set" : descriptions[fault];
  const why = `${what}${http}${message === "" ? "" : `: ${message}`}${adviceFor(facts)}`;
  const { status, retryAfterMs } = facts;
  return new BackendConnectionError({ backend, fault, retryable, why, status, retryAfterMs });
}

const descriptions: Readonly<Record<BackendFault, string>> = {
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

/** Nobody can tell from these codes what to do. */
function adviceFor({ codes, message }: Facts): string {
  if (/econnrefused/i.test(`${codes} ${message}`)) return ". Is its server running, and its address right?";
  return /enotfound/i.test(`${codes} ${message}`) ? ". Is its address right?" : "";
}

interface Facts {
  readonly status: number | null;
  readonly message: string;
  /** Names, codes and types of the error, of its causes and of the provider's error object, in lower case. */
  readonly codes: string;
  readonly retryAfterMs: number | null;
  /** The provider itself said that it failed. */
  readonly isReported: boolean;
  /** Undefined: not stated. */
  readonly isRetryable: unknown;
}

interface Kind {
  readonly fault: BackendFault;
  readonly retryable: boolean;
}

const MALFORMED: Kind = { fault: "malformed", retryable: true };

/** What may pass is retried unless the error says that it is not retryable; a bad request only where it says that it is. */
function classify(facts: Facts): Kind {
  const { fault, retryable } = toKind(facts);
  const { isRetryable } = facts;
  return { fault, retryable: fault === "bad-request" ? isRetryable === true : retryable && isRetryable !== false };
}

function toKind({ status, message, codes, isReported }: Facts): Kind {
  if (isRequestTooLong(status, message, codes)) return { fault: "context-too-long", retryable: false };
  const isFlagged = status === 403 && /moderation|flagged/i.test(message);
  if (isFlagged || /content_filter|content_policy|invalid_prompt/.test(codes)) {
    return { fault: "refusal", retryable: false };
  }
  if (status !== null) return toKindOfStatus(status, codes);
  // Errors of the AI SDK: the response was unreadable, a key is missing, or no request was made at all.
  if (/ai_(jsonparse|invalidresponse|emptyresponse|nocontent)/.test(codes)) return MALFORMED;
  if (/ai_load/.test(codes)) return { fault: "configuration", retryable: false };
  if (/ai_(invalid|unsupported|typevalidation|nosuch)/.test(codes)) return { fault: "bad-request", retryable: false };
  return { fault: isReported ? "server" : "connection", retryable: true };
}

function toKindOfStatus(status: number, codes: string): Kind {
  if (status === 401 || status === 403 || /api_key_invalid/.test(codes))
    return { fault: "authentication", retryable: false };
  if (status === 408) return { fault: "timeout", retryable: true };
  if (status === 409) return { fault: "server", retryable: true };
  // A quota that is used up, or a balance, does not come back by waiting.
  if (status === 402) return { fault: "rate-limit", retryable: false };
  if (status === 429) return { fault: "rate-limit", retryable: !/insufficient_quota|billing|perday/.test(codes) };
  if (status === 501) return { fault: "server", retryable: false };
  if (status >= 500) return { fault: "server", retryable: true };
  return { fault: "bad-request", retryable: false };
}

function isRequestTooLong(status: number | null, message: string, codes: string): boolean {
  if (/context_length|context_size|request_too_large/.test(codes) || status === 413) return true;
  // A single request with more tokens than are allowed in a minute: waiting does not help.
  if (status === 429) return /request too large for /i.test(message);
  return (status === null || status === 400 || status === 422) && isTooLong(message);
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

function readFacts(error: unknown): Facts {
  const outer = toFields(error);
  const reported = toReportedError(outer);
  const causes = toCauses(outer);
  const types = [reported["code"], reported["type"], outer["code"], outer["type"]].filter((code) => code !== undefined);
  const google = readGoogleDetails(reported["details"]);
  const names = causes.flatMap((cause) => [cause["name"], cause["code"]]);
  const codes = [...types, ...google.codes, ...names].map(toText);
  const messages = [messageOf(reported), outer["responseBody"], outer["message"], error].map(toText);
  const message = isCutOff(outer) ? "the answer broke off" : messages.find((text) => text.trim() !== "");
  const status = toStatus(outer, types);
  const headers = toHeaders(outer["responseHeaders"]);
  const hintMs = status === 429 ? readRetryHint({ headers, reported, message: message ?? "" }, Date.now()) : null;
  return {
    status,
    message: withCode(message ?? "", causes),
    codes: codes.join(" ").toLowerCase(),
    retryAfterMs: parseRetryAfter(headers, Date.now()) ?? google.retryAfterMs ?? hintMs,
    isReported: Object.keys(reported).length > 0,
    isRetryable: outer["isRetryable"],
  };
}

function toStatus(outer: Fields, types: readonly unknown[]): number | null {
  for (const type of [outer["statusCode"], ...types]) {
    const status = typeof type === "string" ? (statusOfType[type] ?? Number(type)) : type;
    if (typeof status === "number" && Number.isInteger(status) && status >= 300 && status < 600) return status;
  }
  return null;
}

/** The response began with a good status, which says nothing about how it ended. */
function isCutOff({ statusCode }: Fields): boolean {
  return typeof statusCode === "number" && statusCode < 300;
}

/** `{ "error": { message, type, code } }`, which all providers send, as the body or as parsed data. Google may send it in a list. */
function toReportedError(outer: Fields): Fields {
  for (const sent of [outer["data"], parseBody(outer["responseBody"])]) {
    const frame = toFields(Array.isArray(sent) ? sent[0] : sent);
    for (const error of [frame["error"], toFields(frame["response"])["error"]]) {
      if (typeof error === "object" && error !== null) return toFields(error);
      if (typeof error === "string") return { message: error };
    }
    if (typeof frame["message"] === "string") return frame;
  }
  return {};
}

/** OpenRouter has what the provider behind it said beside its own message. */
function messageOf({ message, metadata }: Fields): unknown {
  const { raw } = toFields(metadata);
  if (typeof raw !== "string" || raw === "") return message;
  const inner = toFields(toFields(parseBody(raw))["error"])["message"];
  return `${toText(message)}: ${typeof inner === "string" ? inner : raw}`;
}

function toCauses(outer: Fields): Fields[] {
  const causes = [outer];
  while (causes.length < MAX_CAUSES) {
    const cause = toFields(causes.at(-1)?.["cause"]);
    if (Object.keys(cause).length === 0 && cause["message"] === undefined) break;
    causes.push(cause);
  }
  return causes;
}

/** The innermost code says most: ECONNREFUSED. */
function withCode(message: string, causes: readonly Fields[]): string {
  const code = toText(causes.findLast((cause) => typeof cause["code"] === "string")?.["code"]);
  return code === "" || message.includes(code) || !/^(E[A-Z]+|UND_ERR)/.test(code) ? message : `${message} (${code})`;
}

function parseBody(body: unknown): unknown {
  return typeof body !== "string" || body.length > MAX_BODY_CHARACTERS ? undefined : parseJSON(body);
}

function toText(value: unknown): string {
  return typeof value === "string" ? value : typeof value === "number" ? String(value) : "";
}
