// Encodes events for a log: secrets are redacted, long texts become blobs, and known messages become references.

import { createHash } from "node:crypto";
import { isWellFormed } from "../../protocol/worker/is-well-formed.ts";
import type { ModelCallEnd, ModelCallStart, RunEvent } from "../../protocol/run-events.ts";
import type { BlobReference } from "../../protocol/run-outline/stored-text.ts";
import { secretEncodings } from "../../util/secret-encodings.ts";
import {
  FIELD_BYTES,
  isLong,
  MARKER,
  MAX_LINE_BYTES,
  SCHEMA_VERSION,
  toHead,
  type SameMessages,
} from "./run-log-format.ts";

/** Shorter secrets are not redacted: they would match ordinary words. */
const MIN_SECRET = 8;
const MAX_DEPTH = 100;
const MAX_PARTS = 1_000_000;
const MAX_CONVERSATIONS = 1000;
/** Encoded names of fields that are cached. */
const MAX_KEYS = 1000;
const MAX_KEY_CHARACTERS = 100;

type Messages = ModelCallStart["messages"];

export class EventEncoder {
  readonly #secrets: readonly string[];
  /** As they appear in JSON. Undefined: that depends on the text around them. */
  readonly #quotedSecrets: readonly string[] | undefined;
  /** The latest conversation of each node. */
  readonly #conversations = new Map<string, { readonly callId: string; readonly messages: Messages }>();
  readonly #keys = new Map<string, string>();
  #isFirst = true;
  #blobs = new Map<string, Buffer>();
  #parts = 0;

  constructor(secrets: readonly string[] = []) {
    const known = secrets.filter((secret) => secret.length >= MIN_SECRET);
    this.#secrets = known.flatMap(secretEncodings).sort((a, b) => b.length - a.length);
    const isPlain = this.#secrets.every(isWellFormed);
    this.#quotedSecrets = isPlain ? this.#secrets.map((secret) => JSON.stringify(secret).slice(1, -1)) : undefined;
  }

