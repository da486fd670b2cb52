// Progress of a run on stderr: a live tree on a terminal, a line per step elsewhere, or nothing with --quiet.

import type { RunEvent } from "../../protocol/run-events.ts";
import type { RunResult } from "../../protocol/runs.ts";
import { textWidth } from "../../util/text/text-width.ts";
import { formatCost, formatCount, formatSeconds, formatTokens } from "../../util/text/format.ts";
import { toLine } from "../io/text-block.ts";
import { Progress, type NodeProgress } from "./progress.ts";
import { fit, toFrame } from "./tree-frame.ts";
import { describeResult, describeState } from "./describe.ts";

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
const LINE_CHARACTERS = 200;

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
  #draw(summary?: string): void {
    if (this.#progress.nodes.size === 0) return;
    const { columns = 80, rows = 24 } = this.#target;
    const frame = toFrame(this.#progress, this.#now(), { columns, rows });
    const next = summary === undefined ? frame : [...frame.slice(0, -1), fit(summary, columns - 1)];
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

/** One plain line per step. */
export class LineDisplay implements RunDisplay {
  readonly #target: DisplayTarget;
  readonly #progress = new Progress();
  readonly #seen = new Map<string, { readonly startedAt: number; readonly tokens: number; readonly calls: number }>();
  #isOver = false;

  constructor(target: DisplayTarget) {
    this.#target = target;
  }

  update(event: RunEvent): void {
    this.#progress.update(event);
    if (!("nodeId" in event)) return;
    const node = this.#progress.nodes.get(event.nodeId);
    if (node === undefined) return;
    if (event.type === "node-start") this.#printLine(node, `starts: ${toLine(event.query, 100)}`);
    else if (event.type === "step-start") this.#startStep(node, event.time);
    else if (event.type === "step-end") this.#printLine(node, this.#describeStep(node, event.time));
    else if (event.type === "limit-warning" || event.type === "limit-reached") {
      const what = event.type === "limit-warning" ? "nears its limit" : "has reached its limit";
      this.#printLine(node, `${event.axis} ${what}: ${formatCount(event.used)} of ${formatCount(event.limit)}`);
    } else if (event.type === "node-end") {
      this.#printLine(node, `${describeState(node)} after ${formatSeconds(event.time - node.startedAt)}`);
    }
  }

  end(result?: RunResult): void {
    if (this.#isOver) return;
    this.#isOver = true;
    if (result !== undefined) this.#target.write(`${fit(describeResult(result, this.#progress), LINE_CHARACTERS)}\n`);
  }

  #startStep({ id, usage }: NodeProgress, startedAt: number): void {
    this.#seen.set(id, { startedAt, tokens: usage.tokens, calls: usage.llmCalls });
  }

  #describeStep({ id, step, usage }: NodeProgress, time: number): string {
    const { tokens, llmCalls, costUsd } = usage;
    const before = this.#seen.get(id) ?? { startedAt: time, tokens: 0, calls: 0 };
    return [
      `step ${step}`,
      formatCount(llmCalls - before.calls, "call"),
      formatTokens(tokens - before.tokens),
      `${formatCost(costUsd)} so far`,
      formatSeconds(time - before.startedAt),
    ].join(" · ");
  }

  #printLine({ depth, id }: NodeProgress, what: string): void {
    this.#target.write(`${fit(`${"  ".repeat(Math.min(depth, 12))}${id} ${what}`, LINE_CHARACTERS)}\n`);
  }
}
