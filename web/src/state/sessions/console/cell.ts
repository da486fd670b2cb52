// One execution as the console shows it, made from its events.

import type { ExecutionResult, HistoryEntry, MimeBundle, SessionEvent } from "rlm-runtime/client";
import { OutputItems, type OutputItem, type OutputPlace } from "./output-items.ts";

type EventOfExecution = Extract<SessionEvent, { readonly executionId: string }>;

/** `waiting`: in the queue. `refused`: the session could not run it. `lost`: the connection or the session ended first. */
export type CellState = "waiting" | "running" | "ok" | "error" | "interrupted" | "exit" | "refused" | "lost";

/** Code waits for a line. */
export interface CellInput {
  readonly call: number;
  readonly prompt: string;
  readonly isPassword: boolean;
}

export interface Cell {
  readonly id: string;
  /** Its number in the session. Null: not known yet. */
  readonly count: number | null;
  readonly code: string;
  /** The code is only its beginning. */
  readonly isCodeCut: boolean;
  readonly state: CellState;
  readonly startedAt: number | null;
  readonly durationMs: number | null;
  readonly items: readonly OutputItem[];
  readonly input: CellInput | null;
  /** A call of the host that the code waits for. */
  readonly call: string | null;
  /** Null while it runs. */
  readonly result: ExecutionResult | null;
  /** Why there is no result. */
  readonly problem: string | null;
  /** `none`: it ran before the page was opened, and what it printed was not read yet. `gone`: the server no longer keeps it. */
  readonly loaded: "none" | "all" | "gone";
}

export class CellModel {
  readonly id: string;
  readonly output = new OutputItems();
  #facts: Omit<Cell, "id" | "items">;
  #cell: Cell | undefined;
  /** The last input that was answered, and where in the output that was. */
  #answered: { readonly call: number; readonly place: OutputPlace } | undefined;
  /** What this reader answered, until the input is over. */
  #typed: { readonly call: number; readonly line: string } | undefined;

  constructor(id: string, facts: Partial<Omit<Cell, "id" | "items">> & Pick<Cell, "code">) {
    this.id = id;
    this.#facts = {
      count: null,
      isCodeCut: false,
      state: "waiting",
      startedAt: null,
      durationMs: null,
      input: null,
      call: null,
      result: null,
      problem: null,
      loaded: "all",
      ...facts,
    };
  }

  /** The same object as long as nothing changes. */
  get cell(): Cell {
    const { items } = this.output;
    if (this.#cell === undefined || this.#cell.items !== items) this.#cell = { id: this.id, ...this.#facts, items };
    return this.#cell;
  }

  get isOver(): boolean {
    return this.#facts.state !== "waiting" && this.#facts.state !== "running";
  }

  set(facts: Partial<Omit<Cell, "id" | "items">>): void {
    this.#facts = { ...this.#facts, ...facts };
    this.#cell = undefined;
  }

  /** The result of an update that found no display in this cell is false: it may be in an earlier one. */
  apply(event: EventOfExecution): boolean {
    switch (event.type) {
      case "execution-start":
        this.set({
          state: "running",
          code: event.code,
          isCodeCut: false,
          count: event.executionCount,
          startedAt: event.time,
        });
        return true;
      case "output-delta":
        this.output.print(event.stream, event.text);
        return true;
      case "output-gap":
        this.output.lose(event.omittedBytes);
        return true;
      case "display":
        return this.#display(event);
      case "call-start":
        this.set({ call: event.name });
        return true;
      case "call-end":
        this.set({ call: null });
        return true;
      case "input-start":
        this.set({ input: { call: event.call, prompt: event.prompt, isPassword: event.password } });
        return true;
      case "input-end":
        this.set({ input: null });
        if (event.answered) this.#answered = { call: event.call, place: this.output.markEnd() };
        this.#echo();
        return true;
      case "execution-end":
        this.end(event.result);
        return true;
      case "execution-queue":
        return true;
    }
  }

  /** The reader's line was the answer: it is shown after the prompt, as in a terminal. No event has it. */
  noteAnswer(call: number, line: string): void {
    this.#typed = { call, line };
    this.#echo();
  }

  #echo(): void {
    if (this.#typed === undefined || this.#typed.call !== this.#answered?.call) return;
    this.output.insert(this.#answered.place, `${this.#typed.line}\n`);
    this.#typed = undefined;
  }

  end(result: ExecutionResult): void {
    const { status, executionCount, durationMs } = result;
    const count = executionCount > 0 ? executionCount : this.#facts.count;
    this.set({ state: status, count, durationMs, input: null, call: null, result });
  }

  #display({ data, displayId, update, clear }: Extract<SessionEvent, { readonly type: "display" }>): boolean {
    if (clear === true) this.output.clearDisplays();
    if (update === true) return displayId === undefined || this.output.update(data, displayId);
    if (displayId !== undefined || !isEmpty(data)) this.output.display(data, displayId);
    return true;
  }
}

/** A cell of an execution that ran before the page was opened. */
export function cellOfHistory({
  executionId,
  executionCount,
  code,
  startedAt,
  status,
  durationMs,
}: HistoryEntry): CellModel {
  return new CellModel(executionId, {
    code,
    // The history keeps the first 10,000 characters.
    isCodeCut: code.length >= 10_000,
    count: executionCount,
    state: status ?? "running",
    startedAt: Date.parse(startedAt),
    durationMs,
    loaded: "none",
  });
}

function isEmpty(data: MimeBundle): boolean {
  return Object.keys(data).length === 0;
}
