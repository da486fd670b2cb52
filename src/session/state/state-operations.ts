// What a session does with its state as a whole, besides running code: set a variable, save, begin with a saved state.

import type { KernelSettings } from "../kernels/kernels.ts";
import type { Runner } from "../execution/runner.ts";
import type { LoadReport } from "../../protocol/session-manifest.ts";
import { loadState, saveState, type SaveReport, type StateReader, type StateWriter } from "./save-state.ts";
import { setVariable, toSetting, type VariableValue } from "./set-variable.ts";
import { stoppable, toLimits, type OperationOptions } from "../kernels/interruptible.ts";

export interface StateSettings extends KernelSettings {
  readonly defaultTimeoutMs: number | null;
  /** Opens the place where a state is to be kept. Throws what keeps it from that. */
  readonly openStateWriter: (path: string) => StateWriter;
}

/** A state that a session begins with. */
export interface Restoring extends OperationOptions {
  readonly reader: StateReader;
}

type Stopped = () => string | undefined;

/** The kernel may take a state to be this much more than its memory: characters take more bytes in UTF-8, views are copied. */
const MAX_GROWTH = 2;

export class StateOperations {
  readonly #settings: StateSettings;
  readonly #runner: Runner;

  constructor(settings: StateSettings, runner: Runner) {
    this.#settings = settings;
    this.#runner = runner;
  }

  set(name: string, value: VariableValue, options: OperationOptions): Promise<void> {
    const setting = toSetting(name, value);
    const { id } = this.#settings;
    return this.#ask(options, (stopped) => setVariable(this.#runner.kernels.current, setting, id, stopped));
  }

  save(path: string, options: OperationOptions): Promise<SaveReport> {
    if (typeof path !== "string") throw new TypeError(`Cannot save to a ${typeof path}: give a path`);
    if (path === "") throw new RangeError("Cannot save to '': give a path");
    const { id, sandboxOptions, openStateWriter } = this.#settings;
    const maxBytes = MAX_GROWTH * sandboxOptions.limits.memoryBytes;
    return this.#ask(options, (stopped) =>
      saveState(this.#runner.kernels.current, path, () => openStateWriter(path), { sessionId: id, stopped, maxBytes }),
    );
  }

  /** Before anything else is done with the session. */
  restore({ reader, ...options }: Restoring): Promise<LoadReport> {
    const kernel = this.#runner.kernels.current;
    return stoppable(kernel, this.#limits(options), (stopped) =>
      loadState(kernel, reader, { sessionId: this.#settings.id, stopped }),
    );
  }

  #ask<T>(options: OperationOptions, work: (stopped: Stopped) => Promise<T>): Promise<T> {
    const limits = this.#limits(options);
    return this.#runner.operate(() => stoppable(this.#runner.kernels.current, limits, work), limits.signal);
  }

  #limits(options: OperationOptions): ReturnType<typeof toLimits> {
    return toLimits(options, this.#settings.defaultTimeoutMs);
  }
}
