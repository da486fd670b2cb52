// What the host has to say of a block of code that a model has run, as lines at the end of what the model is shown.

import type { ExecutionResult } from "../../protocol/execution.ts";
import type { Strategy } from "../../protocol/strategy/strategy.ts";
import { callNotes } from "./call-notes.ts";
import type { BlockCalls } from "./call-tally.ts";
import { toHostLine } from "./host-line.ts";
import { RepeatedBlocks, type Repetition } from "./repeated-blocks.ts";

export interface RunBlock {
  readonly step: number;
  readonly code: string;
  readonly result: ExecutionResult;
  readonly calls: BlockCalls;
}

export class BlockNotes {
  readonly #strategy: Pick<Strategy, "notes" | "guards">;
  readonly #repeated = new RepeatedBlocks();

  constructor(strategy: Pick<Strategy, "notes" | "guards">) {
    this.#strategy = strategy;
  }

  /** Call for each block, in order. `isStuck`: to go on would be of no use. */
  of({ step, code, result, calls }: RunBlock): { readonly lines: string; readonly isStuck: boolean } {
    const { notes, guards } = this.#strategy;
    const repetition = this.#repeated.add(step, code, result);
    const said = callNotes(calls, notes);
    const repeated = notes.repeatedCode && repetition !== undefined ? [describeRepetition(repetition)] : [];
    return {
      lines: [...said, ...repeated].map(toHostLine).join("\n"),
      isStuck: repetition !== undefined && guards.repeatedBlocks > 0 && repetition.inRow >= guards.repeatedBlocks,
    };
  }
}

function describeRepetition({ first, inRow }: Repetition): string {
  const same = `same code as block ${first}, with the same outcome`;
  return inRow < 2 ? same : `${same}. It will not change: do something else, or answer with what you know`;
}
