// How much of the context is sent, on one line of a terminal that is redrawn and finally erased.

import { formatSize } from "../../../util/text/format.ts";
import type { DisplayTarget } from "../run-display.ts";
import { fit } from "../tree-frame.ts";

const REDRAW_MS = 200;

interface Sent {
  readonly totalBytes: number;
  readonly sentBytes: number;
}

export class UploadDisplay implements Disposable {
  readonly #target: DisplayTarget;
  readonly #upload: Sent;
  readonly #timer: NodeJS.Timeout;
  #isDrawn = false;

  /** A small context is sent before the first line is drawn. */
  constructor(target: DisplayTarget, upload: Sent) {
    this.#target = target;
    this.#upload = upload;
    this.#timer = setInterval(() => this.draw(), REDRAW_MS);
    this.#timer.unref();
  }

  draw(): void {
    this.#isDrawn = true;
    this.#target.write(`\r\u001B[K${fit(toText(this.#upload), (this.#target.columns ?? 80) - 1)}`);
  }

  /** Erases the line. Idempotent. */
  [Symbol.dispose](): void {
    clearInterval(this.#timer);
    if (this.#isDrawn) this.#target.write("\r\u001B[K");
    this.#isDrawn = false;
  }
}

/** A file may have grown since its size was read. */
function toText({ totalBytes, sentBytes }: Sent): string {
  if (sentBytes >= totalBytes) return `sent the context (${formatSize(sentBytes)}), waiting for the run`;
  const percent = Math.floor((100 * sentBytes) / totalBytes);
  return `sending the context: ${formatSize(sentBytes)} of ${formatSize(totalBytes)} (${percent} %)`;
}
