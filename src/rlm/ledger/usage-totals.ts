// What a run has used: in total, by model and by node.

import type { NodeId, RunUsage } from "../../protocol/runs.ts";
import { addUsage, NO_USAGE, type ModelUsage } from "../../protocol/usage.ts";

export class UsageTotals {
  #total = NO_USAGE;
  readonly #byModel = new Map<string, ModelUsage>();
  readonly #byNode = new Map<NodeId, ModelUsage>();

  /** Throws a RangeError where the node is open already. */
  openNode(nodeId: NodeId): void {
    if (this.#byNode.has(nodeId)) throw new RangeError(`Cannot open an account for node '${nodeId}': it has one`);
    this.#byNode.set(nodeId, NO_USAGE);
  }

  ofNode(nodeId: NodeId): ModelUsage {
    return this.#byNode.get(nodeId) ?? NO_USAGE;
  }

  /** Steps and tool calls belong to no model. */
  add(usage: ModelUsage, nodeId: NodeId, model?: string): void {
    this.#total = addUsage(this.#total, usage);
    this.#byNode.set(nodeId, addUsage(this.ofNode(nodeId), usage));
    if (model !== undefined) this.#byModel.set(model, addUsage(this.#byModel.get(model) ?? NO_USAGE, usage));
  }

  toRunUsage(wallMs: number): RunUsage {
    return {
      total: this.#total,
      byModel: Object.fromEntries(this.#byModel),
      byNode: Object.fromEntries(this.#byNode),
      wallMs,
    };
  }
}
