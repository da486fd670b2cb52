// The models of an RLM by name: model objects, and everything else from backends, each of which is opened with its first call.

import { randomUUID } from "node:crypto";
import type { ModelSettings } from "../../api/models.ts";
import type { Backend, BackendRequest, ModelFacts, ModelPrice } from "../../backends/backend.ts";
import type { CallOptions, CallOutcome } from "../../backends/dispatch/call.ts";
import type { Dispatcher } from "../../backends/dispatch/dispatcher.ts";
import { factsFromTables, mergeFacts, type KnownFacts } from "../../backends/models/model-facts.ts";
import type { TableLookup } from "../../backends/models/price-table.ts";
import { environmentSecrets } from "../../backends/environment-secrets.ts";
import { resolveModel, suggestModel } from "../../backends/models/resolve-model.ts";
import { priceOf } from "../../backends/prices.ts";
import { addressOf, type LanguageModel } from "../../backends/providers/language-model.ts";
import { LanguageModelBackend } from "../../backends/providers/language-model-backend.ts";
import { BackendConnectionError } from "../../errors.ts";
import { NO_USAGE } from "../../protocol/usage.ts";
import { omitUndefined } from "../../util/omit-undefined.ts";
import { ModelBackends, type BackendKey, type ModelBackendsOptions } from "./model-backends.ts";
import type { DefinedModel, Models } from "../ports.ts";
import type { ModelLocation } from "../strategy/choose-strategy.ts";
import type { NamedModel } from "./model-names.ts";

export interface BackendModelsOptions extends ModelBackendsOptions {
  /** By the name that the run has for each: definitions, and the model objects of roles. */
  readonly named?: ReadonlyMap<string, NamedModel>;
  /** Of models that do not have their own. */
  readonly settings?: ModelSettings;
  readonly prices?: Readonly<Record<string, ModelPrice>> | undefined;
}

/** What answers for a name. */
type Found = { readonly settings: ModelSettings } & (
  | {
      readonly object: LanguageModel;
      readonly backend: Backend;
      /** Random where the object does not show its address: its answers are then cached for these models alone. */
      readonly address: string;
    }
  | { readonly object?: undefined; readonly key: BackendKey; readonly model: string }
);

/** Names may come from code. */
const MAX_NAMES = 1_000;

export class BackendModels implements Models {
  readonly defined: readonly DefinedModel[];
  readonly #settings: ModelSettings;
  readonly #prices: BackendModelsOptions["prices"];
  readonly #backends: ModelBackends;
  readonly #backendNames: ModelBackendsOptions["backends"];
  readonly #dispatcher: Dispatcher;
  readonly #named: ReadonlyMap<string, Found>;
  /** Others, which were asked for by the names that their providers have for them. */
  readonly #plain = new Map<string, Found>();
  readonly #tableFacts = new Map<string, Promise<KnownFacts>>();
  readonly #priceByName = new Map<string, Promise<ModelPrice | undefined>>();

  constructor(options: BackendModelsOptions, dispatcher: Dispatcher) {
    const { named = new Map<string, NamedModel>(), settings = {}, prices, ...backends } = options;
    this.#settings = settings;
    this.#prices = prices;
    this.#backends = new ModelBackends(backends);
    this.#backendNames = backends.backends;
    this.#dispatcher = dispatcher;
    this.defined = [...named].flatMap(([name, { description, isDefined }]) =>
      isDefined ? [{ name, description }] : [],
    );
    this.#named = new Map([...named].map(([name, one]) => [name, this.#toFound(name, one)]));
  }

  /** Rejects where the backend of one of them cannot be used: an unknown name, a missing key. */
  async open(models: readonly string[]): Promise<void> {
    for (const model of models) {
      const found = this.#find(model);
      if (found.object === undefined) await this.#openFor(model, found.key);
    }
  }

  /** A misspelt name goes to the provider of unknown names, whose key may be missing. */
  async #openFor(model: string, key: BackendKey): Promise<void> {
    try {
      await this.#backends.open(key);
    } catch (error) {
      const models = Object.fromEntries(this.defined.map(({ name }) => [name, { model: name }]));
      const names = { models, backends: this.#backendNames ?? {}, hasBackend: this.#backends.hasChosen };
      const near = suggestModel(model, names);
      if (near === undefined || !(error instanceof BackendConnectionError)) throw error;
      const backend = this.#backends.nameOf(key);
      const why = `${error.message.replace(/^Cannot get an answer from [^:]*: /, "")}. Or did you mean the model '${near}'?`;
      throw new BackendConnectionError({ backend, fault: error.fault, why, retryable: false }, { cause: error });
    }
  }

  scopeOf(model: string): string {
    const found = this.#find(model);
    if (found.object !== undefined) return `${found.object.provider} ${found.object.modelId} ${found.address}`;
    const { key } = found;
    return `${this.#backends.nameOf(key)} ${this.#backends.baseUrlOf(key) ?? ""} ${found.model}`;
  }

