// `rlm sessions exec`: runs code in a session of a server, with the output and exit codes of `rlm exec`.

import { setTimeout } from "node:timers/promises";
import type { ExecuteOptions, Execution, InputRequest, OutputSlice } from "../../api/execution.ts";
import type { Runtime } from "../../api/runtime.ts";
import { ExecutionNotFoundError } from "../../errors.ts";
import type { ExecutionEvent } from "../../protocol/events.ts";
import type { ExecutionResult, OutputStream } from "../../protocol/execution.ts";
import { printExecution, printOutcome } from "../exec/print-execution.ts";
import { readSource, type Source } from "../exec/read-source.ts";
import { readStandardInput } from "../exec/standard-input.ts";
import { fromResult } from "../exit-code.ts";
import { printError } from "../io/print-error.ts";
import { SignalHandler } from "../io/signal-handler.ts";
import { StandardOutput } from "../io/standard-output.ts";
import { UsageError } from "../options/usage-error.ts";
import { withServer } from "./with-server.ts";

export interface SessionExecArguments {
  readonly c?: string;
  readonly json?: true;
  readonly timeout?: number;
  readonly e?: readonly (readonly [string, string])[];
}

const MAX_LINE_BYTES = 16 * 1024 * 1024;
/** How long a command that is stopped waits until a busy server has the request to interrupt the code, which would run on without end. */
const STOP_MS = 10_000;

export async function execInSession(
  id: string,
  args: readonly string[],
  options: SessionExecArguments,
): Promise<number> {
  if (args.length > (options.c === undefined ? 1 : 0)) {
    throw new UsageError("one piece of code at a time: a session has no arguments of its own to give to it");
  }
  const source = await readSource(options.c, args, "sessions exec");
  return withServer((runtime) => run(runtime, id, source, options));
}

async function run(runtime: Runtime, id: string, source: Source, options: SessionExecArguments): Promise<number> {
  const output = new StandardOutput();
  let stopping: Promise<void> | undefined;
  let stop = async (): Promise<void> => {};
  using signals = new SignalHandler({ close: () => (stopping ??= stop()) }, output);
  const perform = async (): Promise<number> => {
    const session = await runtime.sessions.get(id);
    const execution = session.execute(
      source.code,
      toOptions(source, options, () => void interrupt()),
    );
    const interrupt = (): Promise<void> => execution.cancel().catch(printError);
    stop = () => Promise.race([execution.cancel().catch(() => {}), setTimeout(STOP_MS, undefined, { ref: false })]);
    signals.interruptible = { interrupt };
    return print(execution, options, output).catch((error: unknown) => {
      // It was accepted: a server that does not know it is another process.
      if (error instanceof ExecutionNotFoundError) throw new Error("the server ended before the code did");
      throw error;
    });
  };
  const code = await signals.race(perform());
  await stopping;
  await output.flush();
  return code;
}

function toOptions(
  { fileName, usedInput }: Source,
  { timeout = 0, e }: SessionExecArguments,
  interrupt: () => void,
): ExecuteOptions {
  return {
    fileName,
    timeoutMs: timeout === 0 ? null : timeout * 1000,
    env: e && Object.fromEntries(e),
    onInput: usedInput ? undefined : toInputHandler(interrupt),
  };
}

async function print(execution: Execution, { json }: SessionExecArguments, output: StandardOutput): Promise<number> {
  if (json) {
    const result = await execution;
    await output.write("stdout", `${JSON.stringify(result)}\n`);
    return fromResult(result);
  }
  let result: ExecutionResult | undefined;
  const events = async function* (): AsyncGenerator<ExecutionEvent> {
    for await (const event of execution) {
      if (event.type === "execution-end") ({ result } = event);
      yield event;
    }
  };
  const read = (stream: OutputStream, offset: number): Promise<OutputSlice> => execution.output({ stream, offset });
  await printExecution(events(), read, output, () => result && printOutcome(result, output));
  return fromResult(result ?? (await execution));
}

/** Answers requests for input from standard input. What cannot be read interrupts the code, or it would wait for ever. */
function toInputHandler(interrupt: () => void): (request: InputRequest) => Promise<string | null> {
  const lines = new InputLines();
  return async (request) => {
    try {
      return await lines.next(request);
    } catch (error) {
      if (request.signal.aborted) return null;
      printError(error);
      interrupt();
      return null;
    }
  };
}

/** Standard input by lines. */
class InputLines {
  #rest = Buffer.alloc(0);

  /** Without its line end; null at the end of input. */
  async next(request: InputRequest): Promise<string | null> {
    for (;;) {
      const at = this.#rest.indexOf("\n");
      if (at !== -1) return this.#take(at, at + 1);
      if (this.#rest.length > MAX_LINE_BYTES) throw new Error("a line of standard input is longer than 16 MiB");
      const chunk = await readStandardInput(request);
      if (chunk === null) return this.#rest.length === 0 ? null : this.#take(this.#rest.length, this.#rest.length);
      this.#rest = Buffer.concat([this.#rest, chunk]);
    }
  }

  #take(end: number, next: number): string {
    const line = this.#rest.subarray(0, end).toString("utf8").replace(/\r$/, "");
    this.#rest = this.#rest.subarray(next);
    return line;
  }
}
