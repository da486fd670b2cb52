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

/** The answer in the worker's format. The message of an error becomes that of the EOFError in the code. */
export async function answerInput(
  handler: InputHandler | undefined,
  request: InputRequest,
  call: number,
): Promise<unknown> {
  if (handler === undefined) throw new Error("nobody answers input here");
  const answer: unknown = await handler(request, call);
  if (answer === null || typeof answer === "string") return answer;
  if (answer instanceof Uint8Array)
    return answer.length === 0 ? null : { base64: Buffer.from(answer).toString("base64") };
  throw new TypeError(`onInput answered with a ${typeof answer}: it must be a string, bytes or null`);
}
