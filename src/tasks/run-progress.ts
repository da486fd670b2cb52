// The progress of a run: a line for each step of each node, and what it does now. Written for a model that waits for the answer.

import { formatCount, formatSeconds } from "../util/text/format.ts";
import { describeCompaction } from "../util/text/runs/describe-compaction.ts";
import { describeWait } from "../util/text/runs/describe-wait.ts";
import { shorten } from "../util/text/shorten.ts";
import type { RunEvent } from "../protocol/run-events.ts";
import type { NodeId } from "../protocol/runs.ts";

interface NodeState {
  step: number;
  lines: number;
  /** Model calls that the code of this step has made, and how many were answered. */
  called: number;
  answered: number;
  isFinal: boolean;
  startedAt: number;
}

const NEW: NodeState = { step: 0, lines: 0, called: 0, answered: 0, isFinal: false, startedAt: 0 };
const MAX_TEXT = 200;

export class RunProgress {
  readonly #nodes = new Map<NodeId, NodeState>();
  #current = "";

  /** Which node does what at which step. Empty: nothing has happened yet. */
  get current(): string {
    return this.#current;
  }

  /** A line to print when a step or node ends or a node starts; else undefined. */
  update(event: RunEvent): string | undefined {
    if (!("nodeId" in event)) return undefined;
    const { nodeId, time } = event;
    if (event.type === "node-start") return this.#begin(event);
    const node = this.#nodes.get(nodeId);
    if (node === undefined) return undefined;
    switch (event.type) {
      case "step-start":
        this.#nodes.set(nodeId, { ...NEW, step: event.step, startedAt: time });
        return undefined;
      case "model-call-start":
        if (event.purpose === "query") node.called += 1;
        else return this.#setCurrent(`${where(nodeId, node)}: the model thinks`);
        return this.#setCurrent(`${where(nodeId, node)}: runs code${toAnswered(node)}`);
      case "model-call-wait":
        return this.#setCurrent(`${where(nodeId, node)}: ${describeWait(event)}${toAnswered(node)}`);
      case "model-call-end":
        if (node.called === node.answered) return undefined; // the node's own
        node.answered += 1;
        return this.#setCurrent(`${where(nodeId, node)}: runs code${toAnswered(node)}`);
      case "code-start":
        node.lines = event.code.trimEnd().split("\n").length;
        return this.#setCurrent(`${where(nodeId, node)}: runs code`);
      case "code-end":
        node.isFinal = event.result.error?.name === "Final";
        return undefined;
      case "tool-call-start":
        return this.#setCurrent(`${where(nodeId, node)}: calls ${event.tool}`);
      case "step-end":
        return toStepLine(nodeId, node, event.observation, time);
      case "compaction":
        return `${where(nodeId, node)}: ${describeCompaction(event)}`;
      case "limit-warning":
      case "limit-reached":
        return `limit of ${event.axis} is ${event.type === "limit-warning" ? "near" : "reached"}: ${formatCount(event.used)} of ${formatCount(event.limit)}`;
      case "node-end":
        this.#nodes.delete(nodeId);
        this.#setCurrent(`${nodeId} has ended: ${event.status}`);
        return nodeId === "n0" ? undefined : this.#current;
      case "model-call-delta":
      case "output-delta":
      case "tool-call-end":
        return undefined;
    }
  }

  #begin({ nodeId, parentId, query, time }: Extract<RunEvent, { type: "node-start" }>): string | undefined {
    this.#nodes.set(nodeId, { ...NEW, startedAt: time });
    this.#setCurrent(`${nodeId} starts`);
    return parentId === null ? undefined : `${nodeId} starts, for ${parentId}: ${toLine(query)}`;
  }

  #setCurrent(what: string): undefined {
    this.#current = what;
  }
}

function where(nodeId: NodeId, { step }: NodeState): string {
  return step === 0 ? nodeId : `${nodeId} step ${step}`;
}

function toAnswered({ called, answered }: NodeState): string {
  return called === 0 ? "" : `, ${answered} of ${called} calls of models answered`;
}

function toStepLine(nodeId: NodeId, node: NodeState, observation: string, time: number): string {
  const { lines, called, isFinal, startedAt } = node;
  const facts = [
    lines === 0 ? "no code" : `${formatCount(lines, "line")} of code`,
    ...(called === 0 ? [] : [`${formatCount(called, "call")} of models`]),
    formatSeconds(time - startedAt),
  ];
  const isAccepted = isFinal && observation.startsWith("Output of block");
  const came = isAccepted ? "gives the answer" : toLine(observation.replace(/^Output of block \d+:\n/, ""));
  return `${where(nodeId, node)}: ${facts.join(", ")} → ${came}`;
}

/** One line of untrusted text, without control characters. */
function toLine(text: string): string {
  const line = text
    .slice(0, 4 * MAX_TEXT)
    .replaceAll(/[\s\p{Cc}]+/gu, " ")
    .trim();
  return shorten(line, MAX_TEXT);
}
