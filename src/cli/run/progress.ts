// The state of a run, built from its events: its nodes and what each has used. Independent of terminals.

import type { RunEvent } from "../../protocol/run-events.ts";
import type { NodeId, RunStatus } from "../../protocol/runs.ts";
import { addUsage, NO_USAGE, type ModelUsage } from "../../protocol/usage.ts";

export interface NodeProgress {
  readonly id: NodeId;
  readonly parentId: NodeId | null;
  readonly depth: number;
  readonly query: string;
  readonly startedAt: number;
  step: number;
  /** Model calls in progress, including those of its code. */
  readonly calls: Set<string>;
  isRunningCode: boolean;
  tool: string | undefined;
  /** Null: it is still running. */
  status: RunStatus | null;
  endedAt: number | undefined;
  usage: ModelUsage;
}

export class Progress {
  readonly nodes = new Map<NodeId, NodeProgress>();
  startedAt = 0;

  update(event: RunEvent): void {
    if (event.type === "run-start") this.startedAt = event.time;
    else if (event.type === "node-start") this.#start(event);
    else if ("nodeId" in event) this.#change(event);
  }

  /** The sum over all nodes so far. */
  get total(): ModelUsage {
    return Array.from(this.nodes.values(), ({ usage }) => usage).reduce(addUsage, NO_USAGE);
  }

  /** Depth first: each node is followed by its descendants. */
  inOrder(): NodeProgress[] {
    const children = new Map<NodeId | null, NodeProgress[]>();
    for (const node of this.nodes.values()) {
      const siblings = children.get(node.parentId);
      if (siblings === undefined) children.set(node.parentId, [node]);
      else siblings.push(node);
    }
    const below = (id: NodeId | null): NodeProgress[] =>
      (children.get(id) ?? []).flatMap((node) => [node, ...below(node.id)]);
    return below(null);
  }

  #start({ nodeId, parentId, depth, query, time }: Extract<RunEvent, { type: "node-start" }>): void {
    this.nodes.set(nodeId, {
      id: nodeId,
      parentId,
      depth,
      query,
      startedAt: time,
      step: 0,
      calls: new Set(),
      isRunningCode: false,
      tool: undefined,
      status: null,
      endedAt: undefined,
      usage: NO_USAGE,
    });
  }

  #change(event: Exclude<Extract<RunEvent, { nodeId: NodeId }>, { type: "node-start" }>): void {
    const node = this.nodes.get(event.nodeId);
    if (node === undefined) return;
    switch (event.type) {
      case "step-start":
        node.step = event.step;
        return;
      case "model-call-start":
        node.calls.add(event.callId);
        return;
      case "model-call-end":
        node.calls.delete(event.callId);
        node.usage = addUsage(node.usage, event.usage);
        return;
      case "code-start":
      case "code-end":
        node.isRunningCode = event.type === "code-start";
        return;
      case "tool-call-start":
      case "tool-call-end":
        node.tool = event.type === "tool-call-start" ? event.tool : undefined;
        return;
      case "node-end":
        node.status = event.status;
        node.endedAt = event.time;
        node.calls.clear();
        return;
      case "model-call-delta":
      case "output-delta":
      case "step-end":
      case "limit-warning":
      case "limit-reached":
        return;
    }
  }
}
