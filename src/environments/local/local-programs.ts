// The programs of one local sandbox, by number; each belongs to a session in it.

import type { Program, ProgramListener, ProgramSpec } from "../environment.ts";
import type { ForkServer, ProgramEvent } from "./fork-server.ts";
import { LocalProgram } from "./local-program.ts";

export class LocalPrograms {
  readonly #server: ForkServer;
  readonly #sandbox: number;
  readonly #live = new Map<number, LocalProgram>();
  #isOver = false;

  constructor(server: ForkServer, sandbox: number) {
    this.#server = server;
    this.#sandbox = sandbox;
  }

  /** `number` is its mark: no branch and no other program has it. */
  start(
    number: number,
    { number: member, folder }: { readonly number: number; readonly folder: string },
    spec: ProgramSpec,
    listener: ProgramListener,
  ): Program {
    const order = (op: string, details: object = {}): void => {
      if (this.#live.has(number)) this.#server.order(op, this.#sandbox, { program: number, ...details });
    };
    const onGone: ProgramListener["onGone"] = (usage) => {
      this.#live.delete(number);
      listener.onGone(usage);
    };
    const told: ProgramListener = {
      onOutput: (stream, chunk) => listener.onOutput(stream, chunk),
      onExit: (exit, usage) => listener.onExit(exit, usage),
      onGone,
    };
    const program = new LocalProgram(member, spec, told, order);
    this.#live.set(number, program);
    if (this.#isOver) queueMicrotask(() => program.lose());
    else order("program", { member, folder });
    return program;
  }

  /** The fork server made its pipes and sent the other ends on. */
  take(number: number, fds: readonly number[]): void {
    const program = this.#live.get(number);
    if (program === undefined) {
      this.#server.order("taken", this.#sandbox, { fds }); // it could not be started
      return;
    }
    try {
      program.take(this.#server, this.#sandbox, fds);
    } catch (error) {
      this.#server.order("kill-program", this.#sandbox, { program: number });
      program.fail((error as Error).message);
    }
  }

  hear(event: ProgramEvent): void {
    this.#live.get(event.program)?.hear(event);
  }

  /** A session is over, and its programs with it. */
  killAll(member: number): void {
    const isAny = [...this.#live.values()].some((program) => program.member === member);
    if (isAny && !this.#isOver) this.#server.order("end-programs", this.#sandbox, { member });
  }

  /** The sandbox is gone. */
  loseAll(): void {
    this.#isOver = true;
    for (const program of this.#live.values()) program.lose();
  }
}
