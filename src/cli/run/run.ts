// `rlm run`: gives one question to the orchestrator. Prints the answer on stdout and everything else on stderr.

import { addressOf, backendVariables } from "../../config/choose-backend.ts";
import { backendOf, chooseModels, rolesOf } from "../../config/choose-models.ts";
import { maskAddress } from "../../util/text/mask-address.ts";
import type { Config } from "../../config/config.ts";
import { openRuntime, type Runtime } from "../../runtime.ts";
import { ScriptedBackend } from "../../backends/scripted/scripted.ts";
import type { RLMOptions, RunRequest } from "../../rlm/rlm.ts";
import type { Run } from "../../rlm/run.ts";
import type { RunResult } from "../../protocol/runs.ts";
import { seatBeltWarning } from "../../views/seat-belt.ts";
import { formatSize } from "../../util/text/format.ts";
import { omitUndefined } from "../../util/omit-undefined.ts";
import { EXIT } from "../exit-code.ts";
import { toRuntimeOptions } from "../exec/session-settings.ts";
import { printError } from "../io/print-error.ts";
import type { LoggedArguments } from "../log/command-log.ts";
import { logRun } from "../log/log-run.ts";
import { gatherContext } from "./context/contexts.ts";
import { whileReading } from "./context/gather-display.ts";
import { demoContext, DEMO_QUESTION, demoReply } from "./demo.ts";
import { StdinFile } from "./context/stdin-file.ts";
import { checkQuestion, contextNames, readSchema, reportContext } from "./question.ts";
import { toRLMOptions } from "./rlm-options.ts";
import { chooseDisplay, showRun, type ShowOptions } from "./show-run.ts";
import { StandardOutput } from "../io/standard-output.ts";
import { SignalHandler } from "../io/signal-handler.ts";
import { readConfig } from "../options/read-config.ts";
import { toFlags, type SettingArguments } from "../options/setting-flags.ts";
import { UsageError } from "../options/usage-error.ts";

/** The parsed options of the command line. */
export interface RunArguments extends SettingArguments, LoggedArguments {
  readonly context?: readonly string[];
  readonly schema?: string;
  readonly json?: true;
  readonly quiet?: true;
  readonly demo?: true;
  readonly config?: string;
  readonly python?: string;
  /** In bytes. */
  readonly memory?: number;
  /** An address; true: the default one. */
  readonly server?: string | true;
}

export async function run(question: string | undefined, options: RunArguments): Promise<number> {
  const { config: path, quiet } = options;
  const config = readConfig({ flags: toFlags(options), path, quiet });
  const output = new StandardOutput();
  await using input = new StdinFile();
  await using runtime = await openRuntime(toRuntimeOptions(options, config));
  options.log.observe(runtime);
  using signals = new SignalHandler(runtime, output);
  const display = chooseDisplay(options);
  signals.onStop = () => display.end();
  const isWarned = options.quiet === true || warn(runtime);
  const perform = async (): Promise<number> => {
    const work = options.demo ? demo(question, options) : await prepare(question, options, config, input);
    const started = await start(runtime, work);
    logRun(started, options.log);
    signals.interruptible = { interrupt: () => started.cancel() };
    const ended = await showRecorded(runtime, started, { ...options, output, display });
    if (!isWarned) warn(runtime); // of what its sessions have shown
    return ended;
  };
  const code = await signals.race(perform());
  await output.flush();
  return code;
}

/** Whether there is something to warn of. */
function warn(runtime: Runtime): boolean {
  const warning = seatBeltWarning(runtime.report());
  if (warning !== undefined) printError(warning);
  return warning !== undefined;
}

/** Shows a run, and says if it could not be recorded. */
async function showRecorded(runtime: Runtime, started: Run, options: ShowOptions): Promise<number> {
  const end = async (): Promise<RunResult & { readonly notRecorded?: string }> => {
    const result = await started.result;
    await runtime.runs.settled(started.id);
    return { ...result, ...omitUndefined({ notRecorded: started.notRecorded }) };
  };
  try {
    const code = await showRun(started, end, options);
    return code === EXIT.error && runtime.isUnavailable ? EXIT.failure : code;
  } finally {
    if (started.notRecorded !== undefined)
      printError(`run ${started.id} is not recorded in full: ${started.notRecorded}`);
  }
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
  const models = chooseModels(config);
  Object.assign(process.env, backendVariables(config));
  if (!options.quiet) announceAddresses(config);
  const { context, ...found } = await whileReading(gatherContext(contextNames(options), input), options.quiet);
  reportContext(found, options.quiet);
  return {
    rlm: { ...toRLMOptions(config), ...models, model },
    request: { query, ...omitUndefined({ context, schema }) },
  };
}

/** Names each address that a file chooses before it is asked, also those that only code may ask. */
function announceAddresses(config: Config): void {
  const roles = rolesOf(config);
  const models = new Set([...roles, ...Object.keys(config.models)]);
  for (const backend of new Set([...models].map((name) => backendOf(config, name)))) {
    const asked = [...models].filter((name) => backendOf(config, name) === backend);
    const { url = "", origin } = addressOf(config, backend) ?? {};
    const isUsed = asked.some((name) => roles.includes(name)) || origin?.isApproved === false;
    if (!isUsed || origin === undefined || !("path" in origin)) continue;
    printError(`asking ${asked.join(" and ")} at ${maskAddress(url)}, as ${origin.path} says`);
  }
}

const NO_MODEL =
  "no model is chosen: give --model, set RLM_MODEL, or write it into rlm.toml (rlm init). 'rlm run --demo' needs none";

function demo(question: string | undefined, { context, schema, model, backend, quiet }: RunArguments): Work {
  if ([question, context, schema, model, backend].some((value) => value !== undefined)) {
    throw new UsageError("--demo brings its own question, context and model: leave yours out");
  }
  const text = demoContext();
  reportContext({ summary: `the log of a harbour, ${formatSize(text.length)}` }, quiet);
  return {
    rlm: { backend: new ScriptedBackend(demoReply), model: "demo", mode: "rlm", cache: false, prices: DEMO_PRICES },
    request: { query: DEMO_QUESTION, context: { text } },
  };
}

/** Invented, so that the demo shows a cost. */
const DEMO_PRICES = { demo: { inputUsd: 0.25, outputUsd: 2, cacheReadUsd: 0.25, cacheWriteUsd: 0.25 } };

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
