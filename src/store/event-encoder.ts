// Events of a run on their way into its log: keys removed, long texts made blobs, messages that are known left out.

import { createHash } from "node:crypto";
import type { ModelCallStart, RunEvent } from "../protocol/runs.ts";
import {
  FIELD_BYTES,
  isLong,
  MARKER,
  MAX_LINE_BYTES,
  SCHEMA_VERSION,
  toHead,
  type BlobReference,
  type SameMessages,
} from "./run-log-format.ts";

/** Shorter ones are not looked for: they are in every other word. */
const MIN_SECRET = 8;
const MAX_DEPTH = 100;
const MAX_PARTS = 1_000_000;
const MAX_CONVERSATIONS = 1000;

type Messages = ModelCallStart["messages"];

export class EventEncoder {
  readonly #secrets: readonly string[];
  /** What a node said to its model last. */
  readonly #conversations = new Map<string, { readonly callId: string; readonly messages: Messages }>();
  #isFirst = true;
  #blobs = new Map<string, Buffer>();
  #parts = 0;

  constructor(secrets: readonly string[] = []) {
    this.#secrets = secrets.filter((secret) => secret.length >= MIN_SECRET).sort((a, b) => b.length - a.length);
  }

  /** One line, with its end, and the blobs that have to be there before it. Never throws. */
  encode(event: RunEvent): { readonly line: string; readonly blobs: ReadonlyMap<string, Buffer> } {
    this.#blobs = new Map();
    let fields = this.#isFirst ? `"schemaVersion":${SCHEMA_VERSION}` : "";
    for (const [name, value] of Object.entries(event)) {
      const json = name === "messages" ? this.#messages(event as ModelCallStart) : this.#fieldJson(value, FIELD_BYTES);
      if (json !== undefined) fields += `${fields === "" ? "" : ","}${JSON.stringify(name)}:${json}`;
    }
    this.#isFirst = false;
    if (event.type === "node-end") this.#conversations.delete(event.nodeId);
    return { line: `{${fields}}\n`, blobs: this.#blobs };
  }

  /** Without the secrets. */
  redact(text: string): string {
    return this.#secrets.reduce((kept, secret) => kept.replaceAll(secret, "[redacted]"), text);
  }

  get secrets(): readonly string[] {
    return this.#secrets;
  }

  #messages(call: ModelCallStart): string {
    const known = this.#conversations.get(call.nodeId);
    const count = known === undefined ? 0 : countSame(known.messages, call.messages);
    const same: SameMessages[] = known === undefined || count === 0 ? [] : [{ $same: known.callId, count }];
    if (call.purpose === "turn") this.#remember(call);
    const added = call.messages.slice(count).map((message) => this.#fieldJson(message, MAX_LINE_BYTES) ?? "null");
    return `[${[...same.map((one) => JSON.stringify(one)), ...added].join()}]`;
  }

  #remember({ nodeId, callId, messages }: ModelCallStart): void {
    this.#conversations.delete(nodeId);
    this.#conversations.set(nodeId, { callId, messages });
    const [oldest] = this.#conversations.keys();
    if (this.#conversations.size > MAX_CONVERSATIONS && oldest !== undefined) this.#conversations.delete(oldest);
  }

  /** Undefined: there is nothing to say of it in JSON. */
  #fieldJson(value: unknown, maxBytes: number): string | undefined {
    this.#parts = 0;
    try {
      const json = JSON.stringify(this.#value(value, 0)) as string | undefined;
      const isLarge = typeof value === "object" && json !== undefined && json.length > maxBytes;
      return isLarge ? JSON.stringify(this.#blob(json, "json")) : json;
    } catch (error) {
      return JSON.stringify(`[not recorded: ${error instanceof Error ? toHead(error.message) : "it is no data"}]`);
    }
  }

  #value(value: unknown, depth: number): unknown {
    this.#parts += 1;
    if (depth > MAX_DEPTH || this.#parts > MAX_PARTS) throw new RangeError("it is too deep, or has too many parts");
    if (typeof value === "string") return this.#text(value);
    if (typeof value === "bigint") return this.#text(String(value));
    if (typeof value !== "object" || value === null) return value;
    if ("toJSON" in value && typeof value.toJSON === "function") return this.#value(value.toJSON(), depth + 1);
    if (Array.isArray(value)) return value.map((item) => this.#value(item, depth + 1));
    return Object.fromEntries(
      Object.entries(value).map(([key, item]) => [this.#key(key), this.#value(item, depth + 1)]),
    );
  }

  #key(key: string): string {
    const clean = this.redact(key);
    return MARKER.test(clean) ? `$${clean}` : clean;
  }

  #text(text: string): unknown {
    const clean = this.redact(text);
    if (!isLong(clean)) return clean;
    // Half of a surrogate pair has no bytes in UTF-8. JSON can say it.
    return /\p{Surrogate}/u.test(clean) ? this.#blob(JSON.stringify(clean), "json") : this.#blob(clean);
  }

  #blob(text: string, encoding?: "json"): BlobReference {
    const bytes = Buffer.from(text);
    const digest = createHash("sha256").update(bytes).digest("hex");
    this.#blobs.set(digest, bytes);
    return { $blob: digest, bytes: bytes.length, head: toHead(text), ...(encoding !== undefined && { encoding }) };
  }
}

/** How many messages two conversations have in common at their beginning. */
function countSame(before: Messages, now: Messages): number {
  let count = 0;
  while (count < before.length && count < now.length) {
    const [a, b] = [before[count], now[count]];
    if (a?.role !== b?.role || a?.content !== b?.content) break;
    count += 1;
  }
  return count;
}
