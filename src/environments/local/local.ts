// The `local` environment: sandboxes made of Linux kernel features, forked in milliseconds, without a daemon or set-up.
//
// The first sandbox starts a fork server. A pool holds a few finished sandboxes with the default options, so that opening a
// session costs nothing. Modules are preloaded by a second fork server, which replaces the first one when it is ready;
// until then sessions start without them rather than wait.

import { rm } from "node:fs";
import { EnvironmentUnavailableError } from "../../errors.ts";
import type {
  Environment,
  EnvironmentOptions,
  EnvironmentReport,
  SandboxOptions,
  StrongerTier,
} from "../environment.ts";
import type { Capabilities } from "../../protocol/capabilities.ts";
import { declareCapabilities } from "../capabilities.ts";
import { ForkServer, type GuestProgram } from "./fork-server.ts";
import { diagnoseInterpreter, findInterpreter } from "./interpreter.ts";
import { LocalSandbox } from "./local-sandbox.ts";
import { findHidden, leaveOutHidden, poolSizeFor, resolveMounts } from "../mounts.ts";
import { whyNoProc } from "../linux-advice.ts";
import { compiledCodeFolder } from "../../util/data-folder.ts";
import { openFileLimit } from "../../util/system/open-file-limit.ts";
import { pythonFolder } from "../python-folder.ts";
import {
  KEEP_PYTHON_FOLDER,
  NO_PYTHON_FOLDER,
  NoTierError,
  explainAll,
  isAboutFolder,
  isStartFailure,
  isWorthTrying,
  noTier,
  notStoppedBy,
  requestedTiers,
  toStronger,
  unavailable,
  type Tier,
} from "./tier.ts";

const REFILL_DELAY_MS = 20;
/** A worker keeps its own descriptors from 64 on. */
const MIN_OPEN_FILES = 96;
/** What Python says of compiled code that a full disk has cut short. */
const BROKEN_CACHE = /EOFError|marshal data/;
/** The tier that held on this machine, by interpreter and request. It does not change while this process runs. */
const known = new Map<string, FoundTier>();
const CAPABILITIES = declareCapabilities({
  fork: true,
  checkpoint: true,
  shell: true,
  processes: true,
  threads: true,
  watch: true,
  inspectWhileRunning: true,
  network: "none",
  packages: "none",
  languages: ["python"],
});

/** On macOS: nothing is copied by fork there, commands are run from Python, and there is no inotify. */
const DARWIN_CAPABILITIES = declareCapabilities({
  ...CAPABILITIES,
  fork: false,
  checkpoint: false,
  shell: false,
  watch: false,
});

const NOT_HERE = "its walls are built from features of the Linux kernel, which Windows and others do not have";
const USE_WASM = "Use Python in WebAssembly (rlm env add wasm, then --env wasm)";
const USE_DOCKER = "Use containers (rlm env add docker, then --env docker)";
const FIX_ELSEWHERE = "Run it inside WSL 2, or in a Linux container, such as one of Docker Desktop";
const TIER_A_ON_MACOS = {
  why: "macOS is not Linux",
  fix: "Run it in a Linux container, such as one of Docker Desktop",
};
const NO_GUEST_ON_MACOS = "the tier of macOS (seatbelt) runs Python of the machine only";
const ROOT_ON_MACOS = "on macOS code of a session would have the user of the host, which is root";

/** The machine that it runs on; tests stand in for another. */
export interface Machine {
  readonly platform: string;
  readonly isRoot: boolean;
  readonly sandboxExec?: readonly string[];
  /** How many files this process may have open. Default: what the kernel says. */
  readonly openFiles?: () => number;
}

export function thisMachine(): Machine {
  return { platform: process.platform, isRoot: process.getuid?.() === 0 };
}

