// `rlm exec`: runs one program in one session; the exit code says how it ended.

import { openRuntime, type Runtime } from "../../runtime.ts";
import type { RuntimeOptions } from "../../runtime-options.ts";
import type { Config } from "../../config/config.ts";
import { DEFAULT_LIMITS } from "../../session/default-limits.ts";
import type { Session } from "../../session/session.ts";
import type { ExecutionResult } from "../../protocol/execution.ts";
import { seatBeltWarning } from "../../views/seat-belt.ts";
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
import { openInFolder, reportLinks, toSessionPath } from "./working-directory.ts";
import { readConfig } from "../options/read-config.ts";
import { UsageError } from "../options/usage-error.ts";
import {
  namingPython,
  toRuntimeOptions,
  toSessionOptions,
  toTimeoutMs,
  type SessionArguments,
} from "./session-settings.ts";

/** After code was stopped: how long the command waits for a reader that takes nothing. */
const STALLED_MS = 5_000;

export interface ExecArguments extends SessionArguments {
  readonly c?: string;
  readonly json?: true;
  readonly allowNet?: string;
}

export async function exec(args: readonly string[], options: ExecArguments): Promise<number> {
  const config = readConfig({ path: options.config, isDotEnvOptional: true });
  if (options.allowNet !== undefined) {
    throw new UsageError(`--allow-net is not available in this version: ${describeNetwork(options, config)}`);
  }
  const source = await readSource(options.c, args);
  const output = new StandardOutput();
  const runtimeOptions = toOptions(options, config);
  const { mounts = [] } = runtimeOptions;
  const cwd = options.cwd === undefined ? undefined : toSessionPath(options.cwd, mounts);
  reportLinks(mounts);
  await using runtime = await openRuntime(runtimeOptions);
  options.log.observe(runtime);
  using signals = new SignalHandler(runtime, output);
  const placed = { ...options, ...omitUndefined({ cwd }) };
  const work = namingPython(options, config, () => run(runtime, source, placed, config, output, signals));
  return await signals.race(work);
}

async function run(
  runtime: Runtime,
  { code, argv, fileName, usedInput }: Source,
  options: ExecArguments,
  config: Config,
  output: StandardOutput,
  signals: SignalHandler,
): Promise<number> {
  const { json, sessionFile, cwd } = options;
  const sessionOptions = { ...toSessionOptions(options, config), id: "exec", argv, idleTimeoutMs: null };
  const session = await openInFolder(cwd, () => openWithFile(runtime, sessionFile, sessionOptions));
  const warning = seatBeltWarning(runtime.report());
  if (warning !== undefined) printError(warning);
  signals.interruptible = session;
  const forward = new ForwardOutput(output);
  const execution = session.execute(code, {
    timeoutMs: toTimeoutMs(options, config),
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

function describeNetwork({ env: environment }: ExecArguments, { rlm, docker }: Config): string {
  const { network = "none" } = docker;
  if ((environment ?? rlm.environment) !== "docker" || network === "none") return "sessions have no network";
  return `sessions in docker have the network '${network}' of [docker] network, without a filter`;
}

function toOptions(options: ExecArguments, config: Config): RuntimeOptions {
  const { limits, ...configured } = toRuntimeOptions(options, config);
  // Output is forwarded as it comes, so that nothing has to be stored beyond what a result keeps.
  const readableOutputBytes = limits?.keptOutputBytes ?? DEFAULT_LIMITS.keptOutputBytes;
  return { ...configured, poolSize: 0, preload: [], limits: { ...limits, readableOutputBytes } };
}
