// Sessions where no tier can be had: without a usable Python, or on a system without walls that we know.
//
// This is a seat belt, not a wall. WebAssembly and Node's permission model keep code from the files of the host as long as neither has a
// fault, and the permission model of Node itself says that it does not hold against malicious code. Every report says so.

import { closeSync } from "node:fs";
import type { Capabilities } from "../../../protocol/capabilities.ts";
import type {
  Environment,
  EnvironmentOptions,
  EnvironmentReport,
  SandboxOptions,
  StrongerTier,
} from "../../environment.ts";
import type { GuestProgram } from "../../local/fork-server.ts";
import { unavailable } from "../pyodide.ts";
import { findHidden, leaveOutHidden, poolSizeFor, resolveMounts } from "../../mounts.ts";
import { openPrivateCopy } from "./private-copy.ts";
import { removeStaleFolders, SeatBeltSandbox } from "./seat-belt-sandbox.ts";

export const SEAT_BELT = "seat-belt";

const NOT_STOPPED = [
  "This is a seat belt, not a wall: nothing but WebAssembly and the permission model of Node is between code and this machine.",
  "Code that finds a fault in Pyodide, Emscripten, V8 or Node has the rights of the user of the host, where Node's permission model does not cover them.",
  "The permission model does not cover signals to processes of that user, nor the network before Node 25: code that breaks out of WebAssembly has both.",
  "Memory is watched four times a second, or once while no code runs, and only on Linux; nothing limits disk space and the number of files.",
  "Changes of files cannot be watched, and links are not followed when the host reads files of a session.",
];

export class SeatBelt implements Environment {
  readonly name = "wasm";
  readonly capabilities: Capabilities;
  readonly #options: EnvironmentOptions;
  readonly #guest: GuestProgram;
  readonly #image: number;
  readonly #stronger: StrongerTier;
  readonly #poolKey: string;
  readonly #pool: SeatBeltSandbox[] = [];
  readonly #live = new Set<SeatBeltSandbox>();
  readonly #notMounted = new Set<string>();
  readonly #onHostExit = (): void => {
    for (const sandbox of this.#live) sandbox.abandon();
  };
  #filling: Promise<void> | undefined;
  #hasStarted = false;
  #closed = false;

  /** `stronger` says why there is no tier. */
  constructor(options: EnvironmentOptions, guest: GuestProgram, capabilities: Capabilities, stronger: StrongerTier) {
    removeStaleFolders();
    this.#options = options;
    this.#guest = guest;
    this.#image = openPrivateCopy(guest.image);
    this.capabilities = capabilities;
    this.#stronger = stronger;
    this.#poolKey = JSON.stringify(options.poolOptions);
    process.once("exit", this.#onHostExit);
  }

  async warm(): Promise<void> {
    await this.#fill();
  }

  async openSandbox(options: SandboxOptions): Promise<SeatBeltSandbox> {
    this.#checkOpen();
    const isUsual = JSON.stringify(options) === this.#poolKey;
    for (let pooled = isUsual ? this.#pool.shift() : undefined; pooled !== undefined; pooled = this.#pool.shift()) {
      if (!pooled.worker.ended) return pooled;
      void pooled.close(); // its folder is still there
    }
    return this.#open(options);
  }

  refill(): void {
    this.#fill().catch(() => {}); // opening the next session fails in the same way, and reports it
  }

  get tier(): string | null {
    return this.#hasStarted ? SEAT_BELT : null;
  }

  report(): EnvironmentReport {
    return {
      name: this.name,
      capabilities: this.capabilities,
      tier: this.tier,
      notStopped: NOT_STOPPED,
      notMounted: [...this.#notMounted],
      strongerTier: this.#stronger,
      python: null,
      landlock: null,
      cgroup: null,
      preloaded: [],
      user: process.getuid?.() ?? null,
      users: { why: "sessions have the user of the host" },
      waiting: this.#pool.length,
    };
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    await Promise.all([...this.#live].map((sandbox) => sandbox.close()));
    await this.#filling?.catch(() => {});
    closeSync(this.#image);
    process.off("exit", this.#onHostExit);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  async #open({ mounts, limits }: SandboxOptions): Promise<SeatBeltSandbox> {
    const prepared = await findHidden(resolveMounts(mounts, this.name), this.name);
    const { kept, notMounted } = leaveOutHidden(prepared, this.name);
    for (const sentence of notMounted) this.#notMounted.add(sentence);
    this.#checkOpen();
    const sandbox = new SeatBeltSandbox({ guest: this.#guest, image: this.#image, mounts: kept, limits });
    this.#live.add(sandbox); // before it is ready: close() closes it
    void sandbox.closed.then(() => this.#live.delete(sandbox));
    await sandbox.ready().catch((error: unknown) => {
      this.#checkOpen();
      throw error;
    });
    this.#hasStarted = true;
    return sandbox;
  }

  #checkOpen(): void {
    if (this.#closed) throw unavailable("the runtime is closed", "Open another with openRuntime()");
  }

  #fill(): Promise<void> {
    this.#filling ??= (async () => {
      while (!this.#closed && this.#pool.length < poolSizeFor(this.#options)) {
        this.#pool.push(await this.#open(this.#options.poolOptions));
      }
    })().finally(() => (this.#filling = undefined));
    return this.#filling;
  }
}
