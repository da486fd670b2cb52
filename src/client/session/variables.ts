// Reading and setting variables. Both wait in the queue of the session.

import { checkVariableValue } from "../../api/checks/check-calls.ts";
import type { GetOptions, OperationOptions, VariableValue } from "../../api/session.ts";
import { SessionStateError } from "../../errors.ts";
import { omitUndefined } from "../../util/omit-undefined.ts";
import { parseJSON } from "../../util/parse-json.ts";
import { fixedBody, toBody, type RequestBody } from "../net/body.ts";
import { notOurs } from "../net/failure.ts";
import { readBytes, TooLarge } from "../net/read-body.ts";
import type { Requests } from "../net/requests.ts";
import { toQueryTime } from "../times.ts";

const DEFAULT_MAX_BYTES = 64 * 1024 * 1024;
const TYPES = {
  json: "application/json",
  text: "text/plain; charset=utf-8",
  bytes: "application/octet-stream",
} as const;

/** The arguments are checked. */
export function getVariable(requests: Requests, path: string, options: GetOptions): () => Promise<unknown> {
  const { as = "json", maxBytes = DEFAULT_MAX_BYTES, timeoutMs, signal } = options;
  const request = { query: { as, maxBytes, timeoutMs: toQueryTime(timeoutMs) }, signal, isQueued: true };
  return async () => {
    const bytes = await requests.repeat("GET", path, request, async ({ response, toFailure }) => {
      try {
        return await readBytes(response, requests.connection.clock, maxBytes);
      } catch (error) {
        if (!(error instanceof TooLarge)) throw toFailure(error);
        throw new SessionStateError({
          action: "get a variable",
          sessionId: null,
          why: `it has more than ${maxBytes} bytes`,
        });
      }
    });
    if (as === "bytes") return bytes;
    const text = new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes);
    if (as === "text") return text;
    const value = parseJSON(text);
    if (value === undefined) throw notOurs(requests.connection.url, "it sends a value that is not JSON");
    return value;
  };
}

/** Throws at once for a value that cannot be used. */
export function setVariable(
  requests: Requests,
  path: string,
  value: VariableValue,
  { timeoutMs, signal }: OperationOptions,
): () => Promise<void> {
  const body = toValue(value);
  if (body instanceof Promise) body.catch(() => {});
  const query = { timeoutMs: toQueryTime(timeoutMs) };
  return async () => requests.send("PUT", path, { body: await body, query, signal, isUpload: true, isQueued: true });
}

function toValue(given: VariableValue): RequestBody | Promise<RequestBody> {
  checkVariableValue(given, ["json", "text", "bytes", "stream"]);
  const value = omitUndefined(given) as VariableValue;
  if ("json" in value) {
    const text = JSON.stringify(value.json) as string | undefined;
    if (text === undefined) throw new TypeError("Cannot set a variable to this: JSON cannot say what it is");
    return fixedBody(text, TYPES.json);
  }
  if ("text" in value) return fixedBody(value.text, TYPES[value.as ?? "text"]);
  if ("bytes" in value) {
    if (!(value.bytes instanceof Uint8Array)) throw new TypeError("Cannot set a variable: bytes must be a Uint8Array");
    return fixedBody(value.bytes, TYPES.bytes);
  }
  return toBody(value.stream, TYPES[value.as ?? "bytes"]);
}
