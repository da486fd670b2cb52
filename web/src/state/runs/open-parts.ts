// Which parts of transcripts the reader opened or folded, by their name.

import { signal } from "@preact/signals";

export class OpenParts {
  readonly #chosen = signal<ReadonlyMap<string, boolean>>(new Map());

  isOpen(name: string, isOpenAtFirst: boolean): boolean {
    return this.#chosen.value.get(name) ?? isOpenAtFirst;
  }

  set(name: string, isOpen: boolean): void {
    this.#chosen.value = new Map(this.#chosen.value).set(name, isOpen);
  }
}
