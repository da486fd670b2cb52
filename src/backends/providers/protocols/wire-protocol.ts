// How a provider is spoken to: the path and the body of a request, and the meaning of the events in the response.
//
// Each protocol is one file. Unknown events and fields are ignored, because providers add some all the time. Text that is not a
// string is an error: an answer with a hole in it would pass for a whole one.

import type { BackendRequest, StreamPart } from "../../backend.ts";

/** An object from outside, not checked yet. */
export type Fields = Readonly<Record<string, unknown>>;

/** An event is not a JSON object, is too large, or is not what its type says. The rest of the answer cannot be trusted. */
export class UnreadableEvent extends Error {}

/** A request as this model is known to take it. */
export interface WireRequest extends BackendRequest {
  /** The field for the limit on the answer. Absent: the protocol's own. */
  readonly tokenField?: "max_completion_tokens";
  /** False: the usage is not asked for. Absent: it is, where the protocol has to ask. */
  readonly reportsUsage?: false;
}

export interface WireProtocol {
  /** Appended to the base URL, whose path is given. It may have a query. */
  readonly path: string | ((model: string, basePath: string) => string);
  /** Without a key only for servers that need none. */
  headers(apiKey: string | null): Readonly<Record<string, string>>;
  /** How the response is written: as server-sent events (default), or as JSON objects, one per line. */
  readonly format?: "events" | "lines";
  /** Servers that speak it may cut a prompt that is too long, and answer the rest. Absent: they refuse it. */
  readonly mayCutPrompts?: boolean;
  /** The API demands a limit on the answer: this one is sent where the request has none. Absent: it has a default. */
  readonly defaultMaxTokens?: number;
  toBody(request: WireRequest): Fields;
  createReader(): EventReader;
}

/** Reads the events of one response. Throws the error that the provider reports inside the stream. */
export interface EventReader {
  read(event: Fields): StreamPart[];
  /** Called when the stream ends without an `end` part so far. Empty: the stream was cut off. */
  finish?(): StreamPart[];
}

/** The name of a model as one segment of a path. It may come from code: dots alone would lead to another path. */
export function toSegment(model: string): string {
  if (/^\.{1,2}$/.test(model)) {
    throw toStreamError({ type: "invalid_request_error", message: `'${model}' is not the name of a model` });
  }
  return encodeURIComponent(model.replaceAll(/\p{Surrogate}/gu, "\uFFFD"));
}

export function bearer(apiKey: string | null): Readonly<Record<string, string>> {
  return apiKey === null ? {} : { authorization: `Bearer ${apiKey}` };
}

export function toFields(value: unknown): Fields {
  return typeof value === "object" && value !== null ? (value as Fields) : {};
}

export function toDelta(type: "text-delta" | "reasoning-delta", text: unknown): StreamPart[] {
  if (text === undefined || text === null || text === "") return [];
  if (typeof text !== "string") throw new UnreadableEvent(`a piece of text is ${typeof text}`);
  return [{ type, text }];
}

/** A finite count, whatever was sent. */
export function toCount(value: unknown): number {
  return typeof value === "number" && Number.isFinite(value) && value > 0 ? Math.round(value) : 0;
}

/** In the shape that `toBackendError` reads. */
export function toStreamError(error: unknown): Error {
  const reported = typeof error === "string" ? { message: error } : toFields(error);
  return Object.assign(new Error("the provider failed"), { data: { error: reported } });
}
