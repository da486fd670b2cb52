// A Python process without a sandbox and without our worker: the floor of what sessions are compared with.
//
// It ends with its standard input, so nothing is left behind when this process is killed.

import { spawn, type ChildProcessByStdio } from "node:child_process";
import type { Readable, Writable } from "node:stream";
import { deferred } from "../../util/async/deferred.ts";

/** An endless loop has an alarm, so that it ends where nobody stops it. */
const PROGRAM = `
import os, signal, sys, time
BLOCK = b"x" * 65536
def run(command, number):
    if command == "echo":
        os.write(1, b"\\n")
    elif command == "debug":
        os.write(1, b"%d\\n" % hasattr(sys, "gettotalrefcount"))
    elif command == "write":
        left = number
        while left > 0:
            left -= os.write(1, BLOCK[:left])
    elif command == "fork":
        began = time.perf_counter()
        child = os.fork()
        if child == 0:
            os._exit(0)
        os.waitpid(child, 0)
        took = time.perf_counter() - began
        os.write(1, b"%f\\n" % (took * 1000))
    elif command == "loop":
        signal.alarm(60)
        try:
            os.write(1, b"\\n")
            while True:
                pass
        except KeyboardInterrupt:
            os.write(1, b"\\n")
        signal.alarm(0)
while True:
    line = os.read(0, 100).decode()
    if not line:
        break
    command, number = line.split()
    run(command, int(number))
`;

const NEWLINE = 10;

export class PlainPython implements Disposable {
  readonly #child: ChildProcessByStdio<Writable, Readable, null>;
  #answer = deferred<string>();
  #failure: Error | undefined;
  #text = "";
  /** Bytes that are still to come; 0: a line is expected. */
  #bytes = 0;

  /** `executable`: the interpreter that sessions use. */
  constructor(executable: string) {
    // In a process group of its own, because Ctrl-C on the terminal is for this process.
    this.#child = spawn(executable, ["-I", "-S", "-c", PROGRAM], { stdio: ["pipe", "pipe", "ignore"], detached: true });
    const fail = (why: string): void => {
      this.#failure ??= new Error(`a plain Python ended: ${why}`);
      this.#answer.reject(this.#failure);
    };
    this.#child.on("error", ({ message }) => fail(message)).on("exit", (code) => fail(`exit code ${code}`));
    this.#child.stdin.on("error", () => {}); // its exit is reported
    this.#child.stdout.on("data", (chunk: Buffer) => this.#read(chunk));
    this.#answer.promise.catch(() => {}); // whoever asks gets the failure
  }

  async echo(): Promise<void> {
    await this.#ask("echo");
  }

  /** How long `os.fork` takes, up to the end of the child. */
  async forkMs(): Promise<number> {
    return Number(await this.#ask("fork"));
  }

  /** Whether it is a debug build, which is several times slower. */
  async isDebugBuild(): Promise<boolean> {
    return (await this.#ask("debug")) === "1";
  }

  /** Resolves when all bytes were read. */
  async write(bytes: number): Promise<void> {
    this.#bytes = bytes;
    await this.#ask("write", bytes);
  }

  /** Starts an endless loop. Resolves with a function that interrupts it and waits for its end. */
  async loop(): Promise<() => Promise<void>> {
    await this.#ask("loop");
    return async () => {
      const ended = this.#next();
      this.#child.kill("SIGINT");
      await ended;
    };
  }

  [Symbol.dispose](): void {
    this.#child.kill("SIGKILL");
  }

  #ask(command: string, number = 0): Promise<string> {
    const answer = this.#next();
    this.#child.stdin.write(`${command} ${number}\n`);
    return answer;
  }

  #next(): Promise<string> {
    if (this.#failure !== undefined) return Promise.reject(this.#failure);
    this.#answer = deferred<string>();
    this.#answer.promise.catch(() => {});
    return this.#answer.promise;
  }

  #read(chunk: Buffer): void {
    if (this.#bytes > 0) {
      this.#bytes -= chunk.length;
      if (this.#bytes <= 0) this.#answer.resolve("");
      return;
    }
    this.#text += chunk.toString("latin1");
    if (chunk.at(-1) !== NEWLINE) return;
    this.#answer.resolve(this.#text.trim());
    this.#text = "";
  }
}
