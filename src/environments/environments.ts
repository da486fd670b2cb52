// The environments of one runtime, by name and interpreter.
//
// The default one is loaded first, so that its report and its capabilities are there at once; others are loaded when a
// session asks for them. Sandboxes of different environments, or of different interpreters, never share a pool.

import { checkSessionPython } from "../api/checks/check-local.ts";
import type { Environment, EnvironmentOptions } from "./environment.ts";
import { loadEnvironment, type CreateEnvironment } from "./registry.ts";

export class Environments {
  /** The one that sessions use unless they name another. */
  readonly default: Environment;
  readonly #options: EnvironmentOptions;
  readonly #live = new Map<string, Environment>();

  /** Use `load`. */
  constructor(create: CreateEnvironment, options: EnvironmentOptions) {
    this.#options = options;
    this.default = create(options);
    this.#live.set(toKey(this.default.name, options.python), this.default);
  }

  /** Throws EnvironmentUnavailableError for an unknown name. */
  static async load(name: string, options: EnvironmentOptions): Promise<Environments> {
    return new Environments(await loadEnvironment(name), options);
  }

  /** Throws as `load` does, and a RangeError for an interpreter that the environment would not use. Absent: as the default one has it. */
  async obtain(name = this.default.name, wanted?: string): Promise<Environment> {
    checkSessionPython(name, wanted);
    const python = wanted ?? this.#options.python;
    const key = toKey(name, python);
    const live = this.#live.get(key);
    if (live !== undefined) return live;
    const create = await loadEnvironment(name);
    const environment = this.#live.get(key) ?? create({ ...this.#options, python }); // another call may have created it
    this.#live.set(key, environment);
    return environment;
  }

  async close(): Promise<void> {
    await Promise.all([...this.#live.values()].map((environment) => environment.close()));
  }
}

function toKey(name: string, python = ""): string {
  return JSON.stringify([name, python]);
}
