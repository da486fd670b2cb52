// The texts of a run, read by range when they are shown and kept while there is room.

import { isRecord, stringIn, toReference, toRunText, type RunText } from "./run-text.ts";
import type { OutlineNode, OutlineSpan, RecordedEvent, RunOutline, RunSource } from "./run-source.ts";

export interface Message {
  readonly role: string;
  readonly text: RunText;
}

/** What a model was sent. */
export interface Prompt {
  /** What was added since the last call of the node. */
  readonly added: readonly Message[];
  /** The call that the others come from, and how many. Null: there are no others. */
  readonly earlier: { readonly callId: string; readonly count: number } | null;
}

const MAX_EVENTS = 500;
/** The code of a ServerConnectionError: the text is there, and can be asked for again. */
const OFFLINE = "SERVER_CONNECTION";
const MAX_BLOB_CHARACTERS = 32_000_000;
/** A value as JSON that is larger is not parsed. */
const MAX_VALUE_BYTES = 4_000_000;

export class RunTexts {
  readonly #source: RunSource;
  readonly #events = new Map<number, Promise<RecordedEvent | undefined>>();
  readonly #blobs = new Map<string, Promise<string>>();
  #blobCharacters = 0;

  constructor(source: RunSource) {
    this.#source = source;
  }

  /** One event by its number, with values that were stored apart put back. Undefined: it is not recorded. */
  event(seq: number): Promise<RecordedEvent | undefined> {
    const known = this.#events.get(seq);
    if (known !== undefined) return known;
    const loading = this.#load(seq);
    this.#events.set(seq, loading);
    // What is not there yet, or could not be loaded, may be there later.
    void loading.then(
      (event) => event ?? this.#events.delete(seq),
      () => this.#events.delete(seq),
    );
    for (const first of this.#events.keys()) {
      if (this.#events.size <= MAX_EVENTS) break;
      this.#events.delete(first);
    }
    return loading;
  }

  async #load(seq: number): Promise<RecordedEvent | undefined> {
    const [event] = await this.#source.events({ after: seq - 1, limit: 1 });
    return event?.seq === seq ? this.#completed(event) : undefined;
  }

  async #completed(event: RecordedEvent): Promise<RecordedEvent> {
    const fields = await Promise.all(
      Object.entries(event).map(async ([name, value]) => [name, await this.#withoutJSON(value)] as const),
    );
    return { ...event, ...Object.fromEntries(fields) };
  }

  /** Only fields themselves are stored as JSON. */
  async #withoutJSON(value: unknown): Promise<unknown> {
    const reference = toReference(value);
    if (reference === undefined || !reference.isJSON || reference.bytes > MAX_VALUE_BYTES) return value;
    try {
      return JSON.parse(await this.blob(reference.hash)) as unknown;
    } catch (error) {
      if (isRecord(error) && error["code"] === OFFLINE) throw error;
      return value; // missing or damaged: its beginning is known
    }
  }

  blob(hash: string): Promise<string> {
    const known = this.#blobs.get(hash);
    if (known !== undefined) return known;
    const loading = this.#source.blob(hash);
    this.#blobs.set(hash, loading);
    loading.then(
      ({ length }) => this.#makeRoom(length),
      () => this.#blobs.delete(hash),
    );
    return loading;
  }

  #makeRoom(length: number): void {
    this.#blobCharacters += length;
    if (this.#blobCharacters <= MAX_BLOB_CHARACTERS) return;
    this.#blobs.clear();
    this.#blobCharacters = 0;
  }

  async call({ seq, endSeq }: OutlineSpan): Promise<[RecordedEvent | undefined, RecordedEvent | undefined]> {
    return Promise.all([this.event(seq), endSeq === null ? undefined : this.event(endSeq)]);
  }

  async node({
    firstSeq,
    lastSeq,
    endedAt,
  }: OutlineNode): Promise<[RecordedEvent | undefined, RecordedEvent | undefined]> {
    return Promise.all([this.event(firstSeq), endedAt === null ? undefined : this.event(lastSeq)]);
  }

  /** What the model is shown of a step. `after`: the number of the last event that is known of the step. */
  async stepEnd(nodeId: string, step: number, after: number): Promise<RecordedEvent | undefined> {
    const events = await this.#source.events({ after, limit: 5, nodeId, step });
    const end = events.find(({ type }) => type === "step-end");
    return end && this.#completed(end);
  }

  /** Null: it has not ended. */
  async end({ seq, endedAt }: RunOutline): Promise<RecordedEvent | null> {
    if (endedAt === null) return null;
    const event = await this.event(seq);
    return event?.type === "run-end" ? event : null;
  }
}

/** The conversation of a `model-call-start`. */
export function toPrompt(event: RecordedEvent | undefined): Prompt {
  const messages = Array.isArray(event?.["messages"]) ? (event["messages"] as readonly unknown[]) : [];
  const [first, ...rest] = messages;
  const isShared = isRecord(first) && typeof first["$same"] === "string";
  return {
    earlier: isShared ? { callId: stringIn(first, "$same"), count: Number(first["count"]) || 0 } : null,
    added: (isShared ? rest : messages).map((message) => ({
      role: stringIn(message, "role"),
      text: toRunText(isRecord(message) ? message["content"] : undefined),
    })),
  };
}
