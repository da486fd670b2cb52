// Short messages at the edge of the page. A failure stays until it is dismissed; other notices go by themselves.

import { signal, type ReadonlySignal } from "@preact/signals";

export interface Notice {
  readonly id: number;
  readonly kind: "done" | "failed";
  readonly text: string;
}

const SHOWN_MS = 4_000;
const MAX_NOTICES = 5;

export class Notices {
  readonly #list = signal<readonly Notice[]>([]);
  #count = 0;

  get list(): ReadonlySignal<readonly Notice[]> {
    return this.#list;
  }

  done(text: string): void {
    const id = this.#add("done", text);
    setTimeout(() => this.dismiss(id), SHOWN_MS);
  }

  /** `what` is an infinitive, as in "open the session". */
  failed(what: string, error: unknown): void {
    const why = error instanceof Error ? error.message : String(error);
    this.#add("failed", why.startsWith("Cannot") ? why : `Cannot ${what}: ${why}`);
  }

  dismiss(id: number): void {
    this.#list.value = this.#list.value.filter((notice) => notice.id !== id);
  }

  #add(kind: Notice["kind"], text: string): number {
    this.#count += 1;
    this.#list.value = [...this.#list.value, { id: this.#count, kind, text }].slice(-MAX_NOTICES);
    return this.#count;
  }
}