export class LocalEnvironment implements Environment {
  readonly name = "local";
  readonly capabilities: Capabilities;
  readonly #machine: Machine;
  readonly #guest: GuestProgram | undefined;
  readonly #options: EnvironmentOptions;
  readonly #poolKey: string;
  /** 0 where secrets are hidden: a sandbox that waited would show those that were created meanwhile. */
  readonly #poolSize: number;
  readonly #pool: LocalSandbox[] = [];
  readonly #servers = new Set<ForkServer>();
  readonly #starting = new AbortController();
  #server: Promise<ForkServer> | undefined;
  #upgrading: Promise<void> | undefined;
  #current: ForkServer | undefined;
  #filling: Promise<void> | undefined;
  #refillTimer: NodeJS.Timeout | undefined;
  #closed = false;
  #provenTier: Tier | undefined;
  readonly #notMounted = new Set<string>();
  #strongerTier: StrongerTier | null = null;

  constructor(options: EnvironmentOptions, machine: Machine = thisMachine(), guest?: GuestProgram) {
    this.#options = options;
    this.#machine = machine;
    this.#guest = guest;
    this.capabilities = machine.platform === "darwin" ? DARWIN_CAPABILITIES : CAPABILITIES;
    this.#poolKey = toKey(options.poolOptions);
    this.#poolSize = poolSizeFor(options);
  }

  async warm(): Promise<void> {
    await this.#startServer();
    await this.#fill();
  }

  /** Finds a tier. Throws a NoTierError where this machine has none, and EnvironmentUnavailableError for what can be put right. */
  async start(): Promise<void> {
    await this.#startServer();
  }

