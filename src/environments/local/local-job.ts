// One job of a local sandbox: two pipes, and an end that the fork server tells.

import { closeSync } from "node:fs";
import { Socket } from "node:net";
import type { Job } from "../environment.ts";
import type { ForkServer } from "./fork-server.ts";
import { openPipe } from "./pipes.ts";

/** A job that nobody wants any more notices that its pipes are closed, and tidies up. This long after, it is killed. */
const LEAVE_MS = 1000;

export class LocalJob implements Job {
  readonly ended: Promise<void>;
  readonly #input: Socket;
  readonly #output: Socket;
  readonly #kill: () => void;
  #onEnd: () => void = () => {};
  #hasEnded = false;
  #killer: NodeJS.Timeout | undefined;

  /** Throws when its pipes cannot be opened; they are then nobody's, which ends it. */
  constructor(server: ForkServer, sandbox: number, fds: readonly number[], kill: () => void) {
    const [input, output] = fds as [number, number];
    const { pid } = server.hello;
    this.#kill = kill;
    try {
      const writing = openPipe(pid, input, "write");
      try {
        this.#output = new Socket({ fd: openPipe(pid, output, "read"), readable: true, writable: false });
      } catch (error) {
        closeSync(writing);
        throw error;
      }
      this.#input = new Socket({ fd: writing, readable: false, writable: true });
    } finally {
      server.order("taken", sandbox, { fds });
    }
    this.ended = new Promise((resolve) => {
      this.#onEnd = resolve;
    });
    this.#input.on("error", () => {}); // it has ended: its output tells
    this.#output.on("error", () => {});
  }

  write(data: string | Uint8Array): Promise<boolean> {
    const input = this.#input;
    if (!input.writable) return Promise.resolve(false);
    return new Promise((resolve) => void input.write(data, (error) => resolve(!error)));
  }

  async *output(): AsyncGenerator<Buffer, void, undefined> {
    try {
      for await (const chunk of this.#output) yield chunk as Buffer;
    } catch {
      // Closed by us or broken: either way there is no more.
    }
  }

  close(): void {
    this.#input.destroy();
    this.#output.destroy();
    if (!this.#hasEnded) this.#killer ??= setTimeout(this.#kill, LEAVE_MS).unref();
  }

  /** Its process is gone. What it said before can still be read. */
  end(): void {
    this.#hasEnded = true;
    clearTimeout(this.#killer);
    this.#input.destroy();
    this.#onEnd();
  }
}
