// The rich outputs of one execution: so many, so large, and no more. What does not fit is counted.
//
// Two bounds of the same size. The story of an execution holds every display in its order, and past the bound it holds
// no more. The result holds what is to be seen at the end: a display that was replaced or cleared makes room in it.

import type { DisplayPart } from "../../protocol/events.ts";
import type { Cut, MimeBundle } from "../../protocol/execution.ts";

const MAX_DISPLAYS = 1000;
const MAX_CHARACTERS = 64 * 1024 * 1024;

interface Shown {
  readonly data: MimeBundle;
  readonly displayId: string | undefined;
  readonly size: number;
}

export class Displays {
  #shown: Shown[] = [];
  #shownSize = 0;
  #told = 0;
  #toldSize = 0;
  #total = 0;
  #omitted = 0;

  /** Whether the story of the execution has room for it. */
  add({ data, displayId, update, clear }: DisplayPart): boolean {
    const size = sizeOf(data);
    this.#total += size;
    if (clear === true) this.#clear();
    if (update === true) this.#replace({ data, displayId, size });
    else if (displayId !== undefined || size > 0) this.#append({ data, displayId, size });
    const fits = this.#told < MAX_DISPLAYS && this.#toldSize + size <= MAX_CHARACTERS;
    if (fits) {
      this.#told += 1;
      this.#toldSize += size;
    }
    return fits;
  }

  /** What is to be seen at the end, in order. */
  get kept(): readonly MimeBundle[] {
    return this.#shown.filter(({ size }) => size > 0).map(({ data }) => data);
  }

  /** Null when nothing was left out of `kept`. */
  get cut(): Cut | null {
    return this.#omitted === 0 ? null : { total: this.#total, omitted: this.#omitted };
  }

  #append(display: Shown): void {
    if (this.#shown.length >= MAX_DISPLAYS || this.#shownSize + display.size > MAX_CHARACTERS) {
      this.#omitted += display.size;
      return;
    }
    this.#shown.push(display);
    this.#shownSize += display.size;
  }

  /** An update of a display that is not there changes nothing. */
  #replace(display: Shown): void {
    const index = this.#shown.findIndex(({ displayId }) => displayId === display.displayId);
    const old = this.#shown[index];
    if (old === undefined) return;
    if (this.#shownSize - old.size + display.size > MAX_CHARACTERS) {
      this.#omitted += display.size;
      return;
    }
    this.#shown[index] = display;
    this.#shownSize += display.size - old.size;
  }

  #clear(): void {
    this.#shown = [];
    this.#shownSize = 0;
  }
}

function sizeOf(bundle: MimeBundle): number {
  return Object.entries(bundle).reduce((sum, [type, data]) => sum + type.length + data.length, 0);
}
