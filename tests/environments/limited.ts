// An environment that can only run code: local sandboxes without fork, checkpoint, shell, watches, and inspection while code runs.

import type { Capabilities } from "../../src/protocol/capabilities.ts";
import type {
  Environment,
  EnvironmentOptions,
  EnvironmentReport,
  Job,
  Sandbox,
  SandboxOptions,
  SandboxUsage,
  Worker,
} from "../../src/environments/environment.ts";
import { Environments } from "../../src/environments/environments.ts";
import { Runtime } from "../../src/runtime.ts";
import { toEnvironmentOptions, toRuntimeSettings } from "../../src/runtime-options.ts";
import { Sessions } from "../../src/session/sessions.ts";
import { PYTHON } from "../open.ts";
import { LOCAL_CAPABILITIES, openLocal } from "./open-local.ts";

export const LIMITED: Capabilities = {
  ...LOCAL_CAPABILITIES,
  fork: false,
  checkpoint: false,
  shell: false,
  watch: false,
  inspectWhileRunning: false,
};

/** A runtime whose sessions run in it. */
export function openLimitedRuntime(): Runtime {
  const settings = toRuntimeSettings({ python: PYTHON, preload: [], poolSize: 0 });
  const options = toEnvironmentOptions(settings, { onLessMemory: () => {} });
  const environments = new Environments((given) => new LimitedEnvironment(given), options);
  return new Runtime(settings, new Sessions(10, Number.MAX_SAFE_INTEGER, "short"), environments);
}

export class LimitedEnvironment implements Environment {
  readonly name = "limited";
  readonly capabilities = LIMITED;
  readonly #local: Environment;

  constructor(options: Partial<EnvironmentOptions> = {}) {
    this.#local = openLocal(options);
  }

  async openSandbox(options: SandboxOptions): Promise<Sandbox> {
    return new LimitedSandbox(await this.#local.openSandbox(options));
  }

  get tier(): string | null {
    return this.#local.tier;
  }

  report(): EnvironmentReport {
    return { ...this.#local.report(), name: this.name, capabilities: this.capabilities };
  }

  warm = (): Promise<void> => this.#local.warm();
  refill = (): void => this.#local.refill();
  close = (): Promise<void> => this.#local.close();
  [Symbol.asyncDispose] = (): Promise<void> => this.close();
}

class LimitedSandbox implements Sandbox {
  readonly #local: Sandbox;

  constructor(local: Sandbox) {
    this.#local = local;
  }

  get worker(): Worker {
    return this.#local.worker;
  }

  get folder(): string {
    return this.#local.folder;
  }

  restart = (): Promise<Worker> => this.#local.restart();
  startJob = (): Promise<Job> => this.#local.startJob();
  usage = (): Promise<SandboxUsage | null> => this.#local.usage();
  close = (): Promise<void> => this.#local.close();
}
