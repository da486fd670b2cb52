// A recorded run that never happened: events with times of our own, written by the code that records real ones.

import { randomBytes } from "node:crypto";
import { join } from "node:path";
import type { RunId } from "../../../src/protocol/ids.ts";
import type { RunEvent } from "../../../src/protocol/run-events.ts";
import type { ModelRole } from "../../../src/protocol/runs.ts";
import { addUsage, NO_USAGE, type ModelUsage } from "../../../src/protocol/usage.ts";
import { RunLogWriter } from "../../../src/store/runs/run-log.ts";

type Bare<Event> = Event extends RunEvent ? Omit<Event, "runId" | "seq" | "time"> : never;
/** An event without what the recording adds. */
export type BareEvent = Bare<RunEvent>;
type Settings = Omit<Extract<BareEvent, { type: "run-start" }>, "type">;
/** How a run ends. */
export type Outcome = Pick<
  Extract<RunEvent, { type: "run-end" }>["result"],
  "status" | "stopReason" | "answer" | "why"
>;

export class Recording {
  readonly id: RunId;
  readonly startedAt: number;
  readonly #settings: Settings;
  readonly #events: { readonly at: number; readonly event: BareEvent }[] = [];
  readonly #byModel: Record<string, ModelUsage> = {};
  readonly #byRole: Partial<Record<ModelRole, ModelUsage>> = {};
  readonly #byNode: Record<string, ModelUsage> = {};
  #calls = 0;
  #nodes = 0;

  constructor(settings: Settings, { id, startedAt }: { readonly id: string; readonly startedAt: number }) {
    this.id = id as RunId;
    this.startedAt = startedAt;
    this.#settings = settings;
    this.add(0, { type: "run-start", ...settings });
  }

  /** `at`: milliseconds after the start. In any order; those of one time keep theirs. */
  add(at: number, event: BareEvent): void {
    this.#events.push({ at, event });
  }

  nextCallId(): string {
    this.#calls += 1;
    return `c${this.#calls}`;
  }

  nextNodeId(): string {
    this.#nodes += 1;
    return `n${this.#nodes - 1}`;
  }

  get nodes(): number {
    return this.#nodes;
  }

  spend(nodeId: string, model: string, usage: Partial<ModelUsage>): void {
    const full = { ...NO_USAGE, ...usage };
    this.#byModel[model] = addUsage(this.#byModel[model] ?? NO_USAGE, full);
    const role = model === this.#settings.subModel ? "sub" : nodeId === "n0" ? "root" : "child";
    this.#byRole[role] = addUsage(this.#byRole[role] ?? NO_USAGE, full);
    this.#byNode[nodeId] = addUsage(this.#byNode[nodeId] ?? NO_USAGE, full);
  }

  usageOf(nodeId: string): ModelUsage {
    return this.#byNode[nodeId] ?? NO_USAGE;
  }

  get total(): ModelUsage {
    return Object.values(this.#byNode).reduce(addUsage, NO_USAGE);
  }

  end(at: number, outcome: Outcome): void {
    const by = { byModel: this.#byModel, byRole: this.#byRole, byNode: this.#byNode };
    const usage = { total: this.total, ...by, wallMs: at };
    this.add(at, { type: "run-end", result: { runId: this.id, ...outcome, usage } });
  }

  /** Into the data folder, as if it had been recorded there. Throws if anything was lost. */
  async write(dataFolder: string): Promise<void> {
    const problems: string[] = [];
    const folder = join(dataFolder, "runs");
    await using log = new RunLogWriter(this.id, { folder, onProblem: (why) => problems.push(why) });
    const inOrder = this.#events.toSorted((a, b) => a.at - b.at);
    for (const [index, { at, event }] of inOrder.entries())
      log.write({ ...event, runId: this.id, seq: index + 1, time: Math.round(this.startedAt + at) });
    await log.close();
    if (problems.length > 0) throw new Error(`Cannot record ${this.id}: ${problems.join("; ")}`);
  }

  get query(): string {
    return this.#settings.query;
  }
}

export function randomHash(): string {
  return randomBytes(32).toString("hex");
}
