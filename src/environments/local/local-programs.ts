// The programs of one local sandbox, by number. Each belongs to a session in it.

import type { Program, ProgramListener, ProgramSpec } from "../environment.ts";
import type { ProgramEvent } from "./fork-server-messages.ts";
import type { ForkServer } from "./fork-server.ts";
import { LocalProgram } from "./local-program.ts";

export class LocalPrograms {
  readonly #server: ForkServer;
  readonly #sandbox: number;
  readonly #live = new Map<number, LocalProgram>();
  #isGone = false;

  constructor(server: ForkServer, sandbox: number) {
    this.#server = server;
    this.#sandbox = sandbox;
  }

  /** `number` marks its processes: no branch and no other program may have the same. */
  start(
    number: number,
    { number: member, folder }: { readonly number: number; readonly folder: string },
    spec: ProgramSpec,
    listener: ProgramListener,
  ): Program {
    const send = (op: string, details: object = {}): void => {
      if (this.#live.has(number)) this.#server.send(op, this.#sandbox, { program: number, ...details });
    };
    const program = new LocalProgram(member, spec, listener, { send, onGone: () => this.#live.delete(number) });
    this.#live.set(number, program);
    if (this.#isGone) queueMicrotask(() => program.lose());
    else send("program", { member, folder });
    return program;
  }

  handle(event: ProgramEvent): void {
    if (event.event === "pipes") this.#attach(event.program, event.fds);
    else this.#live.get(event.program)?.handle(event);
  }

  killAll(member: number): void {
    const isAny = [...this.#live.values()].some((program) => program.member === member);
    if (isAny && !this.#isGone) this.#server.send("end-programs", this.#sandbox, { member });
  }

  /** The sandbox has ended. */
  loseAll(): void {
    this.#isGone = true;
    for (const program of this.#live.values()) program.lose();
  }

  #attach(number: number, fds: readonly number[]): void {
    const program = this.#live.get(number);
    if (program === undefined || program.isAttached) {
      this.#server.send("taken", this.#sandbox, { fds }); // it could not be started, or has its pipes
      return;
    }
    try {
      program.attach(this.#server, this.#sandbox, fds);
    } catch (error) {
      this.#server.send("kill-program", this.#sandbox, { program: number });
      program.fail((error as Error).message);
    }
  }
}
