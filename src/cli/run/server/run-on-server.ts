// `rlm run --server`: gives the question to a running server. The context is streamed from the files of this machine.
//
// The server's configuration decides what the run uses; the command line sets the models by name, the mode and the limits.

import { setTimeout } from "node:timers/promises";
import type { RLMLimits, Run } from "../../../api/run.ts";
import type { Runtime } from "../../../api/runtime.ts";
import type { RunEvent } from "../../../protocol/run-events.ts";
import { omitUndefined } from "../../../util/omit-undefined.ts";
import { EXIT } from "../../exit-code.ts";
import { SignalHandler } from "../../io/signal-handler.ts";
import { StandardOutput } from "../../io/standard-output.ts";
import { UsageError } from "../../options/usage-error.ts";
import { withServer } from "../../remote/with-server.ts";
import { findContext } from "../context/contexts.ts";
import { whileReading } from "../context/gather-display.ts";
import { StdinFile } from "../context/stdin-file.ts";
import { checkQuestion, contextNames, readSchema, reportContext } from "../question.ts";
import { NO_LIMIT_MS } from "../rlm-options.ts";
import type { RunArguments } from "../run.ts";
import { chooseDisplay, showRun } from "../show-run.ts";
import { openStatusLine } from "../status-line.ts";
import { describeUpload, Upload } from "./upload.ts";

/** How long a lost connection is tried again: the run goes on meanwhile. */
const RETRY_MS = 60_000;
/** How long a command that is stopped waits until a busy server has the request to cancel the run, which would go on. */
const STOP_MS = 10_000;

export async function runOnServer(question: string | undefined, options: RunArguments): Promise<number> {
  checkArguments(options);
  const { query, url } = splitServer(question, options.server);
  return withServer((runtime) => run(runtime, query, options, url), { url, retryMs: RETRY_MS });
}

async function run(runtime: Runtime, query: string, options: RunArguments, url: string | undefined): Promise<number> {
  const output = new StandardOutput();
  await using input = new StdinFile();
  let stopping: Promise<unknown> | undefined;
  let cancel = async (): Promise<void> => {};
  const stopped = new AbortController();
  const stop = (): Promise<unknown> => {
    stopped.abort(new Cancelled());
    const late = setTimeout(STOP_MS, undefined, { ref: false });
    return (stopping ??= Promise.race([cancel().catch(() => {}), late]));
  };
  using signals = new SignalHandler({ close: stop }, output);
  const display = chooseDisplay(options);
  signals.onStop = () => display.end();
  const perform = async (): Promise<number> => {
    const schema = await readSchema(options.schema);
    const { context, ...found } = await whileReading(findContext(contextNames(options), input), options.quiet);
    reportContext(found, options.quiet);
    const upload = context && new Upload(context);
    const { signal } = stopped;
    const started = runtime.rlm(toOptions(options)).run({ query, context: upload?.context, schema, signal });
    cancel = () => started.cancel();
    signals.interruptible = { interrupt: () => stopped.abort(new Cancelled()) };
    using sending = upload && openStatusLine(() => describeUpload(upload), options.quiet);
    const events = eventsOf(started, () => sending?.[Symbol.dispose]());
    try {
      return await showRun(events, async () => started, { ...options, output, display, url });
    } catch (error) {
      if (error instanceof Cancelled) return EXIT.cancelled;
      throw error;
    }
  };
  const code = await signals.race(perform());
  await stopping;
  await output.flush();
  return code;
}

/** The user cancelled while the context was sent: nothing was started. */
class Cancelled extends Error {}

async function* eventsOf(started: Run, onFirst: () => void): AsyncGenerator<RunEvent> {
  try {
    for await (const event of started) {
      onFirst();
      yield event;
    }
  } finally {
    onFirst();
  }
}

/** By option: what decides instead of it. */
const DECIDED: Readonly<Record<string, string>> = {
  backend: "the configuration of the server decides which provider is asked",
  baseUrl: "the configuration of the server decides which provider is asked",
  reasoningEffort: "the configuration of the server decides how models are asked",
  maxTokens: "the configuration of the server decides how models are asked",
  extraBody: "the configuration of the server decides how models are asked",
  strategy: "the configuration of the server decides how models are asked",
  systemPrompt: "the configuration of the server decides how models are asked",
  maxConcurrency: "the configuration of the server decides how models are asked",
  cache: "the configuration of the server decides whether its cache is used",
  env: "the configuration of the server decides where code runs",
  python: "the server has its own Python",
  memory: "the configuration of the server decides how much memory a session may use",
  config: "the server has its own configuration",
  demo: "the demonstration runs on this machine",
};

function checkArguments(options: RunArguments): void {
  for (const [name, why] of Object.entries(DECIDED)) {
    const value = (options as unknown as Readonly<Record<string, unknown>>)[name];
    if (value === undefined || (name === "cache" && value === true)) continue;
    const flag = name === "cache" ? "no-cache" : name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
    throw new UsageError(`--${flag} cannot be used with --server: ${why}`);
  }
}

/** The address is optional, so a question that follows --server looks like one. */
function splitServer(question: string | undefined, server: string | true | undefined): { query: string; url?: string } {
  if (typeof server !== "string") return { query: checkQuestion(question) };
  if (question === undefined && /\s/.test(server)) return { query: checkQuestion(server) };
  return { query: checkQuestion(question), url: server };
}

function toOptions(options: RunArguments): { limits: RLMLimits } {
  const { model, subModel, childModel, extractModel, temperature, seed, mode, timeout, costBudget } = options;
  const { maxDepth, maxIterations, tokenBudget, callBudget, toolBudget } = options;
  const wallMs = timeout === 0 ? NO_LIMIT_MS : timeout && timeout * 1000;
  const budgets = { tokens: tokenBudget, costUsd: costBudget, llmCalls: callBudget, toolCalls: toolBudget, wallMs };
  return {
    ...omitUndefined({ model, subModel, childModel, extractModel, temperature, seed, mode }),
    limits: omitUndefined({ maxDepth, maxIterations, ...budgets }),
  };
}
