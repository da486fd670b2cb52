// Progress of a run on stderr: a live tree on a terminal, plain lines elsewhere (line-display.ts), or nothing with --quiet.

import type { RunEvent } from "../../protocol/run-events.ts";
import type { RunResult } from "../../protocol/runs.ts";
import { textWidth } from "../../util/text/text-width.ts";
import { describeResult } from "./describe.ts";
import { Progress } from "./progress.ts";
import { toFrame } from "./tree-frame.ts";

export interface RunDisplay {
  update(event: RunEvent): void;
  /** Shows the result; undefined: the run was stopped. Idempotent. */
  end(result?: RunResult): void;
}

/** Standard error, or a test double. */
export interface DisplayTarget {
  readonly columns?: number;
  readonly rows?: number;
  write(text: string): unknown;
}

export const SILENT_DISPLAY: RunDisplay = { update: () => {}, end: () => {} };

const REDRAW_MS = 100;

/** Redraws itself in place, at most ten times a second. */
export class TreeDisplay implements RunDisplay {
  readonly #target: DisplayTarget;
  readonly #now: () => number;
  readonly #progress = new Progress();
  readonly #timer: NodeJS.Timeout;
  /** The rows on the terminal. */
  #drawn: readonly string[] = [];
  #isOver = false;

  constructor(target: DisplayTarget, now: () => number = Date.now) {
    this.#target = target;
    this.#now = now;
    this.#timer = setInterval(() => this.#draw(), REDRAW_MS);
    this.#timer.unref();
  }

  update(event: RunEvent): void {
    this.#progress.update(event);
  }

  end(result?: RunResult): void {
    if (this.#isOver) return;
    this.#isOver = true;
    clearInterval(this.#timer);
    this.#draw(result === undefined ? undefined : describeResult(result, this.#progress));
    if (this.#drawn.length > 0) this.#target.write("\n");
  }

  /** `summary` replaces the totals. */
  #draw(summary?: readonly string[]): void {
    if (this.#progress.nodes.size === 0) return;
    const [columns, rows] = [this.#target.columns || 80, this.#target.rows || 24]; // 0: a terminal that has no size yet
    const next = toFrame(this.#progress, this.#now(), { columns, rows }, summary);
    if (next.length === this.#drawn.length && next.every((row, index) => row === this.#drawn[index])) return;
    this.#target.write(`${this.#erase(columns)}${next.join("\n")}`);
    this.#drawn = next;
  }

  /** A terminal that became narrower has wrapped the rows again. */
  #erase(columns: number): string {
    if (this.#drawn.length === 0) return "";
    const height = this.#drawn.reduce((sum, row) => sum + Math.max(1, Math.ceil(textWidth(row) / columns)), 0);
    return `\r${height > 1 ? `\u001B[${height - 1}A` : ""}\u001B[J`;
  }
}
