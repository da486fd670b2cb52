// What a run has used: in total, by model, by role and by node.

import type { ModelRole, NodeId, RunUsage } from "../../protocol/runs.ts";
import { addUsage, NO_USAGE, type ModelUsage } from "../../protocol/usage.ts";

/** Who was asked, and for what. */
export interface CallSource {
  readonly model: string;
  readonly role: ModelRole;
}

export class UsageTotals {
  #total = NO_USAGE;
  readonly #byModel = new Map<string, ModelUsage>();
  readonly #byRole = new Map<ModelRole, ModelUsage>();
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
  add(usage: ModelUsage, nodeId: NodeId, source?: CallSource): void {
    this.#total = addUsage(this.#total, usage);
    this.#byNode.set(nodeId, addUsage(this.ofNode(nodeId), usage));
    if (source === undefined) return;
    const { model, role } = source;
    this.#byModel.set(model, addUsage(this.#byModel.get(model) ?? NO_USAGE, usage));
    this.#byRole.set(role, addUsage(this.#byRole.get(role) ?? NO_USAGE, usage));
  }

  toRunUsage(wallMs: number): RunUsage {
    return {
      total: this.#total,
      byModel: Object.fromEntries(this.#byModel),
      byRole: Object.fromEntries(this.#byRole),
      byNode: Object.fromEntries(this.#byNode),
      wallMs,
    };
  }
}
