// The `docker` environment: a container for each session, with the fork server of `local` in it, so that forks and checkpoints work there.
//
// Creating a container takes half a second, so a pool holds a few with a worker that is ready. Containers end with their session, with this
// process, or, after a crash of the engine too, by the next start.

import type { DockerOptions } from "../../api/local.ts";
import { EnvironmentUnavailableError } from "../../errors.ts";
import type { Capabilities } from "../../protocol/capabilities.ts";
import { declareCapabilities } from "../capabilities.ts";
import type { Environment, EnvironmentOptions, EnvironmentReport, SandboxOptions } from "../environment.ts";
import type { ForkServer } from "../local/fork-server.ts";
import { LocalSandbox } from "../local/local-sandbox.ts";
import { KEEP_PYTHON_FOLDER, NO_PYTHON_FOLDER } from "../local/tier.ts";
import { findHidden, poolSizeFor, resolveMounts } from "../mounts.ts";
import { pythonFolder } from "../python-folder.ts";
import { removeContainer, removeStaleContainers, finishRemovals } from "./containers.ts";
import { checkPrograms, describeNotMounted, leaveOutUnusable, toDockerMounts, toRefusal } from "./docker-mounts.ts";
import { findAddress } from "./engine/address.ts";
import { Engine } from "./engine/engine.ts";
import { explain, isImageGone, isMountsUnsupported, unavailable } from "./engine/errors.ts";
import { holdMounts } from "./held-mounts.ts";
import { OWN_FOLDERS } from "./paths.ts";
import { Launcher, type Launch, type Launched } from "./transport/launcher.ts";
import { removeStaleSocketFolders } from "./transport/socket-link.ts";
import { checkProcesses, networkOf } from "./session-container.ts";
import { prepareImage, type WorkerImage } from "./worker-image.ts";

const REFILL_DELAY_MS = 20;
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

interface Ready {
  readonly engine: Engine;
  readonly image: WorkerImage;
  readonly launcher: Launcher;
}

export class DockerEnvironment implements Environment {
  readonly name = "docker";
  readonly capabilities: Capabilities;
  readonly #options: EnvironmentOptions;
  readonly #docker: DockerOptions;
  readonly #poolKey: string;
  /** 0 where secrets are hidden: a container that waited would show those that were created meanwhile. */
  readonly #poolSize: number;
  readonly #pool: LocalSandbox[] = [];
  /** Those that are being removed, too. */
  readonly #containers = new Set<Launched>();
  /** Sandboxes that are being built. */
  readonly #building = new Set<Promise<unknown>>();
  readonly #notMounted = new Set<string>();
  readonly #stop = new AbortController();
  #ready: Promise<Ready> | undefined;
  #engine: Engine | undefined;
  #last: ForkServer | undefined;
  #filling: Promise<void> | undefined;
  #refillTimer: NodeJS.Timeout | undefined;

