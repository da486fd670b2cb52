// `rlm run`: gives one question to the orchestrator. Prints the answer on stdout and everything else on stderr.

import { backendVariables, chooseBackend } from "../../config/choose-backend.ts";
import { loadConfig, type Config, type Flags } from "../../config/config.ts";
import type { RLMSettings } from "../../config/settings.ts";
import type { EnvironmentName } from "../../environments/registry.ts";
import { openRuntime, type Runtime } from "../../runtime.ts";
import { ScriptedBackend } from "../../backends/scripted/scripted.ts";
import type { RLMOptions, RunRequest } from "../../rlm/rlm.ts";
import type { Run } from "../../rlm/run.ts";
import { omitUndefined } from "../../util/omit-undefined.ts";
import { printError } from "../io/print-error.ts";
import { gatherContext } from "./context/contexts.ts";
import { demoContext, DEMO_QUESTION, demoReply } from "./demo.ts";
import { StdinFile } from "./context/stdin-file.ts";
import { checkQuestion, contextNames, readSchema, reportSkipped } from "./question.ts";
import { toRLMOptions } from "./rlm-options.ts";
import { chooseDisplay, showRun } from "./show-run.ts";
import { StandardOutput } from "../io/standard-output.ts";
import { SignalHandler } from "../io/signal-handler.ts";
import { UsageError } from "../options/usage-error.ts";

/** Options of the command line that have the names of settings. */
type NamedSettings = "model" | "subModel" | "reasoningEffort" | "backend" | "baseUrl" | "mode" | NamedLimits;
type NamedLimits = "maxDepth" | "maxIterations" | "tokenBudget" | "callBudget" | "toolBudget";

/** The parsed options of the command line. */
export interface RunArguments extends Partial<Pick<RLMSettings, NamedSettings>> {
  readonly context?: readonly string[];
  readonly env?: EnvironmentName;
  readonly costBudget?: number;
  readonly timeout?: number;
  readonly schema?: string;
  readonly cache: boolean;
  readonly json?: true;
  readonly quiet?: true;
  readonly demo?: true;
  readonly config?: string;
  readonly python?: string;
  /** An address; true: the default one. */
  readonly server?: string | true;
}

export async function run(question: string | undefined, options: RunArguments): Promise<number> {
  const { config: path, python } = options;
  const flags = toFlags(options);
  const config = loadConfig({ cwd: process.cwd(), env: process.env, flags, ...omitUndefined({ path }) });
  const output = new StandardOutput();
  await using input = new StdinFile();
  const { environment } = config.rlm;
  await using runtime = await openRuntime({ environment, limits: config.limits, ...omitUndefined({ python }) });
  using signals = new SignalHandler(runtime, output);
  const display = chooseDisplay(options);
  signals.onStop = () => display.end();
  const perform = async (): Promise<number> => {
    const work = options.demo ? demo(question, options) : await prepare(question, options, config, input);
    const started = await start(runtime, work);
    signals.interruptible = { interrupt: () => started.cancel() };
    return showRun(started, () => started.result, { ...options, output, display });
  };
  const code = await signals.race(perform());
  await output.flush();
  return code;
}

interface Work {
  readonly rlm: RLMOptions;
  readonly request: RunRequest;
}

async function prepare(
  question: string | undefined,
  options: RunArguments,
  config: Config,
  input: StdinFile,
): Promise<Work> {
  const { model } = config.rlm;
  const query = checkQuestion(question);
  if (model === undefined) throw new UsageError(NO_MODEL);
  const schema = await readSchema(options.schema);
  const backend = chooseBackend(config);
  Object.assign(process.env, backendVariables(config));
  if (backend.baseUrl !== undefined && backend.baseUrl !== config.agreedUrl && !options.quiet) {
    printError(`asking ${model} at ${backend.baseUrl}, as ${config.path ?? ".env"} says`);
  }
  const { context, skipped } = await gatherContext(contextNames(options), input);
  reportSkipped(skipped, options);
  return {
    rlm: { ...toRLMOptions(config), ...backend, model },
    request: { query, ...omitUndefined({ context, schema }) },
  };
}

const NO_MODEL =
  "no model is chosen: give --model, set RLM_MODEL, or write it into rlm.toml (rlm init). 'rlm run --demo' needs none";

function demo(question: string | undefined, { context, schema, model, backend }: RunArguments): Work {
  if ([question, context, schema, model, backend].some((value) => value !== undefined)) {
    throw new UsageError("--demo brings its own question, context and model: leave yours out");
  }
  return {
    rlm: { backend: new ScriptedBackend(demoReply), model: "demo", mode: "rlm", cache: false, prices: DEMO_PRICES },
    request: { query: DEMO_QUESTION, context: { text: demoContext() } },
  };
}

/** Invented, so that the demo shows a cost. */
const DEMO_PRICES = { demo: { inputUsd: 0.25, outputUsd: 2, cacheReadUsd: 0.25, cacheWriteUsd: 0.25 } };

function toFlags(options: RunArguments): Flags {
  const { model, subModel, reasoningEffort, backend, baseUrl, env, mode, timeout, cache } = options;
  const { maxDepth, maxIterations, tokenBudget, costBudget, callBudget, toolBudget } = options;
  const models = { model, subModel, reasoningEffort, backend, baseUrl };
  const budgets = { tokenBudget, costBudgetUsd: costBudget, callBudget, toolBudget };
  const timeoutMs = timeout === 0 ? null : timeout && timeout * 1000;
  return {
    ...models,
    mode,
    environment: env,
    maxDepth,
    maxIterations,
    ...budgets,
    timeoutMs,
    ...(!cache && { cache }),
  };
}

/** Checks the run first, so that a wrong schema or a missing key fails at once. */
async function start(runtime: Runtime, { rlm: options, request }: Work): Promise<Run> {
  try {
    const rlm = runtime.rlm(options);
    await rlm.check();
    return rlm.run(request);
  } catch (error) {
    if (error instanceof TypeError || error instanceof RangeError) throw new UsageError(error.message);
    throw error;
  }
}