  async openSandbox(options: SandboxOptions): Promise<LocalSandbox> {
    if (this.#closed) throw unavailable("the runtime is closed", "Open another with openRuntime()");
    const pooled = toKey(options) === this.#poolKey ? this.#takePooled() : undefined;
    if (pooled !== undefined) return pooled;
    const server = await this.#startServer();
    try {
      return await this.#build(server, options);
    } catch (error) {
      if (server.alive || this.#closed) throw error;
      return this.#build(await this.#startServer(), options); // the fork server was killed meanwhile
    }
  }

  refill(): void {
    if (this.#closed || this.#refillTimer !== undefined || this.#pool.length >= this.#poolSize) return;
    this.#refillTimer = setTimeout(() => {
      this.#refillTimer = undefined;
      this.#fill().catch(() => {}); // opening the next session fails in the same way, and reports it
    }, REFILL_DELAY_MS).unref();
  }

  get tier(): Tier | null {
    return this.#provenTier ?? null;
  }

  report(): EnvironmentReport {
    const hello = this.#current?.hello;
    return {
      name: this.name,
      capabilities: this.capabilities,
      tier: this.tier,
      notStopped:
        this.#provenTier === undefined
          ? []
          : notStoppedBy(this.#provenTier, hello !== undefined && "why" in hello.users),
      strongerTier: this.#provenTier === undefined ? null : this.#strongerTier,
      notMounted: [...this.#notMounted],
      python: hello === undefined ? null : { version: hello.python, executable: hello.executable },
      landlock: hello?.landlock ?? null,
      cgroup: hello?.cgroup ?? null,
      preloaded: hello?.modules ?? [],
      user: hello?.uid ?? null,
      users: hello?.users ?? null,
      waiting: this.#pool.length,
    };
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    clearTimeout(this.#refillTimer);
    this.#starting.abort();
    await Promise.allSettled([this.#server, this.#upgrading]);
    await Promise.all([...this.#servers].map((server) => server.close()));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  #takePooled(): LocalSandbox | undefined {
    let sandbox: LocalSandbox | undefined;
    do sandbox = this.#pool.shift();
    while (sandbox?.worker.ended);
    return sandbox;
  }

  /** Every sandbox, pooled ones included, is built here, so that no mount goes unchecked. */
  async #build(server: ForkServer, { mounts, limits }: SandboxOptions): Promise<LocalSandbox> {
    const prepared = await findHidden(resolveMounts(mounts, this.name), this.name);
    const isWhole = server.tier === "C"; // Landlock shows all of a folder
    const { kept, notMounted } = isWhole ? leaveOutHidden(prepared, this.name) : { kept: prepared, notMounted: [] };
    const sandbox = await LocalSandbox.open(server, { mounts: kept, limits });
    for (const sentence of notMounted) this.#notMounted.add(sentence);
    this.#provenTier = server.tier;
    return sandbox;
  }

  /** Resolves when the pool is full, also where it is being filled already. */
  #fill(): Promise<void> {
    this.#filling ??= this.#fillUp().finally(() => (this.#filling = undefined));
    return this.#filling;
  }

  /** A sandbox counts when its worker has sent its first event: it can run code. */
  async #fillUp(): Promise<void> {
    while (!this.#closed && this.#pool.length < this.#poolSize) {
      const server = await this.#startServer();
      const sandbox = await this.#build(server, this.#options.poolOptions);
      if (server === this.#current && !this.#closed) this.#pool.push(sandbox);
      else await sandbox.close();
    }
  }

  #startServer(): Promise<ForkServer> {
    if (this.#current !== undefined && !this.#current.alive) {
      this.#servers.delete(this.#current);
      this.#current = undefined;
      this.#server = undefined;
      this.#pool.length = 0;
    }
    this.#server ??= this.#startFirst().catch((error: unknown) => {
      this.#server = undefined;
      throw error;
    });
    return this.#server;
  }

  async #startFirst(): Promise<ForkServer> {
    const requested = process.env["RLM_SANDBOX_TIER"];
    const { platform } = this.#machine;
    const tiers = requestedTiers(requested, platform);
    refuseMachine(this.#machine, this.#guest !== undefined);
    const executable = await findInterpreter(this.#options.python).catch((error: unknown) => {
      throw this.#offerWasm(this.#asked(error));
    });
    const key = JSON.stringify([executable, requested, platform, this.#guest?.node]);
    const [only] = tiers;
    const stronger = platform === "darwin" ? TIER_A_ON_MACOS : null;
    const found = known.get(key) ?? (tiers.length === 1 && only !== undefined ? { tier: only, stronger } : undefined);
    const server = await (
      found === undefined ? this.#findTier(executable, tiers) : this.#launch(executable, [], found.tier)
    ).catch(async (error: unknown) => {
      if (this.#closed) throw error;
      const unusable = isStartFailure(error) ? await diagnoseInterpreter(executable) : undefined;
      const isAboutPython = unusable !== undefined || (isAboutFolder(error) && !this.#isAboutNode(error));
      throw this.#offerWasm(isAboutPython ? this.#asked(unusable ?? error) : error);
    });
    this.#strongerTier = found === undefined ? this.#strongerTier : found.stronger;
    known.set(key, { tier: server.tier, stronger: this.#strongerTier });
    this.#servers.add(server);
    this.#current = server;
    // In tier B each sandbox is a new interpreter, which has nothing of its fork server's.
    if (this.#options.preload.length > 0 && server.tier !== "B") this.#upgrading = this.#upgrade(executable, server);
    return server;
  }

  /** An interpreter that was asked for is put right, and never done without. */
  #asked(error: unknown): unknown {
    return error instanceof NoTierError && this.#options.python ? unavailable(error.why, error.fix) : error;
  }

  /** The Node of a guest may be in a folder that other users cannot reach; the interpreter that was asked for is not the reason then. */
  #isAboutNode(error: unknown): boolean {
    const node = this.#guest?.node;
    return node !== undefined && error instanceof EnvironmentUnavailableError && error.why.includes(`'${node}'`);
  }

  /** Where this environment cannot be had, another one can. */
  #offerWasm(error: unknown): unknown {
    if (this.#guest !== undefined || !(error instanceof EnvironmentUnavailableError)) return error;
    return unavailable(error.why, `${error.fix}; or: ${USE_WASM}`);
  }

  /** A fork server of the first tier in which a sandbox can be built. */
  async #findTier(executable: string, tiers: readonly Tier[]): Promise<ForkServer> {
    const failures: EnvironmentUnavailableError[] = [];
    for (const tier of tiers) {
      if (!isWorthTrying(tier, failures)) continue;
      let server: ForkServer | undefined;
      try {
        server = await this.#launch(executable, [], tier);
        const trial = await LocalSandbox.open(server, { mounts: [], limits: this.#options.poolOptions.limits });
        await trial.close();
        this.#strongerTier = toStronger(failures);
        return server;
      } catch (error) {
        await server?.close();
        if (!(error instanceof EnvironmentUnavailableError) || this.#closed) throw error;
        failures.push(error);
      }
    }
    throw explainAll(failures);
  }

  async #launch(executable: string, preload: readonly string[], tier: Tier): Promise<ForkServer> {
    const cacheFolder = compiledCodeFolder("python-cache");
    const { users } = this.#options;
    const { sandboxExec } = this.#machine;
    const options = { executable, preload, cacheFolder, users, tier, guest: this.#guest, sandboxExec };
    const { signal } = this.#starting;
    const started = performance.now();
    const server = await ForkServer.start(options, signal).catch((error: unknown) => {
      const isCacheBroken = error instanceof EnvironmentUnavailableError && BROKEN_CACHE.test(error.why);
      if (!isCacheBroken || cacheFolder === undefined || signal.aborted) throw error;
      rm(cacheFolder, { recursive: true, force: true }, () => {}); // the next start makes it again
      return ForkServer.start({ ...options, cacheFolder: undefined }, signal);
    });
    const { onLessMemory, onProcess = () => {} } = this.#options;
    server.onLessMemory = onLessMemory;
    server.onProcess = onProcess;
    const { pid, python } = server.hello;
    const facts = { python, tier, durationMs: Math.round(performance.now() - started) };
    onProcess({ type: "start", kind: "fork-server", id: String(pid), facts });
    return server;
  }

  /** Replaces the first fork server with one that has modules loaded. Sessions of the old one stay alive. */
  async #upgrade(executable: string, old: ForkServer): Promise<void> {
    const server = await this.#launch(executable, this.#options.preload, old.tier).catch(() => undefined);
    if (server === undefined) return;
    // A fork of a process with threads is unsafe. If a module starts some, sessions import the modules themselves.
    const useless = server.hello.modules.length === 0 || server.hello.threads > 1;
    if (useless || this.#closed || this.#current !== old) {
      await server.close();
      return;
    }
    this.#servers.add(server);
    this.#current = server;
    this.#server = Promise.resolve(server);
    const stale = this.#pool.splice(0);
    await this.#fill().catch(() => {});
    await Promise.all(stale.map((sandbox) => sandbox.close()));
    old.retire();
  }
}

/** Throws EnvironmentUnavailableError where no tier is worth trying. */
function refuseMachine({ platform, isRoot, openFiles = openFileLimit }: Machine, hasGuest: boolean): void {
  if (platform === "darwin" && hasGuest) throw noTier(NO_GUEST_ON_MACOS, TIER_A_ON_MACOS.fix);
  if (platform === "darwin" && isRoot) throw noTier(ROOT_ON_MACOS, "Start it as an ordinary user");
  if (platform !== "linux" && platform !== "darwin") {
    throw noTier(NOT_HERE, hasGuest ? FIX_ELSEWHERE : [FIX_ELSEWHERE, USE_DOCKER, USE_WASM].join("; or: "));
  }
  const proc = platform === "linux" ? whyNoProc() : undefined;
  if (proc !== undefined) throw noTier(proc.why, proc.fix);
  if (pythonFolder() === undefined) throw unavailable(NO_PYTHON_FOLDER, KEEP_PYTHON_FOLDER);
  const files = openFiles();
  if (files >= MIN_OPEN_FILES) return;
  const why = `this process may have ${files} files open, and sessions need at least ${MIN_OPEN_FILES}`;
  throw unavailable(why, "Raise the limit: ulimit -n 1024");
}

interface FoundTier {
  readonly tier: Tier;
  readonly stronger: StrongerTier | null;
}

function toKey({ mounts, limits }: SandboxOptions): string {
  return JSON.stringify([mounts, limits]);
}
