// The models of a run by name: model objects, and everything else from one backend, which is opened with the first call.

import { randomUUID } from "node:crypto";
import type { Backend, BackendRequest, ModelFacts, ModelPrice } from "../../backends/backend.ts";
import type { CallOptions, CallOutcome } from "../../backends/dispatch/call.ts";
import type { Dispatcher } from "../../backends/dispatch/dispatcher.ts";
import { baseUrlOf, openBackend, secretsOf, type BackendOptions } from "../../backends/open-backend.ts";
import { factsFromTables, mergeFacts } from "../../backends/models/model-facts.ts";
import type { TableLookup } from "../../backends/models/price-table.ts";
import { priceOf } from "../../backends/prices.ts";
import { environmentSecrets } from "../../backends/environment-secrets.ts";
import { addressOf, type LanguageModel } from "../../backends/providers/language-model.ts";
import { LanguageModelBackend } from "../../backends/providers/language-model-backend.ts";
import { NO_USAGE } from "../../protocol/usage.ts";
import { BackendConnectionError } from "../../errors.ts";
import type { Models } from "../ports.ts";
import type { ModelPlace } from "../strategy/choose-strategy.ts";

export interface BackendModelsOptions extends BackendOptions {
  /** A name, or an implementation by the caller. Undefined: only the model objects can be called. */
  readonly backend: string | Backend | undefined;
  /** By the name that the run has for each. */
  readonly objects?: ReadonlyMap<string, LanguageModel>;
  readonly prices?: Readonly<Record<string, ModelPrice>>;
}

interface NamedObject {
  readonly object: LanguageModel;
  readonly backend: Backend;
  /** Random where the object does not show its address: its answers are then cached for these models alone. */
  readonly address: string;
}

export class BackendModels implements Models {
  readonly #backendOptions: BackendOptions;
  readonly #configured: string | Backend | undefined;
  readonly #userPrices: Pick<BackendModelsOptions, "prices">;
  readonly #objects: ReadonlyMap<string, NamedObject>;
  readonly #dispatcher: Dispatcher;
  readonly #prices = new Map<string, Promise<ModelPrice | undefined>>();
  readonly #tableFacts = new Map<string, Promise<ModelFacts>>();
  #backend: Promise<Backend> | undefined;
  #opened: Backend | undefined;

  constructor({ backend, objects, prices, ...options }: BackendModelsOptions, dispatcher: Dispatcher) {
    this.#backendOptions = options;
    this.#configured = backend;
    this.#userPrices = prices === undefined ? {} : { prices };
    const named = [...(objects ?? [])].map(([name, object]) => {
      const address = addressOf(object) ?? randomUUID();
      return [name, { object, backend: new LanguageModelBackend(object), address }] as const;
    });
    this.#objects = new Map(named);
    this.#dispatcher = dispatcher;
  }

  /** Rejects where the backend cannot be used: an unknown name, a missing key. */
  async open(): Promise<void> {
    if (this.#configured !== undefined) this.#opened = await this.#openBackend(this.#configured);
  }

  scopeOf(model: string): string {
    const named = this.#objects.get(model);
    if (named === undefined) return `${this.backendOf(model)} ${this.#baseUrl() ?? ""}`;
    return `${named.object.provider} ${named.object.modelId} ${named.address}`;
  }

  /** Keys, which must appear nowhere. Those of model objects are not known; they are usually in the environment. */
  get secrets(): readonly string[] {
    const configured = secretsOf(toName(this.#configured), this.#backendOptions);
    return this.#objects.size === 0 ? configured : [...configured, ...environmentSecrets()];
  }

  backendOf(model: string): string {
    return this.#objects.get(model)?.backend.name ?? toName(this.#configured);
  }

  /** What its strategy depends on. */
  placeOf(model: string): ModelPlace {
    const { backend, name, baseUrl } = this.#lookUp(model);
    const object = this.#objects.get(model)?.object;
    return { model: name, backend, baseUrl: object === undefined ? baseUrl : addressOf(object) };
  }

  call(request: BackendRequest, options: CallOptions): Promise<CallOutcome> {
    const backend = this.#objects.get(request.model)?.backend ?? this.#opened;
    if (backend === undefined) return this.#openAndCall(request, options);
    return this.#dispatcher.call(backend, request, options);
  }

  async #openAndCall(request: BackendRequest, options: CallOptions): Promise<CallOutcome> {
    try {
      if (this.#configured === undefined) throw this.#unknown(request.model);
      this.#opened = await this.#openBackend(this.#configured);
      return await this.#dispatcher.call(this.#opened, request, options);
    } catch (error) {
      return { ok: false, error, usage: NO_USAGE, attempts: 0 };
    }
  }

  #openBackend(configured: string | Backend): Promise<Backend> {
    this.#backend ??=
      typeof configured === "string" ? openBackend(configured, this.#backendOptions) : Promise.resolve(configured);
    return this.#backend;
  }

  #unknown(model: string): BackendConnectionError {
    const known = [...this.#objects.keys()].map((name) => `'${name}'`).join(", ");
    const why = `the models of this run are ${known}. Set 'backend' to ask others by name`;
    return new BackendConnectionError({ backend: model, fault: "configuration", why, retryable: false });
  }

  priceOf(model: string): Promise<ModelPrice | undefined> {
    let price = this.#prices.get(model);
    if (price === undefined) {
      price = this.#lookUpPrice(model);
      this.#prices.set(model, price);
    }
    return price;
  }

  async factsOf(model: string): Promise<ModelFacts> {
    let tables = this.#tableFacts.get(model);
    if (tables === undefined) {
      const { backend, name, ...lookup } = this.#lookUp(model);
      tables = factsFromTables(backend, name, lookup);
      this.#tableFacts.set(model, tables);
    }
    const backend = this.#objects.get(model)?.backend ?? this.#opened;
    return mergeFacts({ learned: backend?.factsOf?.(model), tables: await tables });
  }

  #lookUpPrice(model: string): Promise<ModelPrice | undefined> {
    const { backend, name, ...lookup } = this.#lookUp(model);
    return priceOf(backend, name, { ...this.#userPrices, ...lookup });
  }

  /** Where the model is found in tables. */
  #lookUp(model: string): TableLookup & { readonly backend: string; readonly name: string } {
    const object = this.#objects.get(model)?.object;
    if (object !== undefined) {
      const [provider = ""] = object.provider.split(".");
      return { backend: object.provider, name: object.modelId, provider };
    }
    const baseUrl = this.#baseUrl();
    return { backend: this.backendOf(model), name: model, ...(baseUrl !== undefined && { baseUrl }) };
  }

  /** The address decides whose prices apply. Undefined: there is none. */
  #baseUrl(): string | undefined {
    try {
      return typeof this.#configured === "string" ? baseUrlOf(this.#configured, this.#backendOptions) : undefined;
    } catch {
      return undefined; // reported when the backend is opened
    }
  }
}

function toName(backend: string | Backend | undefined): string {
  return typeof backend === "object" ? backend.name : (backend ?? "none");
}
