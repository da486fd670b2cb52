// A session behind Node's permission model alone: a folder of the machine, and one process at a time.

import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  lstatSync,
  symlinkSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { WorkerLostError } from "../../../errors.ts";
import { deferred } from "../../../util/async/deferred.ts";
import { waitFor } from "../../../util/async/wait-for.ts";
import type { Mount } from "../../../api/local.ts";
import type { Job, Sandbox, SandboxLimits, SandboxUsage } from "../../environment.ts";
import { linkMounts } from "../../mounts.ts";
import type { GuestProgram } from "../../local/fork-server.ts";
import { removeFolder, sizeOf } from "./folder-tree.ts";
import { withLargeStack } from "./large-stack.ts";
import { SeatBeltJob } from "./seat-belt-job.ts";
import { SeatBeltWorker } from "./seat-belt-worker.ts";

/** Prefix of the folder of a session; the process id of its host follows. */
const PREFIX = "rlm-wasm-";
const START_LIMIT_MS = 60_000;
const RESTART_LIMIT_MS = 20_000;
/** For a process that was killed to be gone. Its folder is removed then in any case. */
const GONE_LIMIT_MS = 5_000;
/** As the worker opens them. */
const DESCRIPTORS = { commands: 3, aside: 4, events: 5, image: 6, interrupts: 7 };
const PAGE_BYTES = 65_536;
const MIB = 2 ** 20;
const OWN_BYTES = 192 * MIB;
const LEAST_BYTES = 64 * MIB;

export interface SeatBeltOptions {
  readonly guest: GuestProgram;
  /** A descriptor of the image. */
  readonly image: number;
  readonly mounts: readonly Mount[];
  readonly limits: SandboxLimits;
}

export class SeatBeltSandbox implements Sandbox {
  readonly folder: string;
  readonly #top: string;
  readonly #options: SeatBeltOptions;
  readonly #jobs = new Set<SeatBeltJob>();
  readonly #closed = deferred();
  #worker: SeatBeltWorker;
  #closing: Promise<void> | undefined;
  #measuring: Promise<number> | undefined;

