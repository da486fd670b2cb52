// An execution as the SDK gives it.

import { checkAnswer, checkOutputRange } from "../api/checks/check-calls.ts";
import type { AnswerOptions, Execution, OutputRange, OutputSlice } from "../api/execution.ts";
import type { Result } from "../api/result-view.ts";
import type { ExecutionEvent } from "../protocol/events.ts";
import type { ExecutionId } from "../protocol/ids.ts";
import type { Execution as Inner } from "../session/execution/execution.ts";
import { omitUndefined } from "../util/omit-undefined.ts";
import { toPlainSlice } from "./plain-bytes.ts";
import { innerOf, Work } from "./work.ts";

export class SDKExecution extends Work<Inner, Result, ExecutionEvent> implements Execution {
  readonly id: ExecutionId;

  constructor(id: ExecutionId, inner: Inner | Promise<Inner>) {
    super(inner);
    this.id = id;
  }

  get [Symbol.toStringTag](): string {
    return "Execution";
  }

  async cancel(): Promise<void> {
    (await innerOf(this)).cancel();
  }

  output(range: OutputRange = {}): Promise<OutputSlice> {
    checkOutputRange("execution.output", range);
    return this.#output(range);
  }

  answer(line: string | null, options: AnswerOptions = {}): Promise<boolean> {
    checkAnswer(line, options);
    return this.#answer(line, options);
  }

  async #answer(text: string | null, { call }: AnswerOptions): Promise<boolean> {
    return (await innerOf(this)).pendingInput.answer({ text }, call);
  }

  async #output(range: OutputRange): Promise<OutputSlice> {
    return toPlainSlice((await innerOf(this)).output(omitUndefined(range)));
  }
}
