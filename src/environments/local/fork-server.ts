// One fork server process: requests go to it as lines of JSON, events come back.
//
// Sandboxes are forked from it, because a fork of the large Node process would block the event loop. When the process ends,
// all its sandboxes have ended and this object cannot be used any more. It does not keep the host alive: whoever waits for it counts that
// as active work.

import { spawn, type ChildProcessByStdio } from "node:child_process";
import { closeSync, openSync, realpathSync } from "node:fs";
import type { Socket } from "node:net";
import { tmpdir } from "node:os";
import { dirname } from "node:path";
import type { Readable, Writable } from "node:stream";
import type { EnvironmentUnavailableError } from "../../errors.ts";
import type { UserRange } from "../../util/user-range.ts";
import { findBubblewrap } from "../bubblewrap.ts";
import { AS_ANOTHER_USER, containerLine, isInContainer } from "../linux-advice.ts";
import { toProcessEvent, type Hello, type Refusal, type ServerEvent } from "./fork-server-messages.ts";
import type { ProcessEvent } from "../environment.ts";
import type { PreparedMount } from "../mounts.ts";
import { toPipes, type Pipes } from "./pipes.ts";
import { SANDBOX_EXEC, seatbeltProfile } from "./seatbelt.ts";
import { pythonFolder } from "../python-folder.ts";
import {
  KEEP_PYTHON_FOLDER,
  NO_PYTHON_FOLDER,
  noTier,
  notStarted,
  refusedRange,
  unavailable,
  UNREACHABLE,
  USE_REACHABLE,
  type Tier,
} from "./tier.ts";
import { homeFolder } from "../../util/home-folder.ts";

/** Node, with what it runs. `image` is a file that it gets as an open descriptor, so it needs no permission to open it. */
export interface GuestProgram {
  readonly node: string;
  readonly flags: readonly string[];
  /** The source of its first steps. */
  readonly boot: string;
  readonly image: string;
  /** Files and folders that the program needs, beside those of the system. */
  readonly files: readonly string[];
  /** A folder of packages, which must be mounted. */
  readonly wheels: string | null;
}

export interface ForkServerOptions {
  readonly executable: string;
  readonly preload: readonly string[];
  /** Where compiled Python is cached between starts. Undefined: nowhere. */
  readonly cacheFolder: string | undefined;
  /** Ids of users for sandboxes. Undefined: it chooses them. */
  readonly users?: UserRange | undefined;
  /** How it confines its sandboxes. */
  readonly tier: Tier;
  /** A program that its workers become, in place of our Python. */
  readonly guest?: GuestProgram | undefined;
  /** The command that confines a process, in tier `seatbelt`. Default: that of macOS. */
  readonly sandboxExec?: readonly string[] | undefined;
}

/** Where the fork server finds the image of a guest. */
const IMAGE_FD = 3;
/** What the fork server says of root without capabilities. */
const NO_OTHER_USER = "it may not become another user";
const START_LIMIT_MS = 60_000;
/** Characters of an event of a fork server that is not trusted. */
const MAX_LINE = 256 * 1024;
/** In tiers C and seatbelt it removes the files of its sandboxes, one by one. */
const CLOSE_LIMIT_MS: Readonly<Record<Tier, number>> = {
  A: 2_000,
  "A-no-landlock": 2_000,
  B: 2_000,
  C: 20_000,
  seatbelt: 20_000,
};

/** The user that the fork server becomes when the host is root. It is no account and owns nothing. */
const RESERVED_UID = 64001;

const PROGRAMS = ["/usr/local/bin", "/usr/bin", "/bin"];

