// The built program as a child process, as a user starts it.

import { spawn, type ChildProcessWithoutNullStreams } from "node:child_process";
import { existsSync } from "node:fs";
import { PYTHON } from "../open.ts";

const CLI = new URL("../../dist/cli.cjs", import.meta.url).pathname;
if (!existsSync(CLI)) throw new Error("dist/cli.cjs is not there: run `npm run build` first");

/** For `sh -c`, so that a test can use the program in a pipeline. */
export const COMMAND = `${process.execPath} ${CLI}`;

export interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

interface StartOptions {
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
  /** Null: `write` gives it. Default: it is empty. */
  readonly stdin?: string | Buffer | null;
  /** Does not read this stream; true: stdout. */
  readonly unread?: true | "stderr";
}

/** Runs the program until it exits. */
export async function rlm(args: readonly string[], options?: StartOptions): Promise<Ended> {
  return start(args, options).ended;
}

export function start(args: readonly string[], options?: StartOptions): Program {
  return new Program(process.execPath, [CLI, ...args], options);
}

export function shell(command: string): Program {
  return new Program("/bin/sh", ["-c", command]);
}

export class Program implements AsyncDisposable {
  /** Settles when the process has exited. */
  readonly exit: Promise<Pick<Ended, "code">>;
  /** Settles when the process has exited and its output was read. */
  readonly ended: Promise<Ended>;
  readonly #child: ChildProcessWithoutNullStreams;
  readonly #chunks: Record<"stdout" | "stderr", Buffer[]> = { stdout: [], stderr: [] };
  readonly #waiting = new Set<() => void>();
  #isEnded = false;

  constructor(command: string, args: readonly string[], { env, cwd, stdin = "", unread }: StartOptions = {}) {
    this.#child = spawn(command, args, { cwd, env: { ...process.env, RLM_PYTHON: PYTHON, NO_COLOR: "1", ...env } });
    this.#child.stdin.on("error", () => {});
    if (stdin !== null) this.#child.stdin.end(stdin);
    const left = unread === true ? "stdout" : unread;
    for (const stream of (["stdout", "stderr"] as const).filter((one) => one !== left)) this.#read(stream);
    this.exit = new Promise((resolve) => {
      this.#child.on("exit", (code) => {
        if (left !== undefined) this.#child[left].resume(); // so that it can be closed
        resolve({ code });
      });
    });
    this.ended = new Promise((resolve) => {
      this.#child.on("close", (code) => {
        this.#isEnded = true;
        this.#wake();
        resolve({ code, stdout: this.text("stdout"), stderr: this.text("stderr") });
      });
    });
  }

  bytes(stream: "stdout" | "stderr"): Buffer {
    return Buffer.concat(this.#chunks[stream]);
  }

  text(stream: "stdout" | "stderr"): string {
    return this.bytes(stream).toString("utf8");
  }

  /** Resolves when the pattern was printed; rejects if the program exits without it. */
  async until(pattern: RegExp, stream: "stdout" | "stderr" = "stdout"): Promise<RegExpExecArray> {
    for (;;) {
      const match = pattern.exec(this.text(stream));
      if (match !== null) return match;
      if (this.#isEnded) throw new Error(`ended without ${pattern}: ${this.text("stdout")}${this.text("stderr")}`);
      await new Promise<void>((resolve) => this.#waiting.add(resolve));
    }
  }

  /** Reads what was unread so far. */
  readAll(): void {
    for (const stream of ["stdout", "stderr"] as const)
      if (this.#child[stream].listenerCount("data") === 0) this.#read(stream);
  }

  get pid(): number | undefined {
    return this.#child.pid;
  }

  /** To its standard input. */
  write(text: string): void {
    this.#child.stdin.write(text);
  }

  signal(signal: NodeJS.Signals): void {
    this.#child.kill(signal);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (!this.#isEnded) this.#child.kill("SIGKILL");
    await this.ended;
  }

  #read(stream: "stdout" | "stderr"): void {
    this.#child[stream].on("data", (chunk: Buffer) => {
      this.#chunks[stream].push(chunk);
      this.#wake();
    });
  }

  #wake(): void {
    for (const resolve of this.#waiting) resolve();
    this.#waiting.clear();
  }
}
