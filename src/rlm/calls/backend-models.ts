// The models of one backend, as the orchestrator asks them. The backend is loaded with the first call.

import type { Backend, BackendRequest, ModelPrice } from "../../backends/backend.ts";
import type { CallOptions, CallOutcome } from "../../backends/dispatch/call.ts";
import type { Dispatcher } from "../../backends/dispatch/dispatcher.ts";
import { baseUrlOf, openBackend, secretsOf, type BackendOptions } from "../../backends/open-backend.ts";
import { priceOf } from "../../backends/prices.ts";
import { NO_USAGE } from "../../backends/usage.ts";
import type { Models } from "../ports.ts";

export interface BackendModelsOptions extends BackendOptions {
  /** A name, or one of one's own. */
  readonly backend: string | Backend;
  readonly prices?: Readonly<Record<string, ModelPrice>>;
}

export class BackendModels implements Models {
  readonly #options: BackendModelsOptions;
  readonly #dispatcher: Dispatcher;
  readonly #prices = new Map<string, Promise<ModelPrice | undefined>>();
  #backend: Promise<Backend> | undefined;
  #opened: Backend | undefined;

  constructor(options: BackendModelsOptions, dispatcher: Dispatcher) {
    this.#options = options;
    this.#dispatcher = dispatcher;
  }

  /** Rejects where it cannot be used: an unknown name, a missing key. */
  open(): Promise<Backend> {
    const { backend, prices: _, ...options } = this.#options;
    this.#backend ??= typeof backend === "string" ? openBackend(backend, options) : Promise.resolve(backend);
    return this.#backend;
  }

  get scope(): string {
    return `${this.backendOf()} ${this.#baseUrl() ?? ""}`;
  }

  /** Keys, which nobody is told. */
  get secrets(): readonly string[] {
    const { backend: _, prices: __, ...options } = this.#options;
    return secretsOf(this.backendOf(), options);
  }

  backendOf(): string {
    const { backend } = this.#options;
    return typeof backend === "string" ? backend : backend.name;
  }

  call(request: BackendRequest, options: CallOptions): Promise<CallOutcome> {
    if (this.#opened === undefined) return this.#openAndCall(request, options);
    return this.#dispatcher.call(this.#opened, request, options);
  }

  async #openAndCall(request: BackendRequest, options: CallOptions): Promise<CallOutcome> {
    try {
      this.#opened = await this.open();
      return await this.#dispatcher.call(this.#opened, request, options);
    } catch (error) {
      return { ok: false, error, usage: NO_USAGE, attempts: 0 };
    }
  }

  priceOf(model: string): Promise<ModelPrice | undefined> {
    let price = this.#prices.get(model);
    if (price === undefined) {
      const { prices } = this.#options;
      const baseUrl = this.#baseUrl();
      price = priceOf(this.backendOf(), model, {
        ...(prices && { prices }),
        ...(baseUrl !== undefined && { baseUrl }),
      });
      this.#prices.set(model, price);
    }
    return price;
  }

  /** Whose prices hold is known by the address. Undefined: it has none. */
  #baseUrl(): string | undefined {
    const { backend, prices: _, ...options } = this.#options;
    try {
      return typeof backend === "string" ? baseUrlOf(backend, options) : undefined;
    } catch {
      return undefined; // told when the backend is opened
    }
  }
}
