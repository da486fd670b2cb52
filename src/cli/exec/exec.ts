// `rlm exec`: runs one program in one session; the exit code says how it ended.

import { openRuntime, type Runtime } from "../../runtime.ts";
import type { RuntimeOptions } from "../../runtime-options.ts";
import { parseMount } from "../../environments/mounts.ts";
import type { EnvironmentName } from "../../environments/registry.ts";
import { DEFAULT_LIMITS } from "../../session/default-limits.ts";
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
import { ForwardOutput } from "./forward-output.ts";
import { printOutcome } from "./print-execution.ts";
import { UsageError } from "../options/usage-error.ts";

/** After code was stopped: how long the command waits for a reader that takes nothing. */
const STALLED_MS = 5_000;

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
  return await signals.race(run(runtime, source, options, output, signals));
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
  const forward = new ForwardOutput(output);
  const execution = session.execute(code, {
    timeoutMs: timeout === 0 ? null : timeout * 1000,
    fileName,
    onInput: usedInput ? async () => null : readStandardInput,
    ...(!json && { receiver: forward }),
  });
  const result = await execution.result;
  if (json) void output.push("stdout", `${JSON.stringify(result)}\n`);
  else {
    forward.finish();
    printOutcome(result, output);
  }
  await saveState(session, result, sessionFile);
  await waitForReader(result, output);
  return fromResult(result);
}

/** As long as it takes; but a time limit and Ctrl-C end the command although nobody reads what was printed before. */
async function waitForReader({ status }: ExecutionResult, output: StandardOutput): Promise<void> {
  const unread = await output.flush(status === "interrupted" ? STALLED_MS : Infinity);
  if (unread > 0) printError(`${unread} bytes of output were not read`);
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
    // Output is forwarded as it comes, so that nothing has to be stored beyond what a result keeps.
    limits: { readableOutputBytes: DEFAULT_LIMITS.keptOutputBytes, ...omitUndefined({ memoryBytes: memory }) },
  };
}
