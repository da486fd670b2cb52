// Decodes the events of a log. References are resolved only when an event is read as a whole.

import { parseRunEvent, type ModelCallStart, type RunEvent } from "../../protocol/run-events.ts";
import { parseJSON } from "../../util/parse-json.ts";
import { isTooDeep } from "../../util/bytes/json-depth.ts";
import { MARKER, MAX_DEPTH } from "./run-log-format.ts";
import type { RunFolder } from "./run-folder.ts";

/** A field that is a blob may have blobs in it. */
const MAX_NESTED = 3;
const MAX_HEAD = 2_000;
/** In the messages of all nodes, which are kept while a log is read. */
const MAX_REMEMBERED_BYTES = 64 * 1024 * 1024;

/** The position of a line in `events.jsonl`, its newline included. */
export interface LineSpan {
  readonly offset: number;
  readonly bytes: number;
}

/** One recorded event. In `stored`, references stand for long values. */
export class RecordedEvent {
  readonly line: LineSpan;
  readonly stored: Readonly<Record<string, unknown>> & { readonly type: string };
  readonly #folder: RunFolder;
  readonly #messages: readonly unknown[] | undefined;

  constructor(
    folder: RunFolder,
    line: LineSpan,
    stored: RecordedEvent["stored"],
    messages: readonly unknown[] | undefined,
  ) {
    this.#folder = folder;
    this.line = line;
    this.stored = stored;
    this.#messages = messages;
  }

  /** With all references resolved. Throws where a value is missing or damaged. */
  async whole(): Promise<RunEvent> {
    if (!("messages" in this.stored)) return this.#parse({});
    if (this.#messages === undefined) throw new Error("Cannot read an event: messages that it refers to are missing");
    return this.#parse({ messages: await decode(this.#messages, this.#folder, 0) });
  }

  /** Like `whole`, but with empty `messages`: a conversation grows with every call. */
  async withoutMessages(): Promise<RunEvent> {
    return this.#parse("messages" in this.stored ? { messages: [] } : {});
  }

  /** The messages of a model call that the previous call of the conversation did not have. */
  async addedMessages(): Promise<ModelCallStart["messages"]> {
    const { messages } = this.stored;
    const added = Array.isArray(messages) ? messages.filter((item) => !isObject(item) || !("$same" in item)) : [];
    const event = await this.#parse({ messages: await decode(added, this.#folder, 0) });
    return event.type === "model-call-start" ? event.messages : [];
  }

  /** The beginning of the last message that a model call adds to its conversation. Reads no blob. Empty: there is none. */
  lastMessageHead(): string {
    const { messages } = this.stored;
    const last: unknown = Array.isArray(messages) ? messages.at(-1) : undefined;
    const content: unknown = isObject(last) ? (last["content"] ?? last["head"]) : undefined;
    const text = isObject(content) ? content["head"] : content;
    return typeof text === "string" ? text.slice(0, MAX_HEAD) : "";
  }

  async #parse(replaced: { readonly messages?: unknown }): Promise<RunEvent> {
    const { messages: _, schemaVersion: __, ...fields } = this.stored;
    const decoded = (await decode(fields, this.#folder, 0)) as object;
    const event = parseRunEvent({ ...decoded, ...replaced });
    if (event === null) throw new Error("Cannot read an event: it is not one that this version knows");
    return event;
  }
}

/** Decodes the lines of one log in order, since a line may refer to earlier ones. */
export class EventDecoder {
  readonly #folder: RunFolder;
  readonly #conversations = new Map<string, { callId: string; messages: readonly unknown[]; bytes: number }>();
  #rememberedBytes = 0;

  constructor(folder: RunFolder) {
    this.#folder = folder;
  }

  /** Undefined: the line is not an event. */
  read(text: string, line: LineSpan): RecordedEvent | undefined {
    const stored = parseLine(text);
    if (stored === undefined) return undefined;
    if (stored.type === "node-end") this.#forget(stored["nodeId"]);
    if (stored.type !== "model-call-start") return new RecordedEvent(this.#folder, line, stored, undefined);
    const messages = this.#expand(stored);
    if (messages !== undefined && stored["purpose"] === "step") this.#remember(stored, messages, line.bytes);
    return new RecordedEvent(this.#folder, line, stored, messages);
  }

  #expand({ nodeId, messages }: RecordedEvent["stored"]): readonly unknown[] | undefined {
    if (!Array.isArray(messages)) return undefined;
    const [first, ...added] = messages as unknown[];
    if (!isObject(first) || !("$same" in first)) return messages;
    const known = this.#conversations.get(String(nodeId));
    const count = Number(first["count"]);
    if (known === undefined || known.callId !== first["$same"] || !(count <= known.messages.length)) return undefined;
    return [...known.messages.slice(0, count), ...added];
  }

  #remember({ nodeId, callId }: RecordedEvent["stored"], messages: readonly unknown[], bytes: number): void {
    const before = this.#conversations.get(String(nodeId))?.bytes ?? 0;
    this.#forget(nodeId);
    this.#conversations.set(String(nodeId), { callId: String(callId), messages, bytes: before + bytes });
    this.#rememberedBytes += before + bytes;
    for (const oldest of this.#conversations.keys()) {
      if (this.#rememberedBytes <= MAX_REMEMBERED_BYTES) break;
      this.#forget(oldest);
    }
  }

  #forget(nodeId: unknown): void {
    this.#rememberedBytes -= this.#conversations.get(String(nodeId))?.bytes ?? 0;
    this.#conversations.delete(String(nodeId));
  }
}

function parseLine(text: string): RecordedEvent["stored"] | undefined {
  const value = parseJSON(text);
  return isObject(value) && typeof value["type"] === "string" ? (value as RecordedEvent["stored"]) : undefined;
}

async function decode(value: unknown, folder: RunFolder, nested: number, depth = 0): Promise<unknown> {
  if (typeof value !== "object" || value === null) return value;
  if (depth > MAX_DEPTH) throw new RangeError("Cannot read an event: it is too deep");
  if (Array.isArray(value)) {
    const items: unknown[] = [];
    for (const item of value)
      items.push(typeof item === "object" ? await decode(item, folder, nested, depth + 1) : item);
    return items;
  }
  if ("$blob" in value) return resolve(value, folder, nested);
  const fields: [string, unknown][] = [];
  for (const [key, item] of Object.entries(value))
    fields.push([MARKER.test(key) ? key.slice(1) : key, await decode(item, folder, nested, depth + 1)]);
  return Object.fromEntries(fields);
}

async function resolve(reference: object, folder: RunFolder, nested: number): Promise<unknown> {
  const { $blob, encoding } = reference as { $blob?: unknown; encoding?: unknown };
  if (nested >= MAX_NESTED) throw new RangeError("Cannot read an event: its blobs are too deep");
  const data = await folder.blob(String($blob));
  if (encoding === "json" && isTooDeep(data, MAX_DEPTH)) throw new RangeError("Cannot read an event: it is too deep");
  const text = data.toString("utf8");
  return encoding === "json" ? decode(JSON.parse(text) as unknown, folder, nested + 1) : text;
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
