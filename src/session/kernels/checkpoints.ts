// The checkpoints of one session: explicit ones, and automatic ones from before executions, for undo.

import type { SandboxCheckpoint } from "../../environments/environment.ts";
import type { Checkpoint } from "../../protocol/sessions.ts";
import { ForkRefusedError, LimitExceededError } from "../../errors.ts";
import type { Kernels } from "./kernels.ts";

interface Kept {
  readonly checkpoint: Checkpoint;
  readonly handle: SandboxCheckpoint;
}

/** The state before an execution: a checkpoint, or the reason why there is none. */
type Step = { readonly executionCount: number } & (
  | { readonly kept: Kept }
  | { readonly why: string; readonly isFull?: true }
);

export class Checkpoints {
  /** How many automatic ones to keep; 0: none are taken. */
  readonly #automatic: number;
  /** In the order in which the session last was at them. */
  #kept: Kept[] = [];
  #steps: Step[] = [];
  #made = 0;
  #isReset = false;

  constructor(automatic: number) {
    this.#automatic = automatic;
  }

  get isAutomatic(): boolean {
    return this.#automatic > 0;
  }

  list(): readonly Checkpoint[] {
    return this.#kept.map(({ checkpoint }) => checkpoint).toSorted((a, b) => toNumber(a) - toNumber(b));
  }

  /** The one to restore when the worker is lost; none from before a reset. */
  latest(): SandboxCheckpoint | undefined {
    return this.#isReset ? undefined : this.#kept.at(-1)?.handle;
  }

  /** After a reset a lost worker does not restore an older checkpoint. Rewinding to one is still possible. */
  noteReset(): void {
    this.#isReset = true;
  }

  /** Drops all but the latest. False: there are no others. */
  dropOthers(): boolean {
    const others = this.#kept.slice(0, -1);
    for (const { handle } of others) handle.release();
    return others.length > 0;
  }

  async make(kernels: Kernels, executionCount: number): Promise<Checkpoint> {
    return (await this.#make(kernels, executionCount, false)).checkpoint;
  }

  /** Takes an automatic checkpoint. Never rejects: when it fails, `undo` reports why. */
  async step(kernels: Kernels, executionCount: number): Promise<void> {
    this.#dropOldSteps();
    let step: Step;
    do step = await this.#step(kernels, executionCount);
    while ("isFull" in step && this.#dropOldestStep());
    this.#steps.push(step);
  }

  async #step(kernels: Kernels, executionCount: number): Promise<Step> {
    try {
      return { executionCount, kept: await this.#make(kernels, executionCount, true) };
    } catch (error) {
      const why = (error as Error).message;
      return error instanceof LimitExceededError ? { executionCount, why, isFull: true } : { executionCount, why };
    }
  }

  /** Drops the last step, because its execution ran nothing or was undone. */
  forgetStep(reached?: Kept): void {
    const step = this.#steps.pop();
    if (step !== undefined && "kept" in step && step.kept !== reached) step.kept.handle.release();
  }

  /** Returns to a checkpoint, which is kept. */
  async rewind(kernels: Kernels, wanted: Checkpoint | string): Promise<Checkpoint> {
    const id = toId(wanted);
    const kept = this.#kept.find(({ checkpoint }) => checkpoint.id === id);
    if (kept === undefined) {
      const known = this.list().map((checkpoint) => checkpoint.id);
      const others = known.length > 0 ? `there are: ${known.join(", ")}` : "there are none";
      throw new ForkRefusedError({
        action: `go back to checkpoint '${id}'`,
        why: `it does not exist, or is no longer kept; ${others}`,
      });
    }
    await kernels.rewind(kept.handle);
    const others = this.#kept.filter((other) => other !== kept);
    this.#kept = kept.handle.ended ? others : [...others, kept];
    this.#isReset = false;
    // What was executed since is gone and cannot be undone.
    while ((this.#steps.at(-1)?.executionCount ?? -1) >= kept.checkpoint.executionCount) this.forgetStep(kept);
    return kept.checkpoint;
  }

  /** Returns to the state before the last execution that was not undone. */
  async undo(kernels: Kernels): Promise<void> {
    const step = this.#steps.at(-1);
    if (!this.isAutomatic) throw new ForkRefusedError({ action: UNDO, why: "autoCheckpoint is off in this session" });
    if (step === undefined) throw new ForkRefusedError({ action: UNDO, why: "no earlier state is kept" });
    if ("why" in step) throw new ForkRefusedError({ action: UNDO, why: step.why });
    if (step.kept.handle.ended)
      throw new ForkRefusedError({ action: UNDO, why: "its checkpoint took too much memory" });
    await kernels.rewind(step.kept.handle);
    this.forgetStep();
  }

  drop(wanted: Checkpoint | string): void {
    const id = toId(wanted);
    this.#kept.find(({ checkpoint }) => checkpoint.id === id)?.handle.release();
  }

  async #make(kernels: Kernels, executionCount: number, isAutomatic: boolean): Promise<Kept> {
    // It may end before this resolves.
    const handle = await kernels.checkpoint(() => {
      this.#kept = this.#kept.filter((other) => !other.handle.ended);
    });
    this.#made += 1;
    const createdAt = new Date().toISOString();
    const kept = { checkpoint: { id: `c${this.#made}`, createdAt, executionCount, isAutomatic }, handle };
    if (!handle.ended) this.#kept.push(kept);
    this.#isReset = false;
    return kept;
  }

  #dropOldSteps(): void {
    while (this.#steps.length >= this.#automatic) this.#dropOldestStep();
  }

  /** False: there is none. */
  #dropOldestStep(): boolean {
    const step = this.#steps.shift();
    if (step !== undefined && "kept" in step) step.kept.handle.release();
    return step !== undefined;
  }
}

const UNDO = "undo the last execution";

function toId(wanted: Checkpoint | string): string {
  if (typeof wanted === "string") return wanted;
  const id: unknown = (wanted as Checkpoint | null | undefined)?.id;
  if (typeof id !== "string") throw new TypeError(`Cannot use a ${typeof wanted} as a checkpoint: give one, or its id`);
  return id;
}

function toNumber({ id }: Checkpoint): number {
  return Number(id.slice(1));
}
