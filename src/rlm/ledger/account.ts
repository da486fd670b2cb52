// The part of a node in the ledger of its run: what it spends is held against every limit above it.

import type { LedgerAxis, LedgerLimits, NodeId, Spent } from "../../protocol/runs.ts";
import { PriceUnknownError } from "../../errors.ts";
import { onAbort } from "../../util/async/on-abort.ts";
import type { Books } from "./wait-queue.ts";
import { type Amounts, Bound, fromUnits } from "./limit.ts";
import {
  type CallAmounts,
  type CallRequest,
  type CallUsage,
  toAmounts,
  toCallAmounts,
  toCharge,
  toUnits,
} from "./call-amounts.ts";
import { outputForUsd, type WorstPrice, worstCostUsd } from "./token-estimate.ts";
import { toNanoUsd, toUsd } from "./nano-usd.ts";
import { type Charge, Tally } from "./usage-totals.ts";

export interface ReserveOptions {
  /** May use the share that is kept for finishing, where the limit is this node's own. Default: false. */
  readonly finishing?: boolean;
}

interface WaitOptions extends ReserveOptions {
  readonly signal?: AbortSignal;
}

export interface Reservation {
  /** Once, with what was used, be it less or more than was held. Gives what it came to. Throws when the reservation is over. */
  settle(usage: CallUsage): Spent;
  /** Nothing was spent. Does nothing when the reservation is over. */
  release(): void;
}

interface ReservedCall {
  readonly reservation: Reservation;
  /** So many tokens of an answer are reserved. */
  readonly maxTokens: number;
}

/** Of one limit. `left`: neither used, nor held by calls under way, nor kept for finishing. */
export interface Standing {
  readonly used: number;
  readonly limit: number;
  readonly left: number;
}

/** A limit above an account. */
interface Above {
  readonly bound: Bound;
  readonly mayFinish: boolean;
}

const LEAST_TOKENS = 256;
const AXES: readonly LedgerAxis[] = ["tokens", "costUsd", "llmCalls", "toolCalls", "wallMs", "iterations"];

export class Account {
  readonly nodeId: NodeId;
  readonly #books: Books;
  /** Its own grant first, the run's limits last. */
  readonly #above: readonly Above[];
  readonly #own: Tally;
  /** Of it and all below it; then the same of its parent, and so on. */
  readonly #trees: readonly Tally[];

  private constructor(books: Books, nodeId: NodeId, above: readonly Above[], trees: readonly Tally[]) {
    this.nodeId = nodeId;
    this.#books = books;
    this.#above = above;
    this.#own = books.openNode(nodeId);
    this.#trees = [new Tally(), ...trees];
  }

  static open(books: Books, { nodeId, grant, above, trees = [] }: Opening): Account {
    const own = grant === undefined ? [] : [{ bound: new Bound(nodeId, grant, books.boundOptions), mayFinish: true }];
    return new Account(books, nodeId, [...own, ...above], trees);
  }