  /** Starts a worker at once. It must be closed, also where it does not get ready. */
  constructor(options: SeatBeltOptions) {
    this.#options = options;
    this.#top = realpathSync(mkdtempSync(join(tmpdir(), `${PREFIX}${process.pid}-`)));
    this.folder = join(this.#top, "work");
    mkdirSync(this.folder);
    mkdirSync(join(this.#top, "tmp"));
    // Node's permission model lets the worker make no links.
    for (const [name, path] of Object.entries(linkMounts(options.mounts).links))
      symlinkSync(path, join(this.folder, name));
    this.#worker = this.#start();
  }

  /** Resolves when its first worker is ready. Closes it where that fails. */
  async ready(): Promise<void> {
    if ((await started(this.#worker, START_LIMIT_MS)) && this.#closing === undefined) return;
    await this.close();
    throw new WorkerLostError(`Cannot start a worker: ${this.#worker.startError}`);
  }

  /** Resolves when it is closed. */
  get closed(): Promise<void> {
    return this.#closed.promise;
  }

  get worker(): SeatBeltWorker {
    return this.#worker;
  }

  async restart(_from?: undefined, limitMs = RESTART_LIMIT_MS): Promise<SeatBeltWorker> {
    this.#checkOpen();
    const old = this.#worker;
    old.kill("closed");
    if (!(await waitFor(old.gone, limitMs)))
      throw new WorkerLostError("Cannot start a worker: the last one does not end");
    this.#checkOpen();
    const worker = this.#start();
    this.#worker = worker; // so that it is closed with the sandbox, ready or not
    if (await started(worker, limitMs)) return worker;
    worker.kill("closed");
    throw new WorkerLostError(`Cannot start a worker: ${worker.startError}`);
  }

  async startJob(): Promise<Job> {
    this.#checkOpen();
    const job = new SeatBeltJob(this.folder);
    this.#jobs.add(job);
    void job.ended.then(() => this.#jobs.delete(job));
    return job;
  }

  async usage(): Promise<SandboxUsage | null> {
    const { pid } = this.#worker;
    if (this.#closing !== undefined || pid === undefined) return null;
    this.#measuring ??= sizeOf(this.#top)
      .catch(() => 0) // it is being removed
      .finally(() => (this.#measuring = undefined));
    return { memoryBytes: memoryOf(pid) ?? 0, diskBytes: await this.#measuring };
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  /** When the host exits without closing it: what can be done at once. */
  abandon(): void {
    this.#worker.endWithSandbox();
    try {
      rmSync(this.#top, { recursive: true, force: true });
    } catch {
      // the next start tries it again
    }
  }

  async #close(): Promise<void> {
    for (const job of this.#jobs) job.close();
    this.#worker.endWithSandbox();
    await waitFor(this.#worker.gone, GONE_LIMIT_MS); // its timer keeps this process alive meanwhile
    await removeFolder(this.#top);
    this.#closed.resolve();
  }

  #checkOpen(): void {
    if (this.#closing !== undefined) throw new WorkerLostError("Cannot use the sandbox: it is gone");
  }

  #start(): SeatBeltWorker {
    const { guest, image, mounts, limits } = this.#options;
    const temporary = join(this.#top, "tmp");
    const own = [this.#top];
    const readable = [...own, ...mounts.map(({ path }) => path), ...(guest.wheels === null ? [] : [guest.wheels])];
    const writable = [...own, ...mounts.filter(({ mode }) => mode === "rw").map(({ path }) => path)];
    const pages = Math.min(65_536, Math.floor(Math.max(limits.memoryBytes - OWN_BYTES, LEAST_BYTES) / PAGE_BYTES));
    const settings = {
      ...DESCRIPTORS,
      isSeatBelt: true,
      folder: this.folder,
      temporary,
      mounts: mounts.map(({ path }) => path),
      wheels: guest.wheels,
      pages,
      env: { HOME: this.folder, TMPDIR: temporary, USER: "user", LANG: "C.UTF-8" },
    };
    const flags = [...guest.flags, ...permissions(readable, writable)];
    return new SeatBeltWorker({
      ...withLargeStack({
        executable: guest.node,
        arguments: [...flags, "-e", guest.boot, "--", JSON.stringify(settings)],
      }),
      image,
      cwd: this.folder,
      memoryBytes: limits.memoryBytes,
      memoryOf,
    });
  }
}

/** Removes the folders of sessions whose host was killed: no process of ours is left to do it. */
export function removeStaleFolders(): void {
  for (const name of readdirSync(tmpdir())) {
    const pid = name.startsWith(PREFIX) ? Number.parseInt(name.slice(PREFIX.length), 10) : Number.NaN;
    const path = join(tmpdir(), name);
    try {
      if (Number.isInteger(pid) && !isAlive(pid) && lstatSync(path).uid === (process.getuid?.() ?? 0)) {
        rmSync(path, { recursive: true, force: true });
      }
    } catch {
      // it was removed meanwhile
    }
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}

/** Only these folders can be used. No process can be started, and no addon loaded. Threads must be allowed: one reads the pipes. */
function permissions(readable: readonly string[], writable: readonly string[]): readonly string[] {
  const model = process.allowedNodeEnvironmentFlags.has("--permission") ? "--permission" : "--experimental-permission";
  const rules = (flag: string, paths: readonly string[]): string[] => {
    const outer = paths.filter((path) => !paths.some((other) => path.startsWith(`${other}/`))); // Node 20 fails with nested ones
    return [...new Set(outer)].map((path) => `${flag}=${path}`); // a folder stands for all that is in it
  };
  return [model, "--allow-worker", ...rules("--allow-fs-read", readable), ...rules("--allow-fs-write", writable)];
}

async function started(worker: SeatBeltWorker, limitMs: number): Promise<boolean> {
  return (await waitFor(worker.ready, limitMs)) && (await worker.ready);
}

/** Null where the system does not tell. */
function memoryOf(pid: number): number | null {
  try {
    const pages = Number(readFileSync(`/proc/${pid}/statm`, "latin1").split(" ")[1]);
    return pages * 4096;
  } catch {
    return null;
  }
}
