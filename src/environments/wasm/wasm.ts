// The `wasm` environment: Python compiled to WebAssembly, one Node process for each session, inside the strongest tier of `local`.
//
// WebAssembly is no wall by itself: code that breaks out of Python has the rights of its process. So the process is confined as every
// other worker is, by the same fork server. Nothing is downloaded here; `rlm env add wasm` does that.

import { EnvironmentUnavailableError } from "../../errors.ts";
import type { Capabilities } from "../../protocol/capabilities.ts";
import { declareCapabilities } from "../capabilities.ts";
import type {
  Environment,
  EnvironmentOptions,
  EnvironmentReport,
  SandboxOptions,
  StrongerTier,
} from "../environment.ts";
import type { GuestProgram } from "../local/fork-server.ts";
import { hasInterpreter } from "../local/interpreter.ts";
import { LocalEnvironment, thisMachine, type Machine } from "../local/local.ts";
import { NoTierError } from "../local/tier.ts";
import { prepareGuest } from "./guest-image.ts";
import { PYODIDE_PYTHON, unavailable } from "./pyodide.ts";
import { SEAT_BELT, SeatBelt } from "./seat-belt/seat-belt.ts";
import { WasmSandbox } from "./wasm-sandbox.ts";

const CAPABILITIES = declareCapabilities({
  fork: false,
  checkpoint: false,
  shell: false,
  processes: false,
  threads: false,
  watch: true,
  inspectWhileRunning: false,
  network: "none",
  packages: "wheels",
  languages: ["python"],
});
const WITHOUT_WATCH = declareCapabilities({ ...CAPABILITIES, watch: false });

export class WasmEnvironment implements Environment {
  readonly name = "wasm";
  readonly #options: EnvironmentOptions;
  readonly #machine: Machine;
  #inner: Promise<Environment> | undefined;
  #live: Environment | undefined;
  #closed = false;

  constructor(options: EnvironmentOptions, machine: Machine = thisMachine()) {
    this.#options = options;
    this.#machine = machine;
  }

  /** Files are watched by the fork server of a tier on Linux. */
  get capabilities(): Capabilities {
    return (this.#live?.capabilities.watch ?? !this.#isTierOutOfReach) ? CAPABILITIES : WITHOUT_WATCH;
  }

  get tier(): string | null {
    return this.#live?.tier ?? null;
  }

  async warm(): Promise<void> {
    await this.#named(async () => (await this.#start()).warm());
  }

  openSandbox(options: SandboxOptions): Promise<WasmSandbox> {
    return this.#named(async () => new WasmSandbox(await (await this.#start()).openSandbox(this.#withWheels(options))));
  }

  refill(): void {
    this.#live?.refill();
  }

  report(): EnvironmentReport {
    const inner = this.#live?.report() ?? EMPTY_REPORT;
    const python = this.#live === undefined ? null : { version: PYODIDE_PYTHON, executable: null };
    const expectedTier = this.#live === undefined && this.#isTierOutOfReach ? SEAT_BELT : undefined;
    return { ...inner, name: this.name, capabilities: this.capabilities, python, expectedTier };
  }

  async close(): Promise<void> {
    this.#closed = true;
    const inner = await this.#inner?.catch(() => undefined);
    await inner?.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  #start(): Promise<Environment> {
    if (this.#closed) throw unavailable("the runtime is closed", "Open another with openRuntime()");
    this.#inner ??= this.#open().catch((error: unknown) => {
      this.#inner = undefined;
      throw error;
    });
    return this.#inner;
  }

  async #open(): Promise<Environment> {
    const { wasm, onProgress = () => {}, poolOptions } = this.#options;
    const guest = await prepareGuest(onProgress, wasm?.wheels ?? null);
    const options = { ...this.#options, preload: [], poolOptions: this.#withWheels(poolOptions) };
    const requested = requestedTier();
    const stronger = requested === SEAT_BELT ? FORCED : await this.#startLocal(options, guest, requested !== undefined);
    this.#live ??= new SeatBelt(options, guest, WITHOUT_WATCH, stronger ?? FORCED);
    return this.#live;
  }

  /**
   * Why this machine has no tier; undefined if it has one. A tier or an interpreter that is asked for is used, or nothing is. What can be put
   * right is thrown: a weaker sandbox must not be the answer to a mistake, or to a machine that was busy.
   */
  async #startLocal(
    options: EnvironmentOptions,
    guest: GuestProgram,
    isForced: boolean,
  ): Promise<StrongerTier | undefined> {
    const local = new LocalEnvironment(options, this.#machine, guest);
    try {
      await local.start();
      this.#live = local;
      return undefined;
    } catch (error) {
      await local.close();
      if (isForced || !(error instanceof NoTierError)) throw error;
      return { why: error.why, fix: error.fix };
    }
  }

  /** What is clear without starting anything. Where tiers fail, only trying them shows it. */
  get #isTierOutOfReach(): boolean {
    const requested = requestedTier();
    if (requested !== undefined) return requested === SEAT_BELT;
    return this.#machine.platform !== "linux" || (!this.#options.python && !hasInterpreter());
  }

  /** The folder of wheels is a mount like any other, read-only. */
  #withWheels(options: SandboxOptions): SandboxOptions {
    const folder = this.#options.wasm?.wheels;
    if (folder === undefined) return options;
    return { ...options, mounts: [...options.mounts, { path: folder, mode: "ro", name: "" }] };
  }

  /** Errors of the tier are about this environment. */
  async #named<T>(step: () => Promise<T>): Promise<T> {
    try {
      return await step();
    } catch (error) {
      if (!(error instanceof EnvironmentUnavailableError) || error.environment === this.name) throw error;
      throw unavailable(error.why, error.fix);
    }
  }
}

function requestedTier(): string | undefined {
  return process.env["RLM_SANDBOX_TIER"] || undefined;
}

const FORCED: StrongerTier = { why: "RLM_SANDBOX_TIER asks for the seat belt", fix: "Unset RLM_SANDBOX_TIER" };

const EMPTY_REPORT: Omit<EnvironmentReport, "name" | "capabilities"> = {
  tier: null,
  notStopped: [],
  notMounted: [],
  strongerTier: null,
  python: null,
  landlock: null,
  cgroup: null,
  preloaded: [],
  user: null,
  users: null,
  waiting: 0,
};
