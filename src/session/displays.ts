// The rich outputs of one execution: so many, so large, and no more. What does not fit is counted.

import type { Cut, MimeBundle } from "../protocol/execution.ts";

const MAX_DISPLAYS = 1000;
const MAX_CHARACTERS = 64 * 1024 * 1024;

export class Displays {
  readonly kept: MimeBundle[] = [];
  #total = 0;
  #omitted = 0;

  /** Whether it was kept. */
  add(bundle: MimeBundle): boolean {
    const size = sizeOf(bundle);
    this.#total += size;
    const fits = this.kept.length < MAX_DISPLAYS && this.#total - this.#omitted <= MAX_CHARACTERS;
    if (fits) this.kept.push(bundle);
    else this.#omitted += size;
    return fits;
  }

  /** Null when all were kept. */
  get cut(): Cut | null {
    return this.#omitted === 0 ? null : { total: this.#total, omitted: this.#omitted };
  }
}

function sizeOf(bundle: MimeBundle): number {
  return Object.entries(bundle).reduce((sum, [type, data]) => sum + type.length + data.length, 0);
}
