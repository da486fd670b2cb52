// A run from the data inside of an exported file. Events are parsed in the pieces in which they are embedded, when they are needed.

import type {
  EventRange,
  RecordedEvent,
  RunMatch,
  RunOutline,
  RunSearchAnswer,
  RunSource,
} from "../state/runs/run-source.ts";
import { EMBEDDED } from "./embedded.ts";
import { searchEvent } from "./search-event.ts";

interface Piece {
  readonly first: number;
  readonly last: number;
  readonly element: Element;
}

const MAX_MATCHES = 100;
/** Parsed pieces that are kept. */
const MAX_PARSED = 20;

export class EmbeddedRun implements RunSource {
  readonly runId: string;
  readonly #document: Document;
  readonly #outline: RunOutline;
  readonly #pieces: readonly Piece[];
  readonly #parsed = new Map<Piece, readonly RecordedEvent[]>();
  #blobs: ReadonlyMap<string, Element> | undefined;

  constructor(document: Document) {
    this.#document = document;
    this.#outline = parse(document.querySelector(`#${EMBEDDED.outline}`)) as RunOutline;
    this.runId = this.#outline.runId;
    this.#pieces = [...document.querySelectorAll(`[data-kind=${EMBEDDED.events}]`)].map((element) => ({
      first: Number(element.getAttribute("data-first")),
      last: Number(element.getAttribute("data-last")),
      element,
    }));
  }

  async outline(): Promise<RunOutline> {
    return this.#outline;
  }

  async events({ after, limit, nodeId, step }: EventRange): Promise<readonly RecordedEvent[]> {
    const found: RecordedEvent[] = [];
    for (const piece of this.#pieces) {
      if (piece.last <= after) continue;
      for (const event of this.#eventsOf(piece)) {
        const isWanted =
          event.seq > after &&
          (nodeId === undefined || event["nodeId"] === nodeId) &&
          (step === undefined || event["step"] === step);
        if (isWanted) found.push(event);
        if (found.length >= limit) return found;
      }
    }
    return found;
  }

  async blob(hash: string): Promise<string> {
    this.#blobs ??= new Map(
      [...this.#document.querySelectorAll(`[data-kind=${EMBEDDED.blobs}]`)].map((element) => [
        element.getAttribute("data-hash") ?? "",
        element,
      ]),
    );
    const element = this.#blobs.get(hash);
    if (element === undefined) throw new Error("this file does not have it");
    return String(parse(element));
  }

  async search(text: string, after: number): Promise<RunSearchAnswer> {
    const matches: RunMatch[] = [];
    for (const piece of this.#pieces) {
      if (piece.last <= after) continue;
      for (const event of this.#eventsOf(piece)) {
        if (event.seq <= after) continue;
        matches.push(...(await searchEvent(event, text, this.#outline, (hash) => this.blob(hash).catch(() => ""))));
        if (matches.length >= MAX_MATCHES) return { matches, next: event.seq };
      }
    }
    return { matches, next: null };
  }

  #eventsOf(piece: Piece): readonly RecordedEvent[] {
    const known = this.#parsed.get(piece);
    if (known !== undefined) return known;
    const events = parse(piece.element) as readonly RecordedEvent[];
    this.#parsed.set(piece, events);
    for (const first of this.#parsed.keys()) {
      if (this.#parsed.size <= MAX_PARSED) break;
      this.#parsed.delete(first);
    }
    return events;
  }
}

function parse(element: Element | null): unknown {
  if (element === null) throw new Error("The file is damaged: a part of its data is missing");
  return JSON.parse(element.textContent ?? "");
}
