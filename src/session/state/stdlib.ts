// The user's standard library: functions that every later session has.
//
// Its source is only ever compiled and run in a sandbox, also to add to it and to list it.

import { StdlibError } from "../../errors.ts";
import type { StdlibFunction, StdlibListing } from "../../protocol/sessions.ts";
import type { HostCommand } from "../../protocol/worker/host-messages.ts";
import type { StatusEvent } from "../../protocol/worker/worker-events.ts";
import type { ActiveWork } from "../../util/async/active-work.ts";
import type { Kernels } from "../kernels/kernels.ts";
import { toError } from "../kernels/stdlib-loader.ts";

export interface StdlibSource {
  readonly path: string;
  /** Undefined: there is none. Throws when the file cannot be used. */
  read(): string | undefined;
  forget(): void;
  update(change: (source: string) => Promise<string>): Promise<void>;
}

/** Code of the user runs in it. It is generous, because a machine can be busy. */
const LIMIT_MS = 20_000;

export class StandardLibrary {
  readonly #source: StdlibSource;
  readonly #openKernels: () => Promise<Kernels>;
  readonly #activeWork: ActiveWork;

  /** `openKernels` opens a sandbox without a standard library. */
  constructor(source: StdlibSource, openKernels: () => Promise<Kernels>, activeWork: ActiveWork) {
    this.#source = source;
    this.#openKernels = openKernels;
    this.#activeWork = activeWork;
  }

  /** The file; it need not exist. */
  get path(): string {
    return this.#source.path;
  }

  /** Adds Python source and returns the names that it defines. Functions and classes of the same name are replaced. */
  async add(source: string): Promise<readonly string[]> {
    if (typeof source !== "string") throw new TypeError(`Cannot add a ${typeof source} to the standard library`);
    let names: readonly string[] = [];
    try {
      await this.#source.update(async (old) => {
        const { data, error } = await this.#request({ cmd: "stdlib-add", source: old, added: source });
        if (error !== undefined) throw new StdlibError({ action: "add to", why: error.value || error.name });
        if (typeof data?.["source"] !== "string")
          throw new StdlibError({ action: "add to", why: "the worker sent an invalid reply" });
        names = toTexts(data["names"]);
        return data["source"];
      });
    } catch (error) {
      if (error instanceof StdlibError || !(error instanceof Error)) throw error;
      throw new StdlibError({ action: "add to", why: error.message }, { cause: error });
    }
    return names;
  }

  /** Lists what it defines, by running it in a sandbox of its own. Throws a StdlibError when it is broken. */
  async list(): Promise<StdlibListing> {
    const source = this.#read();
    if (source === undefined) return { functions: [], modules: [], other: [] };
    const status = await this.#request({ cmd: "stdlib", source, describe: true });
    const error = toError(status);
    if (error !== null) throw new StdlibError({ action: "list", why: `${error.name}: ${error.value}` });
    const { functions, modules, other } = status.data ?? {};
    return { functions: toFunctions(functions), modules: toTexts(modules), other: toTexts(other) };
  }

  /** Forgets the cached source, for sessions opened from now on. A changed file is noticed without this. */
  reload(): void {
    this.#source.forget();
  }

  #read(): string | undefined {
    try {
      return this.#source.read();
    } catch (error) {
      throw new StdlibError({ action: "list", why: (error as Error).message }, { cause: error });
    }
  }

  #request(command: HostCommand): Promise<StatusEvent> {
    return this.#activeWork.during(() => this.#send(command));
  }

  async #send(command: HostCommand): Promise<StatusEvent> {
    const kernels = await this.#openKernels();
    try {
      const status = await kernels.current.request(command, { limitMs: LIMIT_MS });
      if (status !== undefined) return status;
      throw new StdlibError({ action: "use", why: "the worker was lost over it" });
    } finally {
      void kernels.close();
    }
  }
}

function toTexts(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((entry): entry is string => typeof entry === "string") : [];
}

function toFunctions(value: unknown): StdlibFunction[] {
  if (!Array.isArray(value)) return [];
  return (value as (Readonly<Record<string, unknown>> | null)[]).flatMap((entry) => {
    if (entry === null) return [];
    const [name, signature, doc] = toTexts([entry["name"], entry["signature"], entry["doc"]]);
    return name === undefined || signature === undefined || doc === undefined ? [] : [{ name, signature, doc }];
  });
}
