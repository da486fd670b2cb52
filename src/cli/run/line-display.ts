// Progress of a run as plain lines: one for each step, and for a batch or a wait one every few seconds, so that the number of lines
// does not depend on the number of calls.

import type { RunEvent } from "../../protocol/run-events.ts";
import type { NodeId, RunResult } from "../../protocol/runs.ts";
import { describeCompaction } from "../../util/text/runs/describe-compaction.ts";
import { describeLimit } from "../../util/text/runs/limit-names.ts";
import { describeWait } from "../../util/text/runs/describe-wait.ts";
import { formatCost, formatCount, formatSeconds, formatTokens } from "../../util/text/format.ts";
import { toLine } from "../io/text-block.ts";
import { describeBatches, describeBudget, describeResult, describeState } from "./describe.ts";
import { Progress, type NodeProgress } from "./progress.ts";
import type { DisplayTarget, RunDisplay } from "./run-display.ts";
import { fit } from "./tree-frame.ts";

const LINE_CHARACTERS = 200;
/** Between two lines about batches, and between two about waits. */
const BETWEEN_MS = 5_000;

type Kind = "batch" | "wait";

export class LineDisplay implements RunDisplay {
  readonly #target: DisplayTarget;
  readonly #progress = new Progress();
  readonly #seen = new Map<NodeId, { readonly startedAt: number; readonly tokens: number; readonly calls: number }>();
  readonly #printedAt = new Map<Kind, number>();
  #isOver = false;

  constructor(target: DisplayTarget) {
    this.#target = target;
  }

  update(event: RunEvent): void {
    this.#progress.update(event);
    if (!("nodeId" in event)) return;
    const node = this.#progress.nodes.get(event.nodeId);
    if (node === undefined) return;
    const { time } = event;
    switch (event.type) {
      case "node-start":
        this.#print(node, `starts: ${toLine(event.query, 100)}`);
        break;
      case "step-start":
        this.#seen.set(node.id, { startedAt: time, tokens: node.usage.tokens, calls: node.usage.llmCalls });
        break;
      case "step-end":
        this.#print(node, this.#describeStep(node, time));
        break;
      case "model-call-wait":
        if (this.#isDue("wait", time)) this.#print(node, describeWait(event));
        break;
      case "compaction":
        this.#print(node, describeCompaction(event));
        break;
      case "limit-warning":
      case "limit-reached": {
        const what = event.type === "limit-warning" ? "nears" : "has reached";
        this.#print(node, `${what} the limit on ${describeLimit(event)}`);
        break;
      }
      case "node-end":
        this.#print(node, `${describeState(node)} after ${formatSeconds(time - node.startedAt)}`);
        break;
      case "model-call-start":
      case "model-call-delta":
      case "model-call-end":
      case "code-start":
      case "output-delta":
      case "code-end":
      case "tool-call-start":
      case "tool-call-end":
        break;
    }
    this.#printBatch(event.type === "node-start" || event.type === "node-end" ? node.parentId : node.id, time);
  }

  end(result?: RunResult): void {
    if (this.#isOver) return;
    this.#isOver = true;
    if (result === undefined) return;
    this.#target.write(`${fit(describeResult(result, this.#progress).join(" · "), Infinity)}\n`);
  }

  #printBatch(nodeId: NodeId | null, time: number): void {
    const node = nodeId === null ? undefined : this.#progress.nodes.get(nodeId);
    const batches = node === undefined ? "" : describeBatches(node);
    if (node === undefined || batches === "" || !this.#isDue("batch", time)) return;
    this.#print(node, toFacts([batches, describeBudget(this.#progress, time)]));
  }

  #isDue(kind: Kind, time: number): boolean {
    if (time - (this.#printedAt.get(kind) ?? -Infinity) < BETWEEN_MS) return false;
    this.#printedAt.set(kind, time);
    return true;
  }

  #describeStep({ id, step, usage }: NodeProgress, time: number): string {
    const { tokens, llmCalls, costUsd } = usage;
    const before = this.#seen.get(id) ?? { startedAt: time, tokens: 0, calls: 0 };
    return toFacts([
      `step ${step}`,
      formatCount(llmCalls - before.calls, "call"),
      formatTokens(tokens - before.tokens),
      `${formatCost(costUsd)} so far`,
      formatSeconds(time - before.startedAt),
      describeBudget(this.#progress, time),
    ]);
  }

  #print({ depth, id }: NodeProgress, what: string): void {
    this.#target.write(`${fit(`${"  ".repeat(Math.min(depth, 12))}${id} ${what}`, LINE_CHARACTERS)}\n`);
  }
}

function toFacts(facts: readonly string[]): string {
  return facts.filter((fact) => fact !== "").join(" · ");
}
