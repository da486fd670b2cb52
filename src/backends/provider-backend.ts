// OpenAI, Anthropic and everything that speaks like OpenAI.
//
// One HTTP request for a call, no retries but one: a setting that a model says it does not have (temperature, a schema for the
// answer) is left out, at once and from then on. Leaving the iteration, or aborting, ends the request.

import { BackendConnectionError } from "../errors.ts";
import { onAbort } from "../util/on-abort.ts";
import type { Backend, BackendPart, BackendRequest, InputUsagePart } from "./backend.ts";
import { toFault } from "./faults.ts";
import type { Speaker } from "./faults.ts";
import { loadModel } from "./provider-models.ts";
import type { ProviderName, StreamPart } from "./provider-models.ts";
import { toPart } from "./provider-parts.ts";
import { toCallOptions } from "./provider-request.ts";
import type { Refusable } from "./provider-request.ts";
import { Watch } from "./watched-fetch.ts";
import type { TimeLimits } from "./watched-fetch.ts";

export interface ProviderSettings {
  readonly apiKey: string | null;
  readonly baseUrl: string;
  readonly limits: TimeLimits;
}

/** Ends what may be left of a request. */
const OVER = new Error("The call is over");
const MAX_REMEMBERED_MODELS = 1000;

export class ProviderBackend implements Backend {
  readonly name: ProviderName;
  readonly #settings: ProviderSettings;
  readonly #speaker: Speaker;
  readonly #refused = new Map<string, Set<Refusable>>();

  constructor(name: ProviderName, settings: ProviderSettings) {
    this.name = name;
    this.#settings = settings;
    this.#speaker = { backend: name, secrets: settings.apiKey === null ? [] : [settings.apiKey] };
  }

  async *stream(
    request: BackendRequest,
    options: { readonly signal: AbortSignal },
  ): AsyncGenerator<BackendPart | InputUsagePart> {
    options.signal.throwIfAborted();
    const call = new AbortController();
    const unlisten = onAbort(options.signal, () => call.abort(options.signal.reason));
    const watch = new Watch(call, this.#speaker, this.#settings.limits);
    try {
      yield* this.#parts(request, watch, call.signal);
    } catch (error) {
      options.signal.throwIfAborted();
      // A time limit: whatever the abort made of it on its way, the reason is the fault.
      call.signal.throwIfAborted();
      throw error instanceof BackendConnectionError ? error : toFault(error, this.#speaker);
    } finally {
      unlisten();
      watch.stop();
      call.abort(OVER);
    }
  }

  async *#parts(
    request: BackendRequest,
    watch: Watch,
    signal: AbortSignal,
  ): AsyncGenerator<BackendPart | InputUsagePart> {
    const stream = await this.#open(request, watch, signal);
    for await (const part of stream) {
      if (part.type === "error") throw part.error;
      const told = toPart(part);
      if (told === null) continue;
      if (told === "cut") break;
      if (told.type !== "input-usage") watch.answering();
      yield told;
      if (told.type === "end") return;
    }
    signal.throwIfAborted();
    const why = "the answer broke off before its end";
    throw new BackendConnectionError({ backend: this.name, fault: "connection", why, retryable: true });
  }

  async #open(request: BackendRequest, watch: Watch, signal: AbortSignal): Promise<ReadableStream<StreamPart>> {
    const { apiKey, baseUrl } = this.#settings;
    const model = await loadModel(this.name, request.model, { apiKey, baseUrl, fetch: watch.fetch });
    const ask = async (): Promise<ReadableStream<StreamPart>> => {
      const callOptions = toCallOptions(this.name, request, this.#refusedBy(request.model));
      const { stream } = await model.doStream({ ...callOptions, abortSignal: signal });
      return stream;
    };
    try {
      return await ask();
    } catch (error) {
      if (signal.aborted || !this.#learn(request, toFault(error, this.#speaker))) throw error;
      return ask();
    }
  }

  /** True: the model refused a setting that it is not asked for again. */
  #learn(request: BackendRequest, error: BackendConnectionError): boolean {
    if (error.fault !== "bad-request" || error.status === 404) return false;
    const refused = this.#refusedBy(request.model);
    const setting = refusedSetting(request, error.message);
    if (setting === null || refused.has(setting)) return false;
    if (this.#refused.size >= MAX_REMEMBERED_MODELS) this.#refused.clear();
    this.#refused.set(request.model, new Set([...refused, setting]));
    return true;
  }

  #refusedBy(model: string): ReadonlySet<Refusable> {
    return this.#refused.get(model) ?? new Set<Refusable>();
  }
}

function refusedSetting(request: BackendRequest, message: string): Refusable | null {
  if (request.temperature !== undefined && /temperature/i.test(message)) return "temperature";
  const isOfSchema = /response_?format|json_?schema|output_(config|format)|text\.format|structured output/i.test(
    message,
  );
  return request.schema !== undefined && isOfSchema ? "schema" : null;
}
