// `rlm exec`: runs one program in one session; the exit code says how it ended.

import { openRuntime, type Runtime } from "../../runtime.ts";
import type { RuntimeOptions } from "../../runtime-options.ts";
import { parseMount } from "../../environments/mounts.ts";
import type { EnvironmentName } from "../../environments/registry.ts";
import type { Session } from "../../session/session.ts";
import type { ExecutionResult } from "../../protocol/execution.ts";
import { omitUndefined } from "../../util/omit-undefined.ts";
import { printError } from "../io/print-error.ts";
import { readSource, type Source } from "./read-source.ts";
import { fromResult } from "../exit-code.ts";
import { openWithFile, saveToFile } from "./session-file.ts";
import { readStandardInput } from "./standard-input.ts";
import { StandardOutput } from "../io/standard-output.ts";
import { SignalHandler } from "../io/signal-handler.ts";
import { printExecution, printOutcome, type ReadOutput } from "./print-execution.ts";
import { UsageError } from "../options/usage-error.ts";

/** All output is forwarded, however slow the reader is: what is not written yet is on disk. */
const ALL_OUTPUT = 2 ** 40;

/** Options of every command that opens a session in this process. */
export interface SessionArguments {
  readonly timeout?: number;
  readonly e?: readonly (readonly [string, string])[];
  readonly mount?: readonly string[];
  readonly python?: string;
  readonly memory?: number;
  readonly sessionFile?: string;
}

export interface ExecArguments extends SessionArguments {
  readonly c?: string;
  readonly json?: true;
  readonly env: EnvironmentName;
  readonly allowNet?: string;
}

export async function exec(args: readonly string[], options: ExecArguments): Promise<number> {
  if (options.allowNet !== undefined) {
    throw new UsageError("--allow-net is not available in this version: sessions have no network");
  }
  const source = await readSource(options.c, args);
  const output = new StandardOutput();
  await using runtime = await openRuntime(toRuntimeOptions(options));
  using signals = new SignalHandler(runtime, output);
  const code = await signals.race(run(runtime, source, options, output, signals));
  await output.flush();
  return code;
}

async function run(
  runtime: Runtime,
  { code, argv, fileName, usedInput }: Source,
  { timeout = 0, json, e = [], sessionFile }: ExecArguments,
  output: StandardOutput,
  signals: SignalHandler,
): Promise<number> {
  const sessionOptions = { id: "exec", env: Object.fromEntries(e), argv, idleTimeoutMs: null };
  const session = await openWithFile(runtime, sessionFile, sessionOptions);
  signals.interruptible = session;
  const execution = session.execute(code, {
    timeoutMs: timeout === 0 ? null : timeout * 1000,
    fileName,
    onInput: usedInput ? async () => null : readStandardInput,
  });
  const read: ReadOutput = (stream, offset) => session.output(execution.id, { stream, offset });
  if (!json) await printExecution(execution, read, output);
  const result = await execution.result;
  if (json) await output.write("stdout", `${JSON.stringify(result)}\n`);
  else await printOutcome(result, output);
  await saveState(session, result, sessionFile);
  return fromResult(result);
}

/** Saves the state even if the code failed, but not if the state was lost. */
async function saveState(session: Session, { state }: ExecutionResult, file: string | undefined): Promise<void> {
  if (state !== "lost") await saveToFile(session, file);
  else if (file !== undefined) printError(`the state was lost, so '${file}' is as it was`);
}

function toRuntimeOptions({ env, mount = [], python, memory }: ExecArguments): RuntimeOptions {
  return {
    environment: env,
    poolSize: 0,
    preload: [],
    mounts: mount.map(parseMount),
    ...omitUndefined({ python }),
    limits: { readableOutputBytes: ALL_OUTPUT, ...omitUndefined({ memoryBytes: memory }) },
  };
}
