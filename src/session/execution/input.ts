// Questions that code asks: `input()`, `getpass.getpass()` and whatever reads `sys.stdin`.

import type { HostCall } from "../../kernel/calls.ts";

export interface InputRequest {
  /** What `input()` was given, which is printed, too; the prompt of a password is not. Empty for reads of `sys.stdin`. */
  readonly prompt: string;
  /** What is typed should not be shown. */
  readonly password: boolean;
  /** Aborted when nobody waits for the answer any more. */
  readonly signal: AbortSignal;
}

/** A string is one line, without its newline; bytes are given to the code as they are; null is the end of input. */
export type InputHandler = (request: InputRequest) => Promise<string | Uint8Array | null>;

const MAX_PROMPT = 16_000;

export function parseInputRequest({ args, signal }: Pick<HostCall, "args" | "signal">): InputRequest {
  const { prompt, password } = args;
  return { prompt: typeof prompt === "string" ? prompt.slice(0, MAX_PROMPT) : "", password: password === true, signal };
}

/** The answer as the worker takes it. What this throws is the message of the EOFError that the code sees. */
export async function answerInput(handler: InputHandler | undefined, request: InputRequest): Promise<unknown> {
  if (handler === undefined) throw new Error("nobody answers input here");
  const answer: unknown = await handler(request);
  if (answer === null || typeof answer === "string") return answer;
  if (answer instanceof Uint8Array)
    return answer.length === 0 ? null : { base64: Buffer.from(answer).toString("base64") };
  throw new TypeError(`onInput answered with a ${typeof answer}: it must be a string, bytes or null`);
}