/** The environment variables of every session, besides what the init adds. The host's are not passed on. */
export const CLEAN_ENVIRONMENT = {
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

/** What carries lines to a fork server and back, and ends it. It does not keep the host alive. */
export interface ServerLink {
  /** The host's ends of the pipes that the fork server makes. */
  readonly pipes: (hello: Hello) => Pipes;
  /** Resolves when it has ended. */
  readonly ended: Promise<ServerEnd>;
  /** The first call also delivers what came before. */
  onData: (deliver: (chunk: Buffer) => void) => void;
  write: (line: string) => void;
  /** Nothing more is written: the fork server ends. */
  end: () => void;
  kill: () => void;
  /** Check messages that are hostile until parsed. Undefined: it is not one. Default: all are trusted. */
  readonly check?: {
    readonly first: (message: unknown) => Hello | Refusal | undefined;
    readonly event: (message: unknown) => ServerEvent | undefined;
  };
}

export interface ServerEnd {
  /** What it said last. */
  readonly why?: string | undefined;
  readonly facts: ProcessEvent["facts"];
}

export interface LinkOptions {
  readonly tier: Tier;
  /** What to throw when it ends before its first message. */
  readonly failed: (why: string) => Error;
  /** What to throw when it says that the range of users cannot be used. */
  readonly refused: (why: string) => Error;
}

export class ForkServer {
  readonly hello: Hello;
  readonly tier: Tier;
  /** The host's ends of its pipes. */
  readonly pipes: Pipes;
  readonly #link: ServerLink;
  readonly #listeners = new Map<number, (event: ServerEvent) => void>();
  #nextSandbox = 1;
  #ended: Promise<void>;
  #alive = true;
  #retired = false;
  #lastError: string | undefined;
  /** Called when free memory of the machine has dropped notably. */
  onLessMemory: () => void = () => {};
  /** Called with the processes of its sandboxes, and with its own end. */
  onProcess: (event: ProcessEvent) => void = () => {};

  private constructor(tier: Tier, link: ServerLink, hello: Hello, lines: LineSplitter) {
    this.#link = link;
    this.hello = hello;
    this.tier = tier;
    this.pipes = link.pipes(hello);
    const check = link.check?.event ?? ((event) => event as ServerEvent | undefined);
    lines.onLine = (line) => {
      const event = check(parse(line));
      if (event === undefined) link.kill();
      else if (this.#alive) this.#handle(event);
    };
    this.#ended = link.ended.then((end) => this.#end(end));
  }

  /** Starts one as a child. Kills the process and rejects when `stop` is aborted, or after a minute. */
  static start(options: ForkServerOptions, stop: AbortSignal): Promise<ForkServer> {
    stop.throwIfAborted();
    const { tier, executable, users } = options;
    const failed = (why: string): Error => startFailure(executable, why);
    return ForkServer.connect(spawnServer(options), { tier, failed, refused: (why) => refusedRange(users, why) }, stop);
  }

  /** Waits for the first message of one that was started. Kills it and rejects when `stop` is aborted, or after a minute. */
  static async connect(
    link: ServerLink,
    { tier, failed, refused }: LinkOptions,
    stop: AbortSignal,
  ): Promise<ForkServer> {
    const limit = AbortSignal.any([stop, AbortSignal.timeout(START_LIMIT_MS)]);
    const end = (): void => link.kill();
    if (limit.aborted) end();
    limit.addEventListener("abort", end, { once: true });
    const lines = new LineSplitter(link.check === undefined ? Infinity : MAX_LINE, end);
    const check = link.check?.first ?? ((first) => first as Hello | Refusal | undefined);
    try {
      const hello = await new Promise<Hello>((resolve, reject) => {
        lines.onLine = (line) => {
          const first = check(parse(line));
          if (first?.event === "hello") resolve(first);
          else if (first?.event === "refused") reject(refused(first.why));
          else link.kill();
        };
        link.onData((chunk) => lines.push(chunk));
        void link.ended.then(({ why }) => reject(failed(why ?? "it ended without a message")));
      });
      return new ForkServer(tier, link, hello, lines);
    } finally {
      limit.removeEventListener("abort", end);
    }
  }

  get alive(): boolean {
    return this.#alive;
  }

  /** Why a sandbox of it ended by itself. */
  get endReason(): string {
    return this.#alive ? "the sandbox ended" : `the fork server ended: ${this.#lastError ?? "it was killed"}`;
  }

  /** Returns the number of a new sandbox. The listener gets its events, up to `closed`. */
  register(listener: (event: ServerEvent) => void): number {
    const sandbox = this.#nextSandbox++;
    this.#listeners.set(sandbox, listener);
    return sandbox;
  }

  /** What a sandbox may do, where that is told to the machine as a text. */
  profileFor(sandbox: number, mounts: readonly PreparedMount[]): string | undefined {
    const { scratch, folders = [] } = this.hello;
    if (scratch === undefined) return undefined;
    return seatbeltProfile({
      folder: `${scratch}/${sandbox}`,
      readable: [...folders, realpathSync(requirePythonFolder())],
      mounts,
    });
  }

  send(op: string, sandbox: number, details: object = {}): void {
    if (this.#alive) this.#link.write(`${JSON.stringify({ op, sandbox, ...details })}\n`);
  }

  /** Closes it when its last sandbox has ended. */
  retire(): void {
    this.#retired = true;
    if (this.#listeners.size === 0) void this.close();
  }

  async close(): Promise<void> {
    this.#link.end();
    const killer = setTimeout(() => this.#link.kill(), CLOSE_LIMIT_MS[this.tier]).unref();
    await this.#ended;
    clearTimeout(killer);
  }

  #end({ why, facts }: ServerEnd): void {
    this.#alive = false;
    this.#lastError = why;
    this.onProcess({ type: "end", kind: "fork-server", id: String(this.hello.pid), facts });
    for (const [sandbox, listener] of this.#listeners) listener({ event: "closed", sandbox });
    this.#listeners.clear();
  }

  #handle(event: ServerEvent): void {
    if (event.event === "less") this.onLessMemory();
    const change = toProcessEvent(event);
    if (change !== undefined) this.onProcess(change);
    const listener = this.#listeners.get(event.sandbox);
    if (event.event === "closed") this.#listeners.delete(event.sandbox);
    listener?.(event);
    if (this.#retired && this.#listeners.size === 0) void this.close();
  }
}

function spawnServer(start: ForkServerOptions): ServerLink {
  const { executable, preload, cacheFolder, users, tier, guest, sandboxExec = SANDBOX_EXEC } = start;
  const user = process.getuid?.() === 0 ? { uid: RESERVED_UID } : {};
  const range = users === undefined ? {} : { users: [users.first, users.last] };
  // For tests: an older kernel, as far as Landlock is concerned.
  const newest = Number.parseInt(process.env["RLM_SANDBOX_LANDLOCK"] ?? "", 10);
  const landlock = Number.isInteger(newest) ? { landlock: newest } : {};
  const program = tier === "B" ? { bwrap: requireBubblewrap() } : {};
  const place = { host: process.pid, home: homeFolder(), scratch: tmpdir(), sandboxExec };
  const { image, ...others } = guest ?? {};
  const guestOptions = guest === undefined ? {} : { guest: { ...others, image: IMAGE_FD } };
  const options = { tier, preload, ...place, ...user, ...range, ...landlock, ...program, ...guestOptions };
  const cache = cacheFolder === undefined ? ["-B"] : ["-X", `pycache_prefix=${cacheFolder}`];
  const script = `${requirePythonFolder()}/forkserver/__main__.py`;
  const opened = image === undefined ? [] : [openSync(image, "r")];
  const child = spawn(executable, ["-I", ...cache, script, JSON.stringify(options)], {
    stdio: ["pipe", "pipe", "pipe", ...opened],
    detached: true, // so that Ctrl-C in a terminal reaches only the host
    env: { PATH: toPath(executable), ...CLEAN_ENVIRONMENT },
    cwd: "/",
  });
  for (const fd of opened) closeSync(fd);
  const started = child as ChildProcessByStdio<Writable, Readable, Readable>; // its first three are pipes
  started.unref();
  for (const pipe of [started.stdin, started.stdout, started.stderr]) (pipe as Socket).unref();
  started.stdin.on("error", () => {});
  let errors = "";
  started.stderr.on("data", (chunk: Buffer) => {
    errors = (errors + chunk.toString()).slice(-4096);
  });
  const ended = new Promise<ServerEnd>((resolve) => {
    started.once("error", (error) => resolve({ why: error.message, facts: {} }));
    started.once("exit", (code, signal) =>
      resolve({
        why: lastLine(errors) ?? (signal === "SIGKILL" ? undefined : `it ended with ${signal ?? code}`),
        facts: { code, signal },
      }),
    );
  });
  return {
    pipes: toPipes,
    ended,
    onData: (deliver) => void started.stdout.on("data", deliver),
    write: (line) => void started.stdin.write(line),
    end: () => void started.stdin.end(),
    kill: () => void started.kill("SIGKILL"),
  };
}

function requireBubblewrap(): string {
  const found = findBubblewrap();
  if ("path" in found) return found.path;
  throw noTier(`sandbox tier B cannot be used: ${found.why}`, found.fix);
}

/** Throws EnvironmentUnavailableError where a bundler has left our Python code behind. */
function requirePythonFolder(): string {
  const folder = pythonFolder();
  if (folder !== undefined) return folder;
  throw unavailable(NO_PYTHON_FOLDER, KEEP_PYTHON_FOLDER);
}

/** The interpreter's folder comes first, so that `python3` and `pytest` in commands belong to it. */
function toPath(executable: string): string {
  const beside = dirname(executable);
  return (PROGRAMS.includes(beside) ? PROGRAMS : [beside, ...PROGRAMS]).join(":");
}

function startFailure(executable: string, why: string): EnvironmentUnavailableError {
  if (why.includes(NO_OTHER_USER)) {
    return noTier(`it is root, and ${NO_OTHER_USER}`, isInContainer() ? containerLine() : AS_ANOTHER_USER);
  }
  if (why.includes(UNREACHABLE)) {
    return noTier(why.slice(why.indexOf(UNREACHABLE)), isInContainer() ? containerLine() : USE_REACHABLE);
  }
  return notStarted(executable, why);
}

function lastLine(text: string): string | undefined {
  return text.trim().split("\n").at(-1) || undefined;
}

/** Undefined if it is not JSON: then the fork server does not do what it should, and must end. */
function parse(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}

/** Splits a byte stream into lines. One that is longer than `limit` characters is not waited for. */
class LineSplitter {
  onLine: (line: string) => void = () => {};
  readonly #limit: number;
  readonly #onTooLong: () => void;
  #rest = "";

  constructor(limit: number, onTooLong: () => void) {
    this.#limit = limit;
    this.#onTooLong = onTooLong;
  }

  push(chunk: Buffer): void {
    const lines = (this.#rest + chunk.toString()).split("\n");
    this.#rest = lines.pop() ?? "";
    for (const line of lines) this.onLine(line);
    if (this.#rest.length <= this.#limit) return;
    this.#rest = "";
    this.#onTooLong();
  }
}