  /** Of a child. A grant larger than what is left is bounded by that all the same. */
  open(childId: NodeId, grant?: LedgerLimits): Account {
    const above = this.#above.map(({ bound }) => ({ bound, mayFinish: false }));
    return Account.open(this.#books, { nodeId: childId, grant, above, trees: this.#trees });
  }

  /** Throws LimitReached, or PriceUnknownError; nothing is reserved then. */
  reserve(amounts: CallAmounts, { finishing = false }: ReserveOptions = {}): Reservation {
    const units = this.#toUnits(amounts);
    this.#check(units, finishing);
    return this.#hold(units);
  }

  /** As `reserve`, but waits while calls under way may give back what is missing. Those that fit go in the order in which they came. */
  async reserveWhenFree(amounts: CallAmounts, { finishing = false, signal }: WaitOptions = {}): Promise<Reservation> {
    signal?.throwIfAborted();
    const units = this.#toUnits(amounts);
    if (this.#obstacle(units, finishing) === undefined) return this.#hold(units);
    return this.#holdWhenFree(units, finishing, signal);
  }

  #holdWhenFree(units: Amounts, finishing: boolean, signal: AbortSignal | undefined): Promise<Reservation> {
    return new Promise((resolve, reject) => {
      const end = (): void => {
        waiting.stop();
        stopListening();
      };
      const abort = (): void => {
        end();
        reject(signal?.reason as Error);
      };
      const attempt = (): boolean => {
        const blocked = this.#obstacle(units, finishing);
        if (blocked?.isTemporary === true) return false;
        end();
        if (blocked === undefined) resolve(this.#hold(units));
        else reject(blocked.bound.toRefusal(blocked.axis, units, blocked.isFinishing));
        return true;
      };
      const waiting = this.#books.wait({ attempt, amounts: units, line: finishing ? units : this });
      const stopListening = onAbort(signal, abort);
      attempt();
    });
  }

  /**
   * Reserves a call with as many tokens for the answer as are left, `maxTokens` at most. Waits for calls under way rather than take
   * less than is really left. Throws as `reserve` does where it would be less than `leastTokens`.
   */
  async reserveCall(request: CallRequest, options: WaitOptions = {}): Promise<ReservedCall> {
    for (let maxTokens = this.#capTokens(request, options); ;) {
      try {
        return { reservation: await this.reserveWhenFree(toCallAmounts(request, maxTokens), options), maxTokens };
      } catch (error) {
        // While it waited, others used more than was to be foreseen.
        const next = this.#capTokens(request, options);
        if (next >= maxTokens) throw error;
        maxTokens = next;
      }
    }
  }

  /** As `reserveCall`. Undefined: it would have to wait, or does not fit. */
  reserveCallNow(request: CallRequest, { finishing = false, signal }: WaitOptions = {}): ReservedCall | undefined {
    signal?.throwIfAborted();
    const maxTokens = this.#capTokens(request, { finishing });
    const units = this.#toUnits(toCallAmounts(request, maxTokens));
    return this.#obstacle(units, finishing) === undefined ? { reservation: this.#hold(units), maxTokens } : undefined;
  }

  /** The most tokens of an answer that fit now, for so much input. Infinity: there is no limit; 0: nothing fits. */
  affordableTokens(
    inputTokens: number,
    price: WorstPrice | undefined,
    { finishing = false, model }: ReserveOptions & { readonly model?: string } = {},
  ): number {
    return this.#affordable(inputTokens, price, model, (axis) => this.#room(axis, finishing));
  }

  /** Counts a step, or throws LimitReached. */
  countIteration(): void {
    this.#count("iterations");
  }

  /** Counts a call of a tool, or throws LimitReached. It counts whatever becomes of it. */
  reserveTool(): void {
    this.#count("toolCalls");
  }

  /** Counts a call that our own cache answered: it holds nothing and costs nothing. */
  countCached(model: string): void {
    this.#charge({ cachedCalls: 1 }, {}, model);
  }

  /** Keeps this much of its own limits for finishing, where the share that is kept anyway is less. */
  keepForFinishing({ tokens, costUsd }: { readonly tokens: number; readonly costUsd: number | null }): void {
    const units = { tokens, costUsd: toNanoUsd(costUsd ?? 0) };
    for (const { bound, mayFinish } of this.#above) if (mayFinish) bound.keep(units);
  }

  /** By axis, of the limit above it that leaves least. Absent: no limit. */
  standing(): { readonly [axis in LedgerAxis]?: Standing } {
    const standings = AXES.flatMap((axis) => {
      const bounds = this.#above.map(({ bound }) => bound).filter((bound) => bound.has(axis));
      const [tightest] = bounds.toSorted((a, b) => a.room(axis, false) - b.room(axis, false));
      if (tightest === undefined) return [];
      const [used, limit, left] = [tightest.used(axis), tightest.limit(axis), tightest.room(axis, false)].map((value) =>
        fromUnits(axis, value),
      ) as [number, number, number];
      return [[axis, { used, limit, left }] as const];
    });
    return Object.fromEntries(standings);
  }

  /** What this node can still spend, by the tightest limit above it, without what calls under way hold. Absent: no limit. */
  remaining({ finishing = false }: ReserveOptions = {}): LedgerLimits {
    const rooms = AXES.filter((axis) => this.#above.some(({ bound }) => bound.has(axis))).map((axis) => {
      return [axis, fromUnits(axis, this.#room(axis, finishing))] as const;
    });
    return Object.fromEntries(rooms);
  }

  /** By this node itself. */
  spent(): Spent {
    return this.#own.toSpent();
  }

  /** By this node and all below it. */
  spentBelow(): Spent {
    return this.#trees[0]?.toSpent() ?? this.spent();
  }

  #count(axis: "iterations" | "toolCalls"): void {
    this.#check({ [axis]: 1 }, false);
    this.#charge({ [axis]: 1 }, { [axis]: 1 });
  }

  #hold(units: Amounts): Reservation {
    for (const { bound } of this.#above) bound.hold(units);
    let isOver = false;
    const giveBack = (): void => {
      isOver = true;
      for (const { bound } of this.#above) bound.free(units);
    };
    return {
      settle: (usage) => {
        if (isOver) throw new TypeError("Cannot settle a reservation: it was settled or released before");
        const charge = toCharge(usage, units.llmCalls ?? 1);
        giveBack();
        this.#charge(charge, toAmounts(charge), usage.model);
        this.#books.wake();
        return new Tally().add(charge).toSpent();
      },
      release: () => {
        if (isOver) return;
        giveBack();
        this.#books.wake();
      },
    };
  }

  #charge(charge: Charge, units: Amounts, model?: string): void {
    for (const { bound } of this.#above) bound.spend(units);
    this.#own.add(charge);
    for (const tally of this.#trees) tally.add(charge);
    this.#books.add(charge, model);
    for (const { bound } of this.#above) bound.warn();
  }

  #check(units: Amounts, finishing: boolean): void {
    const blocked = this.#obstacle(units, finishing);
    if (blocked !== undefined) throw blocked.bound.toRefusal(blocked.axis, units, blocked.isFinishing);
  }

  /** One that will not pass comes before one that may. */
  #obstacle(units: Amounts, finishing: boolean): Obstacle | undefined {
    for (const when of ["ever", "now"] as const) {
      for (const { bound, mayFinish } of this.#above) {
        const isFinishing = finishing && mayFinish;
        const axis = bound.obstacle(units, isFinishing, when);
        if (axis !== undefined) return { bound, axis, isFinishing, isTemporary: when === "now" };
      }
    }
    return undefined;
  }

  #toUnits(amounts: CallAmounts): Amounts {
    if (amounts.costUsd === null) this.#checkPrice(amounts.model ?? "");
    return toUnits(amounts);
  }

  #checkPrice(model: string): void {
    if (this.#above.some(({ bound }) => bound.has("costUsd"))) throw new PriceUnknownError({ model });
  }

  /** What is left, calls under way not counted, as tokens of an answer; throws where it is too little. */
  #capTokens(request: CallRequest, { finishing = false }: ReserveOptions): number {
    const { model, inputTokens, maxTokens, price } = request;
    const least = Math.min(maxTokens, request.leastTokens ?? LEAST_TOKENS);
    const affordable = this.#affordable(inputTokens, price, model, (axis) => this.#left(axis, finishing));
    // What is too little is refused by its limit, with its numbers.
    return Math.max(least, Math.min(maxTokens, affordable));
  }

  #affordable(
    inputTokens: number,
    price: WorstPrice | undefined,
    model: string | undefined,
    roomOf: (axis: LedgerAxis) => number,
  ): number {
    if (price === undefined) this.#checkPrice(model ?? "");
    if (roomOf("llmCalls") < 1 || roomOf("wallMs") <= 0) return 0;
    const byTokens = roomOf("tokens") - inputTokens;
    const costRoom = roomOf("costUsd");
    if (price === undefined || costRoom === Infinity) return Math.max(0, byTokens);
    let tokens = Math.min(byTokens, outputForUsd(price, inputTokens, toUsd(costRoom)));
    // By a token or two, where the sum is rounded up.
    while (tokens > 0 && toNanoUsd(worstCostUsd(price, inputTokens, tokens)) > costRoom) tokens -= 1;
    return Math.max(0, tokens);
  }

  #left(axis: LedgerAxis, finishing: boolean): number {
    let least = Infinity;
    for (const { bound, mayFinish } of this.#above) least = Math.min(least, bound.left(axis, finishing && mayFinish));
    return least;
  }

  /** As `left`, without what calls under way hold. */
  #room(axis: LedgerAxis, finishing: boolean): number {
    let least = Infinity;
    for (const { bound, mayFinish } of this.#above) least = Math.min(least, bound.room(axis, finishing && mayFinish));
    return least;
  }
}

interface Opening {
  readonly nodeId: NodeId;
  readonly grant: LedgerLimits | undefined;
  readonly above: readonly Above[];
  readonly trees?: readonly Tally[];
}

interface Obstacle {
  readonly bound: Bound;
  readonly axis: LedgerAxis;
  readonly isFinishing: boolean;
  readonly isTemporary: boolean;
}
