// The namespace of a session: names as they are after each execution, and the one that the reader looks at.

import { signal, type ReadonlySignal } from "@preact/signals";
import type { InspectedVariable, Session, VariableList } from "rlm-runtime/client";

const MAX_CHARACTERS = 20_000;

/** What is known of the variable that was chosen. */
export type Inspection =
  | { readonly state: "asking" | "gone" }
  | { readonly state: "found"; readonly variable: InspectedVariable }
  | { readonly state: "failed"; readonly why: string };

export class Variables {
  readonly #list = signal<VariableList | undefined>(undefined);
  readonly #failure = signal<string | undefined>(undefined);
  readonly #selected = signal<string | undefined>(undefined);
  readonly #inspection = signal<Inspection>({ state: "asking" });
  /** Grows whenever values may have changed: tables are read again. */
  readonly #version = signal(0);
  readonly #session: Session;
  #isWatched = false;
  #isStale = true;
  #isAsking = false;

  constructor(session: Session) {
    this.#session = session;
  }

  /** Undefined: not known yet. */
  get list(): ReadonlySignal<VariableList | undefined> {
    return this.#list;
  }

  /** Why the list could not be read the last time. */
  get failure(): ReadonlySignal<string | undefined> {
    return this.#failure;
  }

  get selected(): ReadonlySignal<string | undefined> {
    return this.#selected;
  }

  get inspection(): ReadonlySignal<Inspection> {
    return this.#inspection;
  }

  get version(): ReadonlySignal<number> {
    return this.#version;
  }

  /** They are read only while somebody looks at them. Dispose to stop. */
  watch(): Disposable {
    this.#isWatched = true;
    if (this.#isStale) void this.#read();
    return { [Symbol.dispose]: () => void (this.#isWatched = false) };
  }

  /** An execution has ended, or the namespace was replaced. */
  change(): void {
    this.#isStale = true;
    if (this.#isWatched) void this.#read();
  }

  select(name: string | undefined): void {
    if (name === this.#selected.value) return;
    this.#selected.value = name;
    this.#inspection.value = { state: "asking" };
    if (name !== undefined) void this.#inspect(name);
  }

  async #read(): Promise<void> {
    if (this.#isAsking) return;
    this.#isAsking = true;
    try {
      while (this.#isStale && this.#isWatched) {
        this.#isStale = false;
        this.#list.value = await this.#session.variables();
        this.#failure.value = undefined;
        this.#version.value += 1;
        const name = this.#selected.value;
        if (name !== undefined) await this.#inspect(name);
      }
    } catch (error) {
      this.#failure.value = error instanceof Error ? error.message : String(error);
    } finally {
      this.#isAsking = false;
    }
  }

  async #inspect(name: string): Promise<void> {
    let found: Inspection;
    try {
      const variable = await this.#session.inspect(name, { maxCharacters: MAX_CHARACTERS });
      found = variable === null ? { state: "gone" } : { state: "found", variable };
    } catch (error) {
      found = { state: "failed", why: error instanceof Error ? error.message : String(error) };
    }
    if (this.#selected.value === name) this.#inspection.value = found;
  }
}
