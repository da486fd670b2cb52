// Answers code that waits for a line.
//
// The events of the execution are followed from its start. They are resumed without repetition, so the handler is called once for each
// wait. The server takes an answer only for the wait that it names.

import { checkLine } from "../../api/checks/check-calls.ts";
import type { InputHandler } from "../../api/execution.ts";
import type { ExecutionEvent } from "../../protocol/events.ts";

interface Answer {
  readonly text: string | null;
  readonly why?: string;
}

const MAX_WHY_CHARACTERS = 1000;

/** Resolves when the execution has ended, or its events cannot be read. Never throws. */
export async function answerInputs(
  events: AsyncIterable<ExecutionEvent>,
  onInput: InputHandler,
  send: (call: number, answer: Answer) => Promise<void>,
): Promise<void> {
  const waiting = new Map<number, AbortController>();
  try {
    for await (const event of events) {
      if (event.type === "input-start") {
        const { call, prompt, password } = event;
        const over = new AbortController();
        waiting.set(call, over);
        void answer(onInput, { prompt, password, signal: over.signal }, (line) => send(call, line));
      } else if (event.type === "input-end") {
        waiting.get(event.call)?.abort();
        waiting.delete(event.call);
      }
    }
  } catch {
    // Whoever awaits or iterates the execution learns of it.
  } finally {
    for (const over of waiting.values()) over.abort();
  }
}

/** A handler that fails is the end of input. An answer that comes too late is refused, which does not matter. */
async function answer(
  onInput: InputHandler,
  request: Parameters<InputHandler>[0],
  send: (answer: Answer) => Promise<void>,
): Promise<void> {
  let line: Answer;
  try {
    line = { text: checkLine(await onInput(request)) };
  } catch (error) {
    line = { text: null, why: (error instanceof Error ? error.message : String(error)).slice(0, MAX_WHY_CHARACTERS) };
  }
  if (!request.signal.aborted) await send(line).catch(() => {});
}
