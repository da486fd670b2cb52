// The rich outputs of one execution, limited in number and size. What does not fit is counted.
//
// The same limits apply twice: to the transcript, which has every display in order, and to the result, which has only those visible at the
// end. A display that is replaced or cleared frees its share of the result.

import type { DisplayPart } from "../../protocol/events.ts";
import type { Cut, MimeBundle } from "../../protocol/execution.ts";

const MAX_DISPLAYS = 1000;
const MAX_CHARACTERS = 64 * 1024 * 1024;

interface Visible {
  readonly data: MimeBundle;
  readonly displayId: string | undefined;
  readonly size: number;
}

export class Displays {
  #visible: Visible[] = [];
  #visibleSize = 0;
  #recorded = 0;
  #recordedSize = 0;
  #total = 0;
  #omitted = 0;

  /** Whether it fits into the transcript. */
  add({ data, displayId, update, clear }: DisplayPart): boolean {
    const size = sizeOf(data);
    this.#total += size;
    if (clear === true) this.#clear();
    if (update === true) this.#replace({ data, displayId, size });
    else if (displayId !== undefined || size > 0) this.#append({ data, displayId, size });
    const fits = this.#recorded < MAX_DISPLAYS && this.#recordedSize + size <= MAX_CHARACTERS;
    if (fits) {
      this.#recorded += 1;
      this.#recordedSize += size;
    }
    return fits;
  }

  /** The visible displays, in order. */
  get kept(): readonly MimeBundle[] {
    return this.#visible.filter(({ size }) => size > 0).map(({ data }) => data);
  }

  /** Null when nothing was left out of `kept`. */
  get cut(): Cut | null {
    return this.#omitted === 0 ? null : { total: this.#total, omitted: this.#omitted };
  }

  #append(display: Visible): void {
    if (this.#visible.length >= MAX_DISPLAYS || this.#visibleSize + display.size > MAX_CHARACTERS) {
      this.#omitted += display.size;
      return;
    }
    this.#visible.push(display);
    this.#visibleSize += display.size;
  }

  /** Updating an unknown display changes nothing. */
  #replace(display: Visible): void {
    const index = this.#visible.findIndex(({ displayId }) => displayId === display.displayId);
    const old = this.#visible[index];
    if (old === undefined) return;
    if (this.#visibleSize - old.size + display.size > MAX_CHARACTERS) {
      this.#omitted += display.size;
      return;
    }
    this.#visible[index] = display;
    this.#visibleSize += display.size - old.size;
  }

  #clear(): void {
    this.#visible = [];
    this.#visibleSize = 0;
  }
}

function sizeOf(bundle: MimeBundle): number {
  return Object.entries(bundle).reduce((sum, [type, data]) => sum + type.length + data.length, 0);
}
