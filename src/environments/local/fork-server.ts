// The conversation with one fork server process: orders go down as lines of JSON, events come back.
//
// Started once; sandboxes are forked from it, so that the host itself never forks while it serves. When the process ends
// every sandbox it held has ended with it, and this object is over.

import { spawn, type ChildProcessByStdio } from "node:child_process";
import { homedir } from "node:os";
import { dirname } from "node:path";
import type { Readable, Writable } from "node:stream";
import { EnvironmentUnavailableError } from "../../errors.ts";
import { pythonFolder } from "./python-folder.ts";

export interface Hello {
  readonly pid: number;
  readonly python: string;
  readonly executable: string;
  readonly landlock: number;
  readonly uid: number;
  readonly threads: number;
  readonly modules: readonly string[];
}

/** What the fork server and the inits of its sandboxes tell; `branch` is a worker or a checkpoint. */
export type ServerEvent = { readonly sandbox: number } & (
  | { readonly event: "pipes"; readonly branch: number; readonly fds: readonly number[] }
  | { readonly event: "pipes"; readonly job: number; readonly fds: readonly number[] }
  | { readonly event: "job-end"; readonly job: number; readonly why: string | null }
  | { readonly event: "pipes"; readonly program: number; readonly fds: readonly number[] }
  | ProgramEvent
  | { readonly event: "failed"; readonly stage: string; readonly message: string }
  | { readonly event: "signalled" | "cloned"; readonly branch: number }
  | { readonly event: "no-clone"; readonly branch: number; readonly message: string }
  | {
      readonly event: "exit";
      readonly branch: number;
      readonly reason: string | null;
      readonly code?: number;
      readonly signal?: number;
    }
  | {
      readonly event: "usage";
      readonly id: number;
      readonly memory: Readonly<Record<string, number>>;
      readonly disk: number;
    }
  | { readonly event: "less" }
  | { readonly event: "closed" }
);

/** What is told of a program. `cpu` is in seconds. */
export type ProgramEvent =
  | {
      readonly event: "program-exit";
      readonly program: number;
      /** Set where it could not be started; then nothing else is. */
      readonly why?: string;
      readonly reason?: string | null;
      readonly code?: number;
      readonly signal?: number;
      readonly left?: boolean;
      readonly cpu?: number;
      readonly peak?: number;
    }
  | {
      readonly event: "program-gone" | "program-usage";
      readonly program: number;
      readonly cpu: number;
      readonly peak: number;
    }
  | { readonly event: "program-signalled"; readonly program: number };

export interface ForkServerOptions {
  readonly executable: string;
  readonly preload: readonly string[];
  /** Where compiled Python is cached between starts. */
  readonly cacheFolder: string | undefined;
}

const START_LIMIT_MS = 60_000;

/** The user that sandboxes run as when the host is root. Nobody's account: it owns nothing. */
const RESERVED_UID = 64001;

const PROGRAMS = ["/usr/local/bin", "/usr/bin", "/bin"];

/** The environment of every session, but for what the init adds to it: nothing of the host's passes. */
const CLEAN_ENVIRONMENT = {
  HOME: "/work",
  USER: "user",
  LOGNAME: "user",
  SHELL: "/bin/sh",
  LANG: "C.UTF-8",
  TMPDIR: "/tmp",
  PYTHONDONTWRITEBYTECODE: "1",
  OPENBLAS_NUM_THREADS: "1",
  OMP_NUM_THREADS: "1",
  MPLBACKEND: "agg",
};

export class ForkServer {
  readonly hello: Hello;
  readonly #process: ServerProcess;
  readonly #listeners = new Map<number, (event: ServerEvent) => void>();
  #nextSandbox = 1;
  #ended: Promise<void>;
  #alive = true;
  #retired = false;
  readonly #complaint: () => string | undefined;
  /** The machine has notably less memory than before. */
  onLessMemory: () => void = () => {};

