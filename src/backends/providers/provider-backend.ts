// OpenAI, Anthropic and everything that speaks like OpenAI.
//
// One HTTP request for a call, no retries but one: a setting that a model says it does not have (temperature, an effort, a schema for
// the answer) is left out, at once and from then on. Leaving the iteration, or aborting, ends the request.

import { BackendConnectionError } from "../../errors.ts";
import { onAbort } from "../../util/async/on-abort.ts";
import type { Backend, BackendRequest, StreamPart } from "../backend.ts";
import { readEvents } from "./event-stream.ts";
import { toFault } from "./faults.ts";
import type { Speaker } from "./faults.ts";
import { HTTPClient } from "./http-client.ts";
import { loadModel } from "./provider-models.ts";
import { createEventReader } from "./provider-events.ts";
import type { CallOptions, LanguageModel, ProviderName } from "./provider-models.ts";
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
  readonly #client = new HTTPClient();
  readonly #models = new Map<string, Promise<LanguageModel>>();
  readonly #watches = new WeakMap<AbortSignal, Watch>();

  constructor(name: ProviderName, settings: ProviderSettings) {
    this.name = name;
    this.#settings = settings;
    this.#speaker = { backend: name, secrets: settings.apiKey === null ? [] : [settings.apiKey] };
  }

  async *stream(request: BackendRequest, options: { readonly signal: AbortSignal }): AsyncGenerator<StreamPart> {
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

  async *#parts(request: BackendRequest, watch: Watch, signal: AbortSignal): AsyncGenerator<StreamPart> {
    const reader = createEventReader(this.name);
    const body = await this.#send(request, watch, signal);
    for await (const event of readEvents(body, (bytes) => watch.received(bytes))) {
      for (const part of reader.read(event)) {
        if (part.type.endsWith("-delta")) watch.answering();
        yield part;
        if (part.type === "end") return;
      }
    }
    signal.throwIfAborted();
    const rest = reader.finish();
    if (rest.length > 0) return yield* rest;
    const why = "the answer broke off before its end";
    throw new BackendConnectionError({ backend: this.name, fault: "connection", why, retryable: true });
  }

  async #send(request: BackendRequest, watch: Watch, signal: AbortSignal): Promise<ReadableStream<Uint8Array>> {
    const model = await this.#modelOf(request.model);
    this.#watches.set(signal, watch);
    const ask = (): Promise<ReadableStream<Uint8Array>> =>
      bodyOf(model, { ...toCallOptions(this.name, request, this.#refusedBy(request.model)), abortSignal: signal });
    try {
      return await ask();
    } catch (error) {
      if (signal.aborted || !this.#learn(request, toFault(error, this.#speaker))) throw error;
      return ask();
    }
  }

  /** Kept, because making one costs more than a request. */
  #modelOf(name: string): Promise<LanguageModel> {
    const known = this.#models.get(name);
    if (known !== undefined) return known;
    const { apiKey, baseUrl } = this.#settings;
    const model = loadModel(this.name, name, { apiKey, baseUrl, fetch: this.#fetch });
    if (this.#models.size >= MAX_REMEMBERED_MODELS) this.#models.clear();
    this.#models.set(name, model);
    return model;
  }

  /** The library passes on the signal that it was given, which is how a request finds its watch. */
  readonly #fetch: typeof globalThis.fetch = async (input, init) => {
    const watch = init?.signal ? this.#watches.get(init.signal) : undefined;
    if (watch === undefined) throw new TypeError("Cannot make a request that nobody watches");
    const response = await watch.fetch(this.#client, input, init);
    if (response.ok && response.body !== null) throw new Answered(response.body);
    return response;
  };

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

/** Carries an answer past the library, which makes the request and the errors, and is not needed to read it. */
class Answered extends Error {
  readonly body: ReadableStream<Uint8Array>;
  constructor(body: ReadableStream<Uint8Array>) {
    super("answered");
    this.body = body;
  }
}

async function bodyOf(model: LanguageModel, options: CallOptions): Promise<ReadableStream<Uint8Array>> {
  try {
    await model.doStream(options);
  } catch (error) {
    if (error instanceof Answered) return error.body;
    throw error;
  }
  throw new TypeError("Cannot read the answer: the library did not use our fetch");
}

function refusedSetting(request: BackendRequest, message: string): Refusable | null {
  if (request.temperature !== undefined && /temperature/i.test(message)) return "temperature";
  // A value that is none is a mistake to tell; that there is no such setting is not.
  const isOfEffort = /effort/i.test(message) && !/value|valid|one of|should be|must be/i.test(message);
  if (request.reasoningEffort !== undefined && isOfEffort) return "effort";
  const isOfSchema = /response_?format|json_?schema|output_(config|format)|text\.format|structured output/i.test(
    message,
  );
  return request.schema !== undefined && isOfSchema ? "schema" : null;
}
