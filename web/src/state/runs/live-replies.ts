// What models have said of replies that are not complete yet.

import { signal } from "@preact/signals";
import type { OutlineSpan } from "./run-source.ts";

/** Of one reply, the end of it. */
const MAX_CHARACTERS = 20_000;
const MAX_REPLIES = 100;

export class LiveReplies {
  readonly #texts = signal<ReadonlyMap<string, string>>(new Map());

  /** Empty: nothing was heard. */
  of({ nodeId, callId }: OutlineSpan): string {
    return this.#texts.value.get(keyOf(nodeId, callId)) ?? "";
  }

  add(nodeId: string, callId: string, text: string): void {
    const key = keyOf(nodeId, callId);
    const texts = new Map(this.#texts.value);
    texts.set(key, `${texts.get(key) ?? ""}${text}`.slice(-MAX_CHARACTERS));
    for (const first of texts.keys()) {
      if (texts.size <= MAX_REPLIES) break;
      texts.delete(first);
    }
    this.#texts.value = texts;
  }
}

function keyOf(nodeId: string, callId: string | null): string {
  return `${nodeId} ${callId ?? ""}`;
}
