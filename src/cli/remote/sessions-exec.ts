// `rlm sessions exec`: runs code in a session of a server, with the output and exit codes of `rlm exec`.

import type { ExecutionEvent } from "../../protocol/events.ts";
import type { ExecutionResult } from "../../protocol/execution.ts";
import type { InputRequest } from "../../session/execution/input.ts";
import { printError } from "../io/print-error.ts";
import { printExecution, printOutcome } from "../exec/print-execution.ts";
import { readSource, type Source } from "../exec/read-source.ts";
import { EXIT, fromResult } from "../exit-code.ts";
import { RemoteExecution } from "../../client/remote-execution.ts";
import { openServerClient } from "./address.ts";
import { readStandardInput } from "../exec/standard-input.ts";
import { StandardOutput } from "../io/standard-output.ts";
import { SignalHandler } from "../io/signal-handler.ts";
import { UsageError } from "../options/usage-error.ts";

export interface SessionExecArguments {
  readonly c?: string;
  readonly json?: true;
  readonly timeout?: number;
  readonly e?: readonly (readonly [string, string])[];
}

const MAX_LINE_BYTES = 16 * 1024 * 1024;

export async function execInSession(
  id: string,
  args: readonly string[],
  options: SessionExecArguments,
): Promise<number> {
  if (args.length > (options.c === undefined ? 1 : 0)) {
    throw new UsageError("one piece of code at a time: a session has no arguments of its own to give to it");
  }
  const client = openServerClient();
  const source = await readSource(options.c, args, "sessions exec");
  const output = new StandardOutput();
  let execution: RemoteExecution | undefined;
  using signals = new SignalHandler({ close: async () => execution?.close() }, output);
  const run = async (): Promise<number> => {
    const started = await RemoteExecution.start(client, id, toBody(source, options));
    execution = started;
    signals.interruptible = { interrupt: () => void started.interrupt().catch(printError) };
    return print(started, options, output);
  };
  try {
    const code = await signals.race(run());
    await output.flush();
    return code;
  } finally {
    await execution?.close();
  }
}

function toBody({ code, fileName, usedInput }: Source, { timeout = 0, e }: SessionExecArguments): object {
  return {
    code,
    fileName,
    timeoutMs: timeout === 0 ? null : timeout * 1000,
    input: usedInput ? "none" : "ask",
    ...(e && { env: Object.fromEntries(e) }),
  };
}

async function print(
  execution: RemoteExecution,
  { json }: SessionExecArguments,
  output: StandardOutput,
): Promise<number> {
  let result: ExecutionResult | undefined;
  const events = async function* (): AsyncGenerator<ExecutionEvent> {
    for await (const event of withInput(execution)) {
      if (event.type === "execution-end") ({ result } = event);
      if (json === undefined) yield event;
    }
  };
  await printExecution(events(), (stream, offset) => execution.output(stream, offset), output);
  if (result === undefined) return EXIT.failure;
  if (json) await output.write("stdout", `${JSON.stringify(result)}\n`);
  else printOutcome(result, output);
  return fromResult(result);
}

/** Passes the events through, and answers requests for input from standard input. */
async function* withInput(execution: RemoteExecution): AsyncGenerator<ExecutionEvent> {
  const lines = new InputLines();
  let waiting = new AbortController();
  for await (const event of execution) {
    if (event.type === "input-start") {
      waiting = new AbortController();
      const { prompt, password } = event;
      void lines
        .next({ prompt, password, signal: waiting.signal })
        .then((line) => execution.answer(line))
        .catch((error: unknown) => {
          if ((error as Error).name === "AbortError") return;
          printError(error);
          void execution.interrupt().catch(printError); // or it would wait for ever
        });
    } else if (event.type === "input-end" || event.type === "execution-end") waiting.abort();
    yield event;
  }
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