  /** Keys, which must appear nowhere. Those of model objects are not known; they are usually in the environment. */
  secretsOf(models: readonly string[]): readonly string[] {
    const found = [...models, ...this.#named.keys()].map((name) => this.#find(name));
    const keys = new Set(found.flatMap((one) => (one.object === undefined ? [one.key] : [])));
    const configured = [...keys].flatMap((key) => this.#backends.secretsOf(key));
    return found.some(({ object }) => object !== undefined) ? [...configured, ...environmentSecrets()] : configured;
  }

  backendOf(model: string): string {
    const found = this.#find(model);
    return found.object === undefined ? this.#backends.nameOf(found.key) : found.backend.name;
  }

  settingsOf(model: string): ModelSettings {
    return this.#find(model).settings;
  }

  sharesBackend(model: string, others: readonly string[]): boolean {
    const found = this.#find(model);
    if (found.object !== undefined || this.#isScript(found)) return false;
    const isSame = (other: Found): boolean => other.object === undefined && other.key === found.key;
    return found.key === null || others.some((other) => isSame(this.#find(other)));
  }

  /** Whether a script answers, in a file or in a program. */
  isScripted(model: string): boolean {
    const found = this.#find(model);
    return found.object === undefined && this.#backends.isScripted(found.key);
  }

  #isScript(found: Found): boolean {
    return found.object === undefined && this.#backends.typeOf(found.key) === "scripted";
  }

  /** What its strategy depends on. */
  locationOf(model: string): ModelLocation {
    const { object } = this.#find(model);
    const { backend, model: id, baseUrl } = this.#lookUp(model);
    return { model: id, backend, baseUrl: object === undefined ? baseUrl : addressOf(object) };
  }

  call(request: BackendRequest, options: CallOptions): Promise<CallOutcome> {
    const found = this.#find(request.model);
    if (found.object !== undefined) {
      return this.#dispatcher.call(found.backend, { ...request, model: found.object.modelId }, options);
    }
    const own = found.model === request.model ? request : { ...request, model: found.model };
    const backend = this.#backends.opened(found.key);
    return backend === undefined
      ? this.#openAndCall(found.key, own, options)
      : this.#dispatcher.call(backend, own, options);
  }

  async #openAndCall(key: BackendKey, request: BackendRequest, options: CallOptions): Promise<CallOutcome> {
    try {
      return await this.#dispatcher.call(await this.#backends.open(key), request, options);
    } catch (error) {
      return { ok: false, error, usage: NO_USAGE, attempts: 0 };
    }
  }

  priceOf(model: string): Promise<ModelPrice | undefined> {
    const price = this.#priceByName.get(model) ?? this.#lookUpPrice(model);
    return remember(this.#priceByName, model, price);
  }

  async factsOf(model: string): Promise<KnownFacts> {
    const tables = this.#tableFacts.get(model) ?? this.#lookUpFacts(model);
    const { contextWindow, maxOutputTokens } = this.settingsOf(model);
    const configured = omitUndefined({ contextWindow, maxOutputTokens });
    const learned = this.#learnedOf(this.#find(model));
    return mergeFacts({ configured, learned, tables: await remember(this.#tableFacts, model, tables) });
  }

  /** From what a provider has refused. */
  #learnedOf(found: Found): ModelFacts | undefined {
    if (found.object !== undefined) return found.backend.factsOf?.(found.object.modelId);
    return this.#backends.opened(found.key)?.factsOf?.(found.model);
  }

  #lookUpFacts(name: string): Promise<KnownFacts> {
    const { backend, model, ...lookup } = this.#lookUp(name);
    return factsFromTables(backend, model, { ...lookup, address: this.locationOf(name).baseUrl });
  }

  /** The user's price may be for the name in the run, for the backend and the model, or for the model alone. */
  async #lookUpPrice(name: string): Promise<ModelPrice | undefined> {
    const prices = this.#prices ?? {};
    const { backend, model, ...lookup } = this.#lookUp(name);
    const own = [name, `${this.backendOf(name)}/${model}`].find((key) => Object.hasOwn(prices, key));
    return own === undefined ? priceOf(backend, model, { prices, ...lookup }) : prices[own];
  }

  /** Where the model is found in tables. */
  #lookUp(name: string): TableLookup & { readonly backend: string; readonly model: string } {
    const found = this.#find(name);
    if (found.object !== undefined) {
      const { provider: backend, modelId: model } = found.object;
      const [provider = ""] = backend.split(".");
      return { backend, model, provider };
    }
    const { key, model } = found;
    const backend = this.#backends.typeOf(key) ?? this.#backends.nameOf(key);
    const baseUrl = this.#backends.baseUrlOf(key);
    return { backend, model, ...omitUndefined({ baseUrl }) };
  }

  #find(name: string): Found {
    return this.#named.get(name) ?? remember(this.#plain, name, this.#plain.get(name) ?? this.#toFound(name));
  }

  #toFound(name: string, named?: NamedModel): Found {
    const settings = { ...this.#settings, ...named?.settings };
    if (named?.object !== undefined) {
      const { object } = named;
      const address = addressOf(object) ?? randomUUID();
      return { settings, object, backend: new LanguageModelBackend(object), address };
    }
    const { backend, model } = resolveModel(name, {
      models: named === undefined ? {} : { [name]: named },
      backends: this.#backendNames ?? {},
      hasBackend: this.#backends.hasChosen,
    });
    return { settings, key: this.#backends.toKey(backend), model };
  }
}

/** Bounded: what is forgotten is made again. */
function remember<Value>(known: Map<string, Value>, name: string, value: Value): Value {
  if (!known.has(name) && known.size >= MAX_NAMES) known.clear();
  known.set(name, value);
  return value;
}
