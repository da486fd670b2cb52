// Operations on the state of a session that wait in its queue: set and read a variable, save, restore.

import type { LoadReport, SaveReport } from "../../protocol/session-manifest.ts";
import type { Kernel } from "../../kernel/kernel.ts";
import type { Executor } from "../execution/executor.ts";
import { interruptible, toInterruptLimits, type Interrupted } from "../kernels/interruptible.ts";
import type { KernelSettings } from "../kernels/kernels.ts";
import type { OperationOptions } from "../options.ts";
import { getVariable, toGetCommand, type GetOptions, type TakePiece } from "./get-variable.ts";
import { loadState, saveState, type StateReader, type StateWriter } from "./save-state.ts";
import { setVariable, toSetting, type VariableValue } from "./set-variable.ts";

export interface StateSettings extends KernelSettings {
  readonly defaultTimeoutMs: number | null;
  /** May throw. */
  readonly openStateWriter: (path: string) => StateWriter;
}

/** A state that a session starts with. */
export interface Restoring extends OperationOptions {
  readonly reader: StateReader;
}

/** A saved state may be larger than the memory it came from: text grows in UTF-8, views are copied. */
const MAX_GROWTH = 2;

export class StateOperations {
  readonly #settings: StateSettings;
  readonly #executor: Executor;

  constructor(settings: StateSettings, executor: Executor) {
    this.#settings = settings;
    this.#executor = executor;
  }

  set(name: string, value: VariableValue, options: OperationOptions): Promise<void> {
    const setting = toSetting(name, value);
    const { id: sessionId } = this.#settings;
    return this.#operate(options, (kernel, interrupted) => setVariable(kernel, setting, { sessionId, interrupted }));
  }

  get(name: string, take: TakePiece, options: GetOptions): Promise<void> {
    const command = toGetCommand(name, options);
    const { id: sessionId } = this.#settings;
    return this.#operate(options, (kernel, interrupted) =>
      getVariable(kernel, command, take, { sessionId, interrupted }),
    );
  }

  save(path: string, options: OperationOptions): Promise<SaveReport> {
    if (typeof path !== "string") throw new TypeError(`Cannot save to a ${typeof path}: give a path`);
    if (path === "") throw new RangeError("Cannot save to '': give a path");
    const { id: sessionId, sandboxOptions, openStateWriter } = this.#settings;
    const maxBytes = MAX_GROWTH * sandboxOptions.limits.memoryBytes;
    return this.#operate(options, (kernel, interrupted) =>
      saveState(kernel, path, () => openStateWriter(path), { sessionId, interrupted, maxBytes }),
    );
  }

  /** Must be the first operation of the session. */
  restore({ reader, ...options }: Restoring): Promise<LoadReport> {
    const { id: sessionId, defaultTimeoutMs } = this.#settings;
    const kernel = this.#executor.kernels.current;
    return interruptible(kernel, toInterruptLimits(options, defaultTimeoutMs), (interrupted) =>
      loadState(kernel, reader, { sessionId, interrupted }),
    );
  }

  #operate<T>(options: OperationOptions, work: (kernel: Kernel, interrupted: Interrupted) => Promise<T>): Promise<T> {
    const limits = toInterruptLimits(options, this.#settings.defaultTimeoutMs);
    return this.#executor.operate(() => {
      const kernel = this.#executor.kernels.current;
      return interruptible(kernel, limits, (interrupted) => work(kernel, interrupted));
    }, limits.signal);
  }
}
