// Which models may be asked by name: by the code of a run, and by clients of a server.
//
// Neither may use another provider for which the host has a key. They may choose the models that have a name, those of the roles, and all
// models of backends that answer for a role.

import { BackendConnectionError } from "../../errors.ts";
import type { DefinedModel, Models } from "../ports.ts";

/** Of one run. Everything that is kept by model is bounded by it. */
const MAX_MODELS = 100;
const MAX_LISTED = 20;
/** In characters. */
const MAX_SHOWN = 100;

type KnownModels = Pick<Models, "defined" | "sharesBackend" | "backendOf">;

export class ModelChoice {
  /** Those of the roles, then those that have a name. */
  readonly names: readonly string[];
  /** Those that have a name. */
  readonly defined: readonly DefinedModel[];
  readonly #roles: readonly string[];
  readonly #models: KnownModels;
  readonly #maxModels: number;
  readonly #chosen = new Set<string>();

  /** `maxModels` is how many others may be asked. */
  constructor(roles: readonly string[], models: KnownModels, maxModels = MAX_MODELS) {
    this.names = [...new Set([...roles, ...models.defined.map(({ name }) => name)])];
    this.defined = models.defined;
    this.#roles = roles;
    this.#models = models;
    this.#maxModels = maxModels;
  }

  /** Throws a BackendConnectionError (`configuration`) where it may not be asked. */
  check(name: string): void {
    const why = this.whyNot(name);
    if (why === undefined) return;
    const backend = name.slice(0, MAX_SHOWN);
    throw new BackendConnectionError({ backend, fault: "configuration", why, retryable: false });
  }

  /** Undefined: it may be asked. */
  whyNot(name: string): string | undefined {
    if (this.names.includes(name) || this.#chosen.has(name)) return undefined;
    if (!this.#models.sharesBackend(name, this.#roles)) return this.#describe();
    if (this.#chosen.size >= this.#maxModels) return `${this.#maxModels} other models were asked for already`;
    this.#chosen.add(name);
    return undefined;
  }

  #describe(): string {
    const listed = this.names.slice(0, MAX_LISTED).map((name) => `'${name}'`);
    const more = this.names.length > MAX_LISTED ? ` and ${this.names.length - MAX_LISTED} more` : "";
    const open = this.#roles.filter((role) => this.#models.sharesBackend(role, [role]));
    const backends = [...new Set(open.map((role) => this.#models.backendOf(role)))];
    const others = backends.length === 0 ? "" : `, and all models of ${backends.join(", ")}`;
    return `the models to choose from are ${listed.join(", ")}${more}${others}`;
  }
}
