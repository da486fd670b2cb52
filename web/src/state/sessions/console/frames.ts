// Draws what has changed, before the next frame. A flood of changes is drawn some times a second, so that the page stays free for the
// reader. A hidden tab has no frames, so a timer stands in there.

import type { FrameRequests } from "./console.ts";

const HIDDEN_MS = 500;
/** Between two drawings: what the eye sees as at once. */
const PAUSE_MS = 80;
const FRAME_MS = 16;

export class Frames implements FrameRequests {
  #isPending = false;
  #drawnAt = 0;

  request(draw: () => void): void {
    if (this.#isPending) return;
    this.#isPending = true;
    const run = (): void => {
      this.#isPending = false;
      this.#drawnAt = performance.now();
      draw();
    };
    const early = this.#drawnAt + PAUSE_MS - performance.now();
    if (document.hidden) setTimeout(run, HIDDEN_MS);
    else if (early > FRAME_MS) setTimeout(() => requestAnimationFrame(run), early);
    else requestAnimationFrame(run);
  }
}
