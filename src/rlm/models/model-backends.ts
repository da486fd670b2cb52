// The backends of an RLM by name: each is opened once, with the first call that needs it.

import type { BackendDefinition } from "../../api/models.ts";
import type { Backend } from "../../backends/backend.ts";
import { baseUrlOf, openBackend, secretsOf, type BackendOptions } from "../../backends/open-backend.ts";
import { BACKENDS } from "../../backends/provider-table.ts";
import { omitUndefined } from "../../util/omit-undefined.ts";

export interface ModelBackendsOptions extends Omit<BackendOptions, "name"> {
  /** The one that was chosen for all models without a backend of their own. Undefined, without an address: none was. */
  readonly backend?: string | Backend | undefined;
  /** By name, beside the built-in ones. */
  readonly backends?: Readonly<Record<string, BackendDefinition | Backend>> | undefined;
}

/** The name of a backend. Null: the chosen one. */
export type BackendKey = string | null;

/** An implementation, or what one is opened with. */
type Entry =
  | { readonly name: string; readonly ready: Backend }
  | { readonly name: string; readonly type: string; readonly options: BackendOptions };

export class ModelBackends {
  readonly #options: ModelBackendsOptions;
  readonly #chosenName: string | undefined;
  readonly #entries = new Map<BackendKey, Entry>();
  readonly #opening = new Map<BackendKey, Promise<Backend>>();
  readonly #opened = new Map<BackendKey, Backend>();

  constructor(options: ModelBackendsOptions) {
    const { backend, baseUrl } = options;
    this.#options = options;
    // Another address is rarely that of OpenAI or Anthropic.
    const byAddress = baseUrl === undefined ? undefined : "openai-compatible";
    this.#chosenName = typeof backend === "object" ? backend.name : (backend ?? byAddress);
  }

  get hasChosen(): boolean {
    return this.#chosenName !== undefined;
  }

  /** The name of the chosen one leads to it, too. */
  toKey(name: BackendKey): BackendKey {
    return name === this.#chosenName ? null : name;
  }

  /** As events and errors have it. */
  nameOf(key: BackendKey): string {
    return this.#find(key).name;
  }

  /** Such as `openai`. Undefined: an implementation of the caller's. */
  typeOf(key: BackendKey): string | undefined {
    const entry = this.#find(key);
    return "ready" in entry ? undefined : entry.type;
  }

  /** Also an implementation that calls itself so. */
  isScripted(key: BackendKey): boolean {
    const entry = this.#find(key);
    return ("ready" in entry ? entry.ready.name : entry.type) === "scripted";
  }

  /** Undefined: not opened yet. */
  opened(key: BackendKey): Backend | undefined {
    const entry = this.#find(key);
    return "ready" in entry ? entry.ready : this.#opened.get(key);
  }

  /** Rejects where it cannot be used: an unknown name, a missing key. */
  async open(key: BackendKey): Promise<Backend> {
    const opening = this.#opening.get(key) ?? this.#open(this.#find(key));
    this.#opening.set(key, opening);
    const backend = await opening;
    this.#opened.set(key, backend);
    return backend;
  }

  /** Undefined: it has none, or one that cannot be used. */
  baseUrlOf(key: BackendKey): string | undefined {
    const entry = this.#find(key);
    if ("ready" in entry) return undefined;
    try {
      return baseUrlOf(entry.type, entry.options);
    } catch {
      return undefined; // reported when the backend is opened
    }
  }

  /** Its key, which must appear nowhere. */
  secretsOf(key: BackendKey): readonly string[] {
    const entry = this.#find(key);
    return "ready" in entry ? [] : secretsOf(entry.type, entry.options);
  }

  async #open(entry: Entry): Promise<Backend> {
    return "ready" in entry ? entry.ready : openBackend(entry.type, entry.options);
  }

  #find(key: BackendKey): Entry {
    const found = this.#entries.get(key) ?? this.#toEntry(key);
    this.#entries.set(key, found);
    return found;
  }

  #toEntry(key: BackendKey): Entry {
    const { backend, backends = {}, baseUrl, apiKey, env, limits } = this.#options;
    if (key === null && typeof backend === "object") return { name: backend.name, ready: backend };
    const name = key ?? this.#chosenName ?? "";
    const defined = Object.hasOwn(backends, name) ? backends[name] : undefined;
    if (defined !== undefined && "stream" in defined) return { name, ready: defined };
    const type = typeOf(name, defined);
    const own = { baseUrl: defined?.baseUrl, apiKey: defined?.apiKey };
    const chosen = key === null ? omitUndefined({ baseUrl, apiKey }) : {};
    return {
      name,
      type,
      options: omitUndefined({ name, env, limits, others: Object.keys(backends), ...own, ...chosen }),
    };
  }
}

/** An undefined name is left for `openBackend` to refuse. */
function typeOf(name: string, defined: BackendDefinition | undefined): string {
  const isUnknown = defined === undefined || BACKENDS.includes(name);
  return defined?.type ?? (isUnknown ? name : "openai-compatible");
}