  /** One line with its newline, and the blobs that must be written before it. Never throws. */
  encode(event: RunEvent): { readonly line: string; readonly blobs: ReadonlyMap<string, Buffer> } {
    if (this.#blobs.size > 0) this.#blobs = new Map();
    const plain = this.#encodePlain(event);
    if (plain !== undefined) return { line: `${plain}\n`, blobs: this.#blobs };
    let fields = this.#isFirst ? `"schemaVersion":${SCHEMA_VERSION}` : "";
    for (const name of Object.keys(event)) {
      const value: unknown = event[name as keyof RunEvent];
      const json = name === "messages" ? this.#messages(event as ModelCallStart) : this.#fieldJson(value, FIELD_BYTES);
      if (json !== undefined) fields += `${fields === "" ? "" : ","}"${name}":${json}`;
    }
    this.#isFirst = false;
    if (event.type === "node-end") this.#conversations.delete(event.nodeId);
    return { line: `{${fields}}\n`, blobs: this.#blobs };
  }

  redact(text: string): string {
    let kept = text;
    for (const secret of this.#secrets) kept = kept.replaceAll(secret, "[redacted]");
    return kept;
  }

  get secrets(): readonly string[] {
    return this.#secrets;
  }

  /** A fast path for short model calls, of which there are thousands: plain JSON. Undefined: something needs to be encoded. */
  #encodePlain(event: RunEvent): string | undefined {
    if (this.#isFirst || this.#quotedSecrets === undefined || !isShortCall(event)) return undefined;
    if (event.type === "model-call-start" && this.#countKnown(event) > 0) return undefined;
    const json = JSON.stringify(event);
    // If the whole line is short and free of secrets, so is every text in it.
    return isLong(json) || this.#quotedSecrets.some((secret) => json.includes(secret)) ? undefined : json;
  }

  /** How many of the messages are those of an earlier call. */
  #countKnown({ nodeId, messages }: ModelCallStart): number {
    const known = this.#conversations.get(nodeId);
    return known === undefined ? 0 : countSame(known.messages, messages);
  }

  #messages(call: ModelCallStart): string {
    const known = this.#conversations.get(call.nodeId);
    const count = this.#countKnown(call);
    const same: SameMessages | undefined =
      known === undefined || count === 0 ? undefined : { $same: known.callId, count };
    if (call.purpose === "step") this.#remember(call);
    let items = same === undefined ? "" : JSON.stringify(same);
    for (let index = count; index < call.messages.length; index += 1) {
      const json = this.#fieldJson(call.messages[index], MAX_LINE_BYTES) ?? "null";
      items += `${items === "" ? "" : ","}${json}`;
    }
    return `[${items}]`;
  }

  #remember({ nodeId, callId, messages }: ModelCallStart): void {
    this.#conversations.delete(nodeId);
    this.#conversations.set(nodeId, { callId, messages });
    const [oldest] = this.#conversations.keys();
    if (this.#conversations.size > MAX_CONVERSATIONS && oldest !== undefined) this.#conversations.delete(oldest);
  }

  /** Undefined: JSON has no representation of it. */
  #fieldJson(value: unknown, maxBytes: number): string | undefined {
    this.#parts = 0;
    try {
      const json = this.#json(value, 0);
      const isLarge = typeof value === "object" && json !== undefined && json.length > maxBytes;
      return isLarge ? JSON.stringify(this.#blob(json, "json")) : json;
    } catch (error) {
      return JSON.stringify(`[not recorded: ${error instanceof Error ? toHead(error.message) : "it is no data"}]`);
    }
  }

  /** Like JSON.stringify, with redaction and blobs in the same pass. */
  #json(value: unknown, depth: number): string | undefined {
    this.#parts += 1;
    if (depth > MAX_DEPTH || this.#parts > MAX_PARTS) throw new RangeError("it is too deep, or has too many parts");
    if (typeof value === "string") return this.#text(value);
    if (typeof value === "bigint") return this.#text(String(value));
    if (typeof value !== "object" || value === null) return JSON.stringify(value);
    if ("toJSON" in value && typeof value.toJSON === "function") return this.#json(value.toJSON(), depth + 1);
    if (Array.isArray(value)) return `[${Array.from(value, (item) => this.#json(item, depth + 1) ?? "null").join()}]`;
    let fields = "";
    for (const key of Object.keys(value)) {
      const json = this.#json((value as Record<string, unknown>)[key], depth + 1);
      if (json !== undefined) fields += `${fields === "" ? "" : ","}${this.#key(key)}:${json}`;
    }
    return `{${fields}}`;
  }

  #key(key: string): string {
    const known = this.#keys.get(key);
    if (known !== undefined) return known;
    const clean = this.redact(key);
    const json = JSON.stringify(MARKER.test(clean) ? `$${clean}` : clean);
    if (this.#keys.size < MAX_KEYS && key.length < MAX_KEY_CHARACTERS) this.#keys.set(key, json);
    return json;
  }

  #text(text: string): string {
    const clean = this.redact(text);
    if (!isLong(clean)) return JSON.stringify(clean);
    // A lone surrogate cannot be encoded in UTF-8, but JSON can escape it.
    const isJson = /\p{Surrogate}/u.test(clean);
    return JSON.stringify(isJson ? this.#blob(JSON.stringify(clean), "json") : this.#blob(clean));
  }

  #blob(text: string, encoding?: "json"): BlobReference {
    const bytes = Buffer.from(text);
    const digest = createHash("sha256").update(bytes).digest("hex");
    this.#blobs.set(digest, bytes);
    return { $blob: digest, bytes: bytes.length, head: toHead(text), ...(encoding !== undefined && { encoding }) };
  }
}

/** A call without nested data and without long texts. */
function isShortCall(event: RunEvent): event is ModelCallStart | ModelCallEnd {
  if (event.type === "model-call-end") return !isLong(event.text) && !isLong(event.reasoning);
  return (
    event.type === "model-call-start" &&
    event.purpose === "query" &&
    event.messages.every(({ content }) => !isLong(content))
  );
}

/** The length of the common prefix of two conversations. */
function countSame(before: Messages, now: Messages): number {
  let count = 0;
  while (count < before.length && count < now.length) {
    const [a, b] = [before[count], now[count]];
    if (a?.role !== b?.role || a?.content !== b?.content) break;
    count += 1;
  }
  return count;
}
