// The state of a run, built from its events: its nodes and what each has used. Independent of terminals.

import type { Batch, RunEvent } from "../../protocol/run-events.ts";
import type { LedgerLimits, NodeId, RunStatus } from "../../protocol/runs.ts";
import { addUsage, NO_USAGE, type ModelUsage } from "../../protocol/usage.ts";

export interface NodeProgress {
  readonly id: NodeId;
  readonly parentId: NodeId | null;
  readonly depth: number;
  readonly query: string;
  readonly startedAt: number;
  /** Its position among the nodes that code asked for at once. */
  readonly batch: Batch | undefined;
  /** What it has to load before its first step. */
  readonly contextBytes: number;
  step: number;
  /** Model calls in progress, including those of its code. */
  readonly calls: Map<string, OpenCall>;
  /** What its code asked for at once and is not complete. */
  readonly batches: Map<string, OpenBatch>;
  isRunningCode: boolean;
  tool: string | undefined;
  /** Null: it is still running. */
  status: RunStatus | null;
  endedAt: number | undefined;
  usage: ModelUsage;
}

interface OpenCall {
  readonly batch: Batch | undefined;
  /** Until when the call waits for its next attempt, and why. */
  wait?: { readonly fault: string; readonly until: number } | undefined;
}

interface OpenBatch {
  readonly size: number;
  /** The numbers of those that are answered. */
  readonly answered: Set<number>;
}

/** Model calls that wait for their next attempt. */
export interface Waiting {
  readonly calls: number;
  readonly fault: string;
  /** Until the first of them is tried again. */
  readonly delayMs: number;
}

export class Progress {
  readonly nodes = new Map<NodeId, NodeProgress>();
  limits: LedgerLimits = {};
  startedAt = 0;

  update(event: RunEvent): void {
    if (event.type === "run-start") {
      this.startedAt = event.time;
      this.limits = event.limits;
    } else if (event.type === "node-start") this.#start(event);
    else if ("nodeId" in event) this.#change(event);
  }

  /** The sum over all nodes so far. */
  get total(): ModelUsage {
    return Array.from(this.nodes.values(), ({ usage }) => usage).reduce(addUsage, NO_USAGE);
  }

  /** Undefined: no call waits at this time. */
  waiting(now: number): Waiting | undefined {
    const waits = Array.from(this.nodes.values(), ({ calls }) => [...calls.values()])
      .flat()
      .flatMap(({ wait }) => (wait !== undefined && wait.until > now ? [wait] : []))
      .toSorted((a, b) => a.until - b.until);
    const [first] = waits;
    return first && { calls: waits.length, fault: first.fault, delayMs: first.until - now };
  }

  /** Depth first: each node is followed by its descendants. Iterative, because a server may claim any depth. */
  inOrder(): NodeProgress[] {
    const children = new Map<NodeId | null, NodeProgress[]>();
    for (const node of this.nodes.values()) {
      const siblings = children.get(node.parentId);
      if (siblings === undefined) children.set(node.parentId, [node]);
      else siblings.push(node);
    }
    const ordered: NodeProgress[] = [];
    const next = (children.get(null) ?? []).toReversed();
    for (let node = next.pop(); node !== undefined; node = next.pop()) {
      ordered.push(node);
      for (const child of children.get(node.id)?.toReversed() ?? []) next.push(child);
    }
    return ordered;
  }

  #start({ nodeId, parentId, depth, query, time, batch, context }: Extract<RunEvent, { type: "node-start" }>): void {
    this.nodes.set(nodeId, {
      id: nodeId,
      parentId,
      depth: Math.max(0, depth),
      query,
      startedAt: time,
      batch,
      contextBytes: context.reduce((sum, { bytes }) => sum + bytes, 0),
      step: 0,
      calls: new Map(),
      batches: new Map(),
      isRunningCode: false,
      tool: undefined,
      status: null,
      endedAt: undefined,
      usage: NO_USAGE,
    });
    ask(this.#parentOf(parentId), batch);
  }

  #change(event: Exclude<Extract<RunEvent, { nodeId: NodeId }>, { type: "node-start" }>): void {
    const node = this.nodes.get(event.nodeId);
    if (node === undefined) return;
    switch (event.type) {
      case "step-start":
        node.step = event.step;
        return;
      case "model-call-start":
        node.calls.set(event.callId, { batch: event.batch });
        ask(node, event.batch);
        return;
      case "model-call-wait":
        setWait(node.calls.get(event.callId), { fault: event.fault, until: event.time + event.delayMs });
        return;
      case "model-call-delta":
        setWait(node.calls.get(event.callId), undefined);
        return;
      case "model-call-end":
        answer(node, node.calls.get(event.callId)?.batch);
        node.calls.delete(event.callId);
        node.usage = addUsage(node.usage, event.usage);
        return;
      case "code-start":
      case "code-end":
        node.isRunningCode = event.type === "code-start";
        node.batches.clear();
        return;
      case "tool-call-start":
      case "tool-call-end":
        node.tool = event.type === "tool-call-start" ? event.tool : undefined;
        return;
      case "node-end":
        node.status = event.status;
        node.endedAt = event.time;
        node.calls.clear();
        node.batches.clear();
        answer(this.#parentOf(node.parentId), node.batch);
        return;
      case "output-delta":
      case "step-end":
      case "compaction":
      case "limit-warning":
      case "limit-reached":
        return;
    }
  }

  #parentOf(parentId: NodeId | null): NodeProgress | undefined {
    return parentId === null ? undefined : this.nodes.get(parentId);
  }
}

/** A query whose answer has to be corrected is asked again. */
function ask(node: NodeProgress | undefined, batch: Batch | undefined): void {
  if (node === undefined || batch === undefined) return;
  const { id, ordinal, size } = batch;
  const open = node.batches.get(id);
  if (open === undefined) node.batches.set(id, { size, answered: new Set() });
  else open.answered.delete(ordinal);
}

function answer(node: NodeProgress | undefined, batch: Batch | undefined): void {
  if (node === undefined || batch === undefined) return;
  const open = node.batches.get(batch.id);
  open?.answered.add(batch.ordinal);
  if (open !== undefined && open.answered.size >= open.size) node.batches.delete(batch.id);
}

function setWait(call: OpenCall | undefined, wait: OpenCall["wait"]): void {
  if (call !== undefined) call.wait = wait;
}
