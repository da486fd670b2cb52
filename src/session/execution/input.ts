// Requests for input: `input()`, `getpass.getpass()` and reads of `sys.stdin`.

import type { HostCall } from "../../api/local.ts";
import { inputArguments } from "../../protocol/worker/call-arguments.ts";

export interface InputRequest {
  /** The prompt of `input()`, which is also printed; that of a password is not. Empty for reads of `sys.stdin`. */
  readonly prompt: string;
  /** The input must not be echoed. */
  readonly password: boolean;
  /** Aborted when the answer is no longer needed. */
  readonly signal: AbortSignal;
}

/** A string is one line without its newline. Bytes are passed to the code unchanged. Null is the end of input. `call`: as in `input-start`. */
export type InputHandler = (request: InputRequest, call: number) => Promise<string | Uint8Array | null>;

export function parseInputRequest({ args, signal }: Pick<HostCall, "args" | "signal">): InputRequest {
  return { ...inputArguments.parse(args), signal };
}

/** An answer that comes from outside. */
export interface InputAnswer {
  /** A line. Null: the end of input. */
  readonly text: string | null;
  /** Why input ends. */
  readonly why?: string | undefined;
}

/** The request for a line that waits. Code waits for one line at a time. */
export class PendingInput {
  #waiting: { readonly call: number; readonly answer: (answer: InputAnswer) => void } | undefined;

  /** Resolves when somebody answers, and to null when the signal is aborted. */
  wait(call: number, signal: AbortSignal): Promise<string | null> {
    return new Promise((resolve, reject) => {
      const waiting = {
        call,
        answer: ({ text, why }: InputAnswer): void => {
          if (this.#waiting === waiting) this.#waiting = undefined;
          signal.removeEventListener("abort", onAbort);
          if (text === null && why !== undefined) reject(new Error(why));
          else resolve(text);
        },
      };
      const onAbort = (): void => waiting.answer({ text: null });
      this.#waiting = waiting;
      signal.addEventListener("abort", onAbort, { once: true });
    });
  }

  /** Undefined call: whichever waits. False: nothing waits for this. */
  answer(answer: InputAnswer, call?: number): boolean {
    if (this.#waiting === undefined || (call !== undefined && call !== this.#waiting.call)) return false;
    this.#waiting.answer(answer);
    return true;
  }
}

/**
 * The answer in the worker's format: of the handler, or from outside, whichever is first. The message of an error becomes that of the
 * EOFError in the code.
 */
export async function answerInput(
  handler: InputHandler | "ask" | undefined,
  request: InputRequest,
  call: number,
  pending: PendingInput,
): Promise<unknown> {
  if (handler === undefined) throw new Error("nobody answers input here");
  const over = new AbortController();
  const signal = AbortSignal.any([request.signal, over.signal]);
  try {
    const outside = pending.wait(call, signal);
    return toReply(
      await (handler === "ask" ? outside : Promise.race([handler({ ...request, signal }, call), outside])),
    );
  } finally {
    over.abort();
  }
}

function toReply(answer: unknown): unknown {
  if (answer === null || typeof answer === "string") return answer;
  if (answer instanceof Uint8Array)
    return answer.length === 0 ? null : { base64: Buffer.from(answer).toString("base64") };
  throw new TypeError(`onInput answered with a ${typeof answer}: it must be a string, bytes or null`);
}