  constructor(options: EnvironmentOptions) {
    this.#options = options;
    this.#docker = options.docker ?? {};
    this.capabilities =
      (this.#docker.network ?? "none") === "none"
        ? CAPABILITIES
        : declareCapabilities({ ...CAPABILITIES, network: "all" });
    this.#poolKey = toKey(options.poolOptions);
    this.#poolSize = poolSizeFor(options);
  }

  async warm(): Promise<void> {
    await this.#start();
    await this.#fill();
  }

  async openSandbox(options: SandboxOptions): Promise<LocalSandbox> {
    if (this.#stop.signal.aborted) throw closed();
    const pooled = toKey(options) === this.#poolKey ? this.#takePooled() : undefined;
    return pooled ?? this.#build(options, []);
  }

  refill(): void {
    if (this.#stop.signal.aborted || this.#refillTimer !== undefined || this.#pool.length >= this.#poolSize) return;
    this.#refillTimer = setTimeout(() => {
      this.#refillTimer = undefined;
      this.#fill().catch(() => {}); // opening the next session fails in the same way, and reports it
    }, REFILL_DELAY_MS).unref();
  }

  get tier(): string | null {
    return this.#last === undefined ? null : "container";
  }

  report(): EnvironmentReport {
    const hello = this.#last?.hello;
    return {
      name: this.name,
      capabilities: this.capabilities,
      tier: this.tier,
      notStopped: [],
      strongerTier: null,
      notMounted: [...this.#notMounted],
      python: hello === undefined ? null : { version: hello.python, executable: hello.executable },
      landlock: hello?.landlock ?? null,
      cgroup: null,
      preloaded: hello?.modules ?? [],
      user: hello?.uid ?? null,
      users: hello === undefined ? null : { why: "each session has a container of its own" },
      waiting: this.#pool.length,
    };
  }

  async close(): Promise<void> {
    if (this.#stop.signal.aborted) return;
    this.#stop.abort();
    clearTimeout(this.#refillTimer);
    // What is being built ends with the signal, or with its container.
    const removing = [...this.#containers].map((container) => this.#remove(container));
    await Promise.allSettled([this.#ready, this.#filling, ...this.#building, ...removing]);
    if (this.#engine === undefined) return;
    await finishRemovals(this.#engine); // after the others: one of them may have failed
    this.#engine.close();
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

  #fill(): Promise<void> {
    this.#filling ??= this.#fillUp().finally(() => {
      this.#filling = undefined;
    });
    return this.#filling;
  }

  async #fillUp(): Promise<void> {
    while (!this.#stop.signal.aborted && this.#pool.length < this.#poolSize) {
      const sandbox = await this.#build(this.#options.poolOptions, this.#options.preload);
      if (this.#stop.signal.aborted) await sandbox.close();
      else this.#pool.push(sandbox);
    }
  }

  #build(options: SandboxOptions, preload: readonly string[]): Promise<LocalSandbox> {
    const building = this.#buildVisible(options, preload).finally(() => void this.#building.delete(building));
    this.#building.add(building);
    return building;
  }

  /** Without its optional mounts where the engine sees no files of this machine. */
  async #buildVisible(options: SandboxOptions, preload: readonly string[]): Promise<LocalSandbox> {
    try {
      return await this.#buildOne(options, preload);
    } catch (error) {
      const required = options.mounts.filter(({ isOptional }) => isOptional !== true);
      if (!isMountsUnsupported(error) || required.length === options.mounts.length) throw error;
      for (const { path } of options.mounts) this.#notMounted.add(describeNotMounted(path, error.why));
      return this.#buildOne({ ...options, mounts: required }, preload);
    }
  }

  /** Every sandbox, pooled ones included, is built here, so that no mount goes unchecked. */
  async #buildOne({ mounts, limits }: SandboxOptions, preload: readonly string[]): Promise<LocalSandbox> {
    using held = holdMounts(resolveMounts(mounts, this.name));
    const { kept, notMounted } = leaveOutUnusable(await findHidden(held.mounts, this.name), OWN_FOLDERS);
    for (const sentence of notMounted) this.#notMounted.add(sentence);
    const dockerMounts = toDockerMounts(kept, OWN_FOLDERS);
    const { visible } = dockerMounts;
    checkPrograms(visible, (await this.#start()).image.python);
    let container: Launched | undefined;
    try {
      container = await this.#launch({ docker: this.#docker, limits, mounts: dockerMounts, preload });
      this.#containers.add(container);
      this.#stop.signal.throwIfAborted();
      const { server } = container;
      const { onLessMemory, onProcess = () => {} } = this.#options;
      server.onLessMemory = onLessMemory;
      server.onProcess = onProcess;
      const opened = container;
      const sandbox = await LocalSandbox.open(server, { mounts: visible, limits }, () => this.#remove(opened));
      this.#last = server;
      return sandbox;
    } catch (error) {
      if (container !== undefined) await this.#remove(container).catch(() => {});
      if (this.#stop.signal.aborted) throw closed();
      throw asOwn(toRefusal(explain(error, this.#docker), visible));
    }
  }

  /** Builds the image again if somebody has removed it. */
  async #launch(spec: Omit<Launch, "image">): Promise<Launched> {
    const starting = this.#start();
    const { image, launcher } = await starting;
    try {
      return await launcher.launch({ ...spec, image });
    } catch (error) {
      if (!isImageGone(error)) throw error;
      if (this.#ready === starting) this.#ready = undefined;
      const again = await this.#start();
      return again.launcher.launch({ ...spec, image: again.image });
    }
  }

  /** Where the engine is gone, the container ends with its link, and the engine removes it when it starts again. */
  async #remove(container: Launched): Promise<void> {
    try {
      await container.remove();
    } catch (error) {
      await container.server.close();
      if (!(error instanceof EnvironmentUnavailableError)) throw explain(error, this.#docker);
    } finally {
      this.#containers.delete(container);
    }
  }

  #start(): Promise<Ready> {
    this.#ready ??= this.#connect().catch((error: unknown) => {
      this.#ready = undefined;
      throw this.#stop.signal.aborted ? closed() : explain(error, this.#docker);
    });
    return this.#ready;
  }

  async #connect(): Promise<Ready> {
    networkOf(this.#docker);
    checkProcesses(this.#docker);
    const folder = pythonFolder();
    if (folder === undefined) {
      throw unavailable(NO_PYTHON_FOLDER, KEEP_PYTHON_FOLDER);
    }
    this.#engine ??= new Engine(findAddress(this.#docker.host));
    const engine = this.#engine;
    const { onProgress = () => {} } = this.#options;
    const { signal } = this.#stop;
    await removeStaleContainers(engine, signal);
    removeStaleSocketFolders();
    const image = await prepareImage(engine, { docker: this.#docker, pythonFolder: folder, onProgress, signal });
    return { engine, image, launcher: new Launcher(engine, (id) => removeContainer(engine, id), signal) };
  }
}

function closed(): EnvironmentUnavailableError {
  return unavailable("the runtime is closed", "Open another with openRuntime()");
}

/** The fork server in the container says that it is `local` that cannot be had. */
function asOwn(error: unknown): unknown {
  if (!(error instanceof EnvironmentUnavailableError) || error.environment === "docker") return error;
  return unavailable(error.why, error.fix, { cause: error });
}

function toKey({ mounts, limits }: SandboxOptions): string {
  return JSON.stringify([mounts, limits]);
}
