// A runtime in which system calls are made to fail, and what is expected of it: a session is refused by name and leaves
// nothing, or it is confined like any other.

import { openRuntime, type Runtime, type Session } from "../../internals.ts";
import { RANGE } from "../users.ts";
import { childrenOf, comesTrue, isAlive, python } from "../machine.ts";
import { differences, factsInside, factsOutside, type Facts } from "./facts.ts";
import { holdings, type Holdings } from "./leftovers.ts";
import { injectFault, recordCalls, type Call, type Fault } from "./strace.ts";

const OPEN_LIMIT_MS = 30_000;
const OPEN = "open in the init";
const SETTLE_LIMIT_MS = 2_000;

export interface Outcome {
  /** Why no session was opened. */
  readonly refusal?: string;
  /** How the session that was opened differs from others. Empty: it does not. */
  readonly gaps: readonly string[];
  readonly hasServerEnded: boolean;
}

export class FaultStage implements AsyncDisposable {
  readonly #range: { readonly first: number; readonly last: number };
  #runtime!: Runtime;
  #server = 0;
  #broker: number | undefined;
  #facts: Facts = {};
  #settled!: Holdings;

  private constructor(range: FaultStage["range"]) {
    this.#range = range;
  }

  /** `index` tells stages of one process apart. */
  static async open(index = 0): Promise<FaultStage> {
    const first = RANGE.first + 100_000_000 + (process.pid * 4 + index) * RANGE.size;
    const stage = new FaultStage({ first, last: first + RANGE.size - 1 });
    await stage.#start();
    return stage;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#runtime.close();
  }

  get runtime(): Runtime {
    return this.#runtime;
  }

  get server(): number {
    return this.#server;
  }

  get isServerAlive(): boolean {
    return isAlive(this.#server) && (this.#broker === undefined || isAlive(this.#broker));
  }

  /** Undefined where the host has no privileges to keep. */
  get broker(): number | undefined {
    return this.#broker;
  }

  get range(): { readonly first: number; readonly last: number } {
    return this.#range;
  }

  /** The init of the session that was opened last. */
  get init(): number {
    const inits = childrenOf(this.#server).filter((pid) => pid !== this.#broker);
    return Math.max(...inits);
  }

  /** The calls of the first process that the fork server forks for a session: its init, until it waits for orders. */
  async callsOfInit(): Promise<readonly Call[]> {
    const calls = await recordCalls(this.#server, async () => (await this.#runtime.openSession()).close());
    const init = calls.find(({ pid }) => pid !== this.#server)?.pid;
    const own = calls.filter(({ pid }) => pid === init);
    const end = own.findIndex(({ name }) => name === "poll" || name === "ppoll");
    return own.slice(0, end < 0 ? undefined : end);
  }

  /** Opens a session while a fault is injected into a process and its children. Closes what it opened. */
  async openWith(fault: Fault, pid = this.#server): Promise<Outcome> {
    let opened: Session | Error;
    {
      await using _ = await injectFault(pid, fault);
      const opening = this.#runtime.openSession();
      opened = await within(OPEN_LIMIT_MS, opening).catch((error: Error) => error);
    }
    const hasServerEnded = await this.#hasServerEnded();
    if (hasServerEnded) this.#findServer();
    if (opened instanceof Error) return { refusal: opened.message, gaps: [], hasServerEnded };
    try {
      return { gaps: await this.gapsOf(opened), hasServerEnded };
    } finally {
      await opened.close();
    }
  }

  /** How a session differs from one in which nothing failed. */
  async gapsOf(session: Session): Promise<readonly string[]> {
    const inside = await factsInside(session).catch((error: Error) => ({ broken: error.message }));
    const gaps = (): readonly string[] => {
      const outside = factsOutside(this.init);
      // The init has one more descriptor open while it counts something: also when the facts to compare with were taken.
      if (Number(outside[OPEN]) < Number(this.#facts[OPEN])) this.#facts = { ...this.#facts, [OPEN]: outside[OPEN] };
      return differences(this.#facts, { ...inside, ...outside });
    };
    await comesTrue(() => !gaps().some((gap) => gap.startsWith(OPEN)), SETTLE_LIMIT_MS);
    return gaps();
  }

  /** What sandboxes have left behind. Waits for what is being removed. */
  async leftovers(patienceMs?: number): Promise<readonly string[]> {
    const left = (): readonly string[] => differences({ ...this.#settled }, { ...this.#count() });
    await comesTrue(() => left().length === 0, patienceMs);
    return left();
  }

  async restart(): Promise<void> {
    await this.#runtime.close();
    await this.#start();
  }

  async #start(): Promise<void> {
    const users = process.getuid?.() === 0 ? { users: `${this.#range.first}-${this.#range.last}` } : {};
    const before = new Set(childrenOf(process.pid));
    this.#runtime = await openRuntime({ python, preload: [], poolSize: 0, idleTimeoutMs: null, ...users });
    await this.#runtime.warm();
    this.#findServer((pid) => !before.has(pid));
    const session = await this.#runtime.openSession();
    this.#facts = { ...(await factsInside(session)), ...factsOutside(this.init) };
    await session.close();
    await comesTrue(() => this.#count().users === 0 && this.#count().children <= 1);
    this.#settled = this.#count();
  }

  /** It leaves with its broker, a moment later. */
  async #hasServerEnded(): Promise<boolean> {
    const hasEnded = (): boolean => !childrenOf(process.pid).includes(this.#server);
    if (this.#broker !== undefined && !isAlive(this.#broker)) await comesTrue(hasEnded);
    return hasEnded();
  }

  #findServer(isNew: (pid: number) => boolean = () => true): void {
    this.#server = childrenOf(process.pid).findLast(isNew) ?? 0;
    this.#broker = childrenOf(this.#server)[0];
  }

  #count(): Holdings {
    return holdings(this.#server, this.#broker, this.#range);
  }
}

async function within<Result>(limitMs: number, work: Promise<Result>): Promise<Result> {
  let timer: NodeJS.Timeout | undefined;
  const limit = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`nothing happened within ${limitMs} ms`)), limitMs);
  });
  try {
    return await Promise.race([work, limit]);
  } finally {
    clearTimeout(timer);
  }
}