  private constructor(process: ServerProcess, hello: Hello, lines: LineSplitter, complaint: () => string | undefined) {
    this.#process = process;
    this.hello = hello;
    this.#complaint = complaint;
    lines.onLine = (line) => this.#hear(JSON.parse(line) as ServerEvent);
    this.#ended = new Promise((resolve) => {
      process.once("exit", () => {
        this.#alive = false;
        for (const [sandbox, listener] of this.#listeners) listener({ event: "closed", sandbox });
        this.#listeners.clear();
        resolve();
      });
    });
  }

  /** Aborting `stop`, or a start that takes a minute, ends the process and rejects. */
  static async start(options: ForkServerOptions, stop: AbortSignal): Promise<ForkServer> {
    stop.throwIfAborted();
    const process = spawnServer(options);
    const limit = AbortSignal.any([stop, AbortSignal.timeout(START_LIMIT_MS)]);
    const end = (): void => void process.kill("SIGKILL");
    limit.addEventListener("abort", end, { once: true });
    const lines = new LineSplitter();
    process.stdout.on("data", (chunk: Buffer) => lines.push(chunk));
    process.stdin.on("error", () => {});
    let complaint = "";
    process.stderr.on("data", (chunk: Buffer) => {
      complaint = (complaint + chunk.toString()).slice(-4096);
    });
    const hello = await new Promise<Hello>((resolve, reject) => {
      lines.onLine = (line) => resolve(JSON.parse(line) as Hello);
      process.once("error", (error) => reject(startFailure(options.executable, error.message)));
      process.once("exit", (code, signal) =>
        reject(startFailure(options.executable, lastLine(complaint) ?? `it ended with ${signal ?? code}`)),
      );
    });
    limit.removeEventListener("abort", end);
    return new ForkServer(process, hello, lines, () => lastLine(complaint));
  }

  get alive(): boolean {
    return this.#alive;
  }

  /** Why it ended, when it has and said so. */
  get lastWords(): string {
    return this.#alive ? "the sandbox ended" : `the fork server ended: ${this.#complaint() ?? "it was killed"}`;
  }

  /** A number for a new sandbox; its events go to the listener until `closed`. */
  register(listener: (event: ServerEvent) => void): number {
    const sandbox = this.#nextSandbox++;
    this.#listeners.set(sandbox, listener);
    return sandbox;
  }

  order(op: string, sandbox: number, details: object = {}): void {
    if (this.#alive) this.#process.stdin.write(`${JSON.stringify({ op, sandbox, ...details })}\n`);
  }

  /** Closes it when its last sandbox has ended. */
  retire(): void {
    this.#retired = true;
    if (this.#listeners.size === 0) void this.close();
  }

  async close(): Promise<void> {
    this.#process.stdin.end();
    const killer = setTimeout(() => this.#process.kill("SIGKILL"), 2000);
    await this.#ended;
    clearTimeout(killer);
  }

  #hear(event: ServerEvent): void {
    if (event.event === "less") this.onLessMemory();
    const listener = this.#listeners.get(event.sandbox);
    if (event.event === "closed") this.#listeners.delete(event.sandbox);
    listener?.(event);
    if (this.#retired && this.#listeners.size === 0) void this.close();
  }
}

type ServerProcess = ChildProcessByStdio<Writable, Readable, Readable>;

function spawnServer({ executable, preload, cacheFolder }: ForkServerOptions): ServerProcess {
  const root = process.getuid?.() === 0;
  const user = root ? { uid: RESERVED_UID, gid: RESERVED_UID } : {};
  const options = { preload, host: process.pid, home: homedir(), ...user };
  const cache = cacheFolder === undefined ? ["-B"] : ["-X", `pycache_prefix=${cacheFolder}`];
  const script = `${pythonFolder()}/forkserver/__main__.py`;
  return spawn(executable, ["-I", ...cache, script, JSON.stringify(options)], {
    stdio: ["pipe", "pipe", "pipe"],
    detached: true, // a Ctrl-C in the terminal is for the host to handle
    env: { PATH: toPath(executable), ...CLEAN_ENVIRONMENT },
    cwd: "/",
  });
}

/** Programs beside the interpreter come first: `python3` in a command is the one that sessions have, and so is `pytest`. */
function toPath(executable: string): string {
  const beside = dirname(executable);
  return (PROGRAMS.includes(beside) ? PROGRAMS : [beside, ...PROGRAMS]).join(":");
}

function startFailure(executable: string, why: string): EnvironmentUnavailableError {
  return new EnvironmentUnavailableError({
    environment: "local",
    why: `Python at '${executable}' did not start the fork server: ${why}`,
    fix: "Install Python 3.9 or newer, or name another interpreter with RLM_PYTHON",
  });
}

function lastLine(text: string): string | undefined {
  return text.trim().split("\n").at(-1) || undefined;
}

/** Splits a stream of bytes into lines. The fork server is ours, so lines are not bounded. */
class LineSplitter {
  onLine: (line: string) => void = () => {};
  #rest = "";

  push(chunk: Buffer): void {
    const lines = (this.#rest + chunk.toString()).split("\n");
    this.#rest = lines.pop() ?? "";
    for (const line of lines) this.onLine(line);
  }
}
