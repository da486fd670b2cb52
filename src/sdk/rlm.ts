// Recursive runs as the SDK gives them.

import { checkModelOptions } from "../api/checks/check-local.ts";
import { checkDefinitions, checkModelSettings } from "../api/checks/check-models.ts";
import { checkRunDefaults, checkRunRequest } from "../api/checks/check-calls.ts";
import { checkOptions } from "../api/checks/check-options.ts";
import type { LocalRLM, LocalRLMOptions, LocalRunRequest } from "../api/local.ts";
import { OPTIONS } from "../api/checks/option-names.ts";
import type { Run } from "../api/run.ts";
import type { AnswerData, AnswerSchema } from "../api/schema.ts";
import { RLMError } from "../errors.ts";
import type { RunId } from "../protocol/ids.ts";
import type { Context } from "../rlm/context/context-items.ts";
import type { RLM as Inner, RunRequest } from "../rlm/rlm.ts";
import type { Run as LiveRun } from "../rlm/run.ts";
import type { Runtime } from "../runtime.ts";
import { randomId } from "../util/make-id.ts";
import { omitUndefined } from "../util/omit-undefined.ts";
import { receiveContext, StreamedContext, type ReceivedContext } from "./run-context.ts";
import { SDKRun, toSource, type RunSource } from "./run.ts";

const LOCAL_OPTIONS: readonly (keyof LocalRLMOptions)[] = [
  "models",
  "backends",
  "backend",
  "baseUrl",
  "apiKey",
  "reasoningEffort",
  "maxTokens",
  "extraBody",
  "tools",
  "cache",
  "prices",
  "cellTimeoutMs",
  "dispatcher",
  "strategy",
  "systemPrompt",
  "log",
];

/** Throws a TypeError for options that do not exist, and where the model is missing. */
export function checkRLMOptions(options: LocalRLMOptions): asserts options is LocalRLMOptions & {
  readonly model: NonNullable<LocalRLMOptions["model"]>;
} {
  checkOptions("runtime.rlm", options, [...OPTIONS.rlm, ...LOCAL_OPTIONS]);
  checkRunDefaults(options);
  checkModelOptions(options);
  checkModelSettings("runtime.rlm", options);
  checkDefinitions(options);
  if (options.model === undefined) throw new TypeError("Cannot set up runs: give a model");
}

export class SDKRLM implements LocalRLM {
  readonly #rlm: Inner;
  readonly #runtime: Runtime;

  constructor(rlm: Inner, runtime: Runtime) {
    this.#rlm = rlm;
    this.#runtime = runtime;
  }

  get limits(): LocalRLM["limits"] {
    return this.#rlm.limits;
  }

  check(): Promise<void> {
    return this.#rlm.check();
  }

  run<const Schema extends AnswerSchema | undefined = undefined>(
    request: Omit<LocalRunRequest, "schema"> & { readonly schema?: Schema },
  ): Run<AnswerData<Schema>> {
    checkRunRequest(request, [...OPTIONS.run, "patterns"]);
    const { context, limits, signal, ...others } = request;
    const id = (request.id ?? randomId("r")) as RunId;
    if (signal?.aborted === true) return new SDKRun(id, this.#runtime, Promise.reject(signal.reason as Error));
    const toRequest = (own: Context | undefined, ownId = request.id): RunRequest =>
      omitUndefined({
        ...others,
        signal,
        id: ownId,
        context: own,
        limits: limits && omitUndefined(limits),
      });
    const received = context === undefined ? undefined : receiveContext(context, signal);
    if (!(received instanceof StreamedContext)) return this.#startNow(id, toRequest(received));
    this.#rlm.checkRequest(toRequest(received.outline));
    return new SDKRun(
      id,
      this.#runtime,
      this.#startLater(id, received.receive(), (own) => this.#rlm.run(toRequest(own, id))),
    );
  }

  /** Wrong arguments throw; an id that names other work rejects. */
  #startNow<Data>(id: RunId, request: RunRequest): Run<Data> {
    try {
      const run = this.#rlm.run(request);
      return new SDKRun(run.id, this.#runtime, toSource(run));
    } catch (error) {
      if (error instanceof RLMError) return new SDKRun(id, this.#runtime, Promise.reject(error));
      throw error;
    }
  }

  async #startLater(
    id: RunId,
    receiving: Promise<ReceivedContext>,
    start: (context: Context) => LiveRun,
  ): Promise<RunSource> {
    const received = await receiving;
    try {
      const source = toSource(start(received.context));
      void this.#runtime.runs.settled(id).finally(() => void received[Symbol.asyncDispose]());
      return source;
    } catch (error) {
      await received[Symbol.asyncDispose]();
      throw error;
    }
  }
}
