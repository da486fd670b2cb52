// The checkpoints of one session: explicit ones, and automatic ones from before executions, for undo.
//
// They know which state the session continues from, so that its executions and checkpoints form a tree. Where a checkpoint is dropped, what
// continued from it continues from its parent.

import type { SandboxCheckpoint } from "../../environments/environment.ts";
import type { Checkpoint, StateOrigin } from "../../protocol/sessions.ts";
import { ForkRefusedError, LimitExceededError } from "../../errors.ts";
import type { Kernels } from "./kernels.ts";

/** Receives what happens to checkpoints. */
export interface CheckpointListener {
  onAdd(checkpoint: Checkpoint): void;
  onDrop(id: string): void;
}

interface Kept {
  checkpoint: Checkpoint;
  readonly handle: SandboxCheckpoint;
  /** How many executions had ended when it was taken. */
  readonly executed: number;
}

/** The state before an execution: a checkpoint, or the reason why there is none. */
type Step = { readonly executed: number } & (
  | { readonly kept: Kept }
  | { readonly why: string; readonly isFull?: true }
);

export class Checkpoints {
  /** How many automatic ones to keep; 0: none are taken. */
  readonly #automatic: number;
  readonly #listener: CheckpointListener;
  /** In the order in which the session last was at them. */
  #kept: Kept[] = [];
  #steps: Step[] = [];
  #made = 0;
  #isReset = false;
  /** What the state continues from: a checkpoint, and the last execution in it. */
  #checkpointId: string | null = null;
  #head: number;

  /** `head`: the number of the last execution whose effects the state has at the start. */
  constructor(automatic: number, head: number, listener: CheckpointListener) {
    this.#automatic = automatic;
    this.#head = head;
    this.#listener = listener;
  }

  get origin(): StateOrigin {
    return { checkpointId: this.#checkpointId, head: this.#head };
  }

  /** The execution of this number begins. Returns that of the execution whose state it begins with. */
  advance(executionCount: number): number {
    const parent = this.#head;
    this.#head = executionCount;
    return parent;
  }

  get isAutomatic(): boolean {
    return this.#automatic > 0;
  }

  list(): readonly Checkpoint[] {
    return this.#kept.map(({ checkpoint }) => checkpoint).toSorted((a, b) => toNumber(a) - toNumber(b));
  }

  /** The one to restore when the worker is lost; none from before a reset. */
  latest(): Kept | undefined {
    return this.#isReset ? undefined : this.#kept.at(-1);
  }

  /** The session has a new worker. Undefined: with an empty namespace. */
  noteRecovery(restored: Kept | undefined): void {
    if (restored === undefined) this.#clearOrigin();
    else this.#continueFrom(restored);
  }

  /** After a reset a lost worker does not restore an older checkpoint. Rewinding to one is still possible. */
  noteReset(): void {
    this.#isReset = true;
    this.#clearOrigin();
  }

  /** Drops all but the latest. False: there are no others. */
  dropOthers(): boolean {
    const others = this.#kept.slice(0, -1);
    for (const { handle } of others) handle.release();
    return others.length > 0;
  }

  /** `executed`: how many executions have ended. */
  async make(kernels: Kernels, executed: number): Promise<Checkpoint> {
    return (await this.#make(kernels, executed, false)).checkpoint;
  }

  /** Takes an automatic checkpoint. Never rejects: when it fails, `undo` reports why. */
  async step(kernels: Kernels, executed: number): Promise<void> {
    this.#dropOldSteps();
    let step: Step;
    do step = await this.#step(kernels, executed);
    while ("isFull" in step && this.#dropOldestStep());
    this.#steps.push(step);
  }

  async #step(kernels: Kernels, executed: number): Promise<Step> {
    try {
      return { executed, kept: await this.#make(kernels, executed, true) };
    } catch (error) {
      const why = (error as Error).message;
      return error instanceof LimitExceededError ? { executed, why, isFull: true } : { executed, why };
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
    this.#continueFrom(kept);
    // What was executed since is gone and cannot be undone.
    while ((this.#steps.at(-1)?.executed ?? -1) >= kept.executed) this.forgetStep(kept);
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
    this.#continueFrom(step.kept);
    this.forgetStep();
  }

  drop(wanted: Checkpoint | string): void {
    const id = toId(wanted);
    this.#kept.find(({ checkpoint }) => checkpoint.id === id)?.handle.release();
  }

  async #make(kernels: Kernels, executed: number, isAutomatic: boolean): Promise<Kept> {
    let kept: Kept | undefined;
    // It may end before this resolves.
    const handle = await kernels.checkpoint(() => {
      if (kept !== undefined) this.#remove(kept);
    });
    this.#made += 1;
    const id = `c${this.#made}`;
    const { checkpointId: parentId, head: executionCount } = this.origin;
    const checkpoint = { id, createdAt: new Date().toISOString(), executionCount, parentId, isAutomatic };
    kept = { checkpoint, handle, executed };
    this.#isReset = false;
    if (handle.ended) return kept;
    this.#kept.push(kept);
    this.#checkpointId = id;
    this.#listener.onAdd(checkpoint);
    return kept;
  }

  #remove(gone: Kept): void {
    const { id, parentId } = gone.checkpoint;
    this.#kept = this.#kept.filter((other) => other !== gone);
    for (const other of this.#kept) {
      if (other.checkpoint.parentId === id) other.checkpoint = { ...other.checkpoint, parentId };
    }
    if (this.#checkpointId === id) this.#checkpointId = parentId;
    this.#listener.onDrop(id);
  }

  #continueFrom({ checkpoint: { id, parentId, executionCount } }: Kept): void {
    const isKept = this.#kept.some(({ checkpoint }) => checkpoint.id === id); // it may have ended meanwhile
    this.#checkpointId = isKept ? id : parentId;
    this.#head = executionCount;
  }

  #clearOrigin(): void {
    this.#checkpointId = null;
    this.#head = 0;
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
