// The account of one node in the ledger of its run. Everything it spends counts against every limit above the node.

import { PriceUnknownError } from "../../errors.ts";
import type { ModelPrice } from "../../backends/backend.ts";
import { outputForUsd, worstCostUsd } from "../../backends/prices.ts";
import type { LedgerAxis, LedgerLimits, NodeId } from "../../protocol/runs.ts";
import { NO_USAGE, toNanoUsd, toReservedNanoUsd, toUsd, type ModelUsage } from "../../protocol/usage.ts";
import { onAbort } from "../../util/async/on-abort.ts";
import type { LimitChain, Obstacle, Standing } from "./limit-chain.ts";
import { Limit, type LimitedUsage, type LimitOptions } from "./limit.ts";
import { type CallRequest, type MaxUsage, maxUsageOf } from "./max-usage.ts";
import type { CallSource, UsageTotals } from "./usage-totals.ts";
import type { WaitQueue } from "./wait-queue.ts";

export interface ReserveOptions {
  /** May use the share that is kept for finishing, where the limit is this node's own. Default: false. */
  readonly finishing?: boolean;
  /** For the message of a PriceUnknownError. */
  readonly model?: string;
  readonly signal?: AbortSignal;
}

export interface Reservation {
  /** Call once, with what was used, be it less or more than was held. Returns what was charged. Throws once the reservation is over. */
  settle(usage: ModelUsage, source: CallSource): ModelUsage;
  /** Nothing was spent. Does nothing once the reservation is over. */
  release(): void;
}

export interface ReservedCall {
  readonly reservation: Reservation;
  /** The reserved output tokens. */
  readonly maxTokens: number;
}

/** Shared by all accounts of a run. */
export interface SharedState {
  readonly totals: UsageTotals;
  readonly queue: WaitQueue;
  readonly limitOptions: LimitOptions;
}

const LEAST_TOKENS = 256;

export class Account {
  readonly nodeId: NodeId;
  readonly #shared: SharedState;
  readonly #limits: LimitChain;

  constructor(shared: SharedState, nodeId: NodeId, limits: LimitChain) {
    shared.totals.openNode(nodeId);
    this.nodeId = nodeId;
    this.#shared = shared;
    this.#limits = limits;
  }

  /** The account of a child. A grant larger than what is left does not raise the limits above it. */
  open(nodeId: NodeId, grant?: LedgerLimits): Account {
    const own = grant === undefined ? undefined : new Limit(nodeId, grant, this.#shared.limitOptions);
    return new Account(this.#shared, nodeId, this.#limits.extend(nodeId, own));
  }

  /** Whether tokens or costs are limited. If so, every call needs a limit on its output. */
  get isSpendingLimited(): boolean {
    return this.#limits.has("tokens") || this.#limits.has("costUsd");
  }

  /** Throws LimitReached or PriceUnknownError; nothing is reserved then. */
  reserve(most: MaxUsage, { finishing = false, model }: ReserveOptions = {}): Reservation {
    const held = this.#toHeld(most, model);
    this.#check(held, finishing);
    return this.#hold(held);
  }

  /** Like `reserve`, but waits while calls in flight may give back what is missing. */
  async reserveWhenFree(most: MaxUsage, options: ReserveOptions = {}): Promise<Reservation> {
    const outcome = await this.#reserveOrObstacle(most, options);
    if ("refuse" in outcome) throw outcome.refuse();
    return outcome;
  }

  /** Resolves to a permanent obstacle without reporting it: the caller may ask for less. */
  async #reserveOrObstacle(most: MaxUsage, options: ReserveOptions): Promise<Reservation | Obstacle> {
    const { finishing = false, model, signal } = options;
    signal?.throwIfAborted();
    const held = this.#toHeld(most, model);
    if (this.#limits.obstacle(held, finishing) === undefined) return this.#hold(held);
    return this.#holdWhenFree(held, finishing, signal);
  }

  #holdWhenFree(
    held: LimitedUsage,
    finishing: boolean,
    signal: AbortSignal | undefined,
  ): Promise<Reservation | Obstacle> {
    return new Promise((resolve, reject) => {
      const end = (): void => {
        leaveQueue();
        stopListening();
      };
      const abort = (): void => {
        end();
        reject(signal?.reason as Error);
      };
      const attempt = (): boolean => {
        const obstacle = this.#limits.obstacle(held, finishing);
        if (obstacle?.isTemporary === true) return false;
        end();
        resolve(obstacle ?? this.#hold(held));
        return true;
      };
      const leaveQueue = this.#shared.queue.add({ attempt, usage: held, group: finishing ? held : this });
      const stopListening = onAbort(signal, abort);
      attempt();
    });
  }

  /**
   * Reserves a call with as many output tokens as are left, `maxTokens` at most. Waits for calls in flight rather than take fewer than
   * are really left. Throws like `reserve` where that would be fewer than `leastTokens`.
   */
  async reserveCall(request: CallRequest, options: ReserveOptions = {}): Promise<ReservedCall> {
    const { model } = request;
    for (let maxTokens = this.#capTokens(request, options); ;) {
      const outcome = await this.#reserveOrObstacle(maxUsageOf(request, maxTokens), { ...options, model });
      if (!("refuse" in outcome)) return { reservation: outcome, maxTokens };
      // While it waited, other calls spent a part of what was left when it asked.
      const next = this.#capTokens(request, options);
      if (next >= maxTokens) throw outcome.refuse();
      maxTokens = next;
    }
  }

  /** Like `reserveCall`. Undefined: it would have to wait, or does not fit. */
  reserveCallNow(request: CallRequest, options: ReserveOptions = {}): ReservedCall | undefined {
    const { finishing = false, signal } = options;
    signal?.throwIfAborted();
    const maxTokens = this.#capTokens(request, options);
    const held = this.#toHeld(maxUsageOf(request, maxTokens), request.model);
    return this.#limits.obstacle(held, finishing) === undefined
      ? { reservation: this.#hold(held), maxTokens }
      : undefined;
  }

  /** The most output tokens that fit now, for this much input. Infinity: there is no limit; 0: nothing fits. */
  affordableTokens(
    inputTokens: number,
    price: ModelPrice | undefined,
    { finishing = false, model }: ReserveOptions = {},
  ): number {
    return this.#affordable(inputTokens, price, model, (axis) => this.#limits.least("available", axis, finishing));
  }

  /** Until the limit on time that ends first. Infinity: there is none. */
  timeLeftMs({ finishing = false }: ReserveOptions = {}): number {
    return this.#limits.least("unspent", "wallMs", finishing);
  }

  /** Counts a step, or throws LimitReached. */
  countIteration(): void {
    this.#count("iterations");
  }

  /** Counts a tool call, or throws LimitReached. It counts whether or not the call succeeds. */
  countToolCall(): void {
    this.#count("toolCalls");
  }

  /** Counts a call that our own cache answered: it holds nothing and costs nothing. */
  countCached(source: CallSource): void {
    this.#charge({ ...NO_USAGE, cachedCalls: 1 }, source);
  }

  /** Keeps at least this much of the node's own limits for finishing. */
  keepForFinishing(usage: LimitedUsage): void {
    this.#limits.keepForFinishing(usage);
  }

  /** By axis, the limit above the node that leaves least. Absent: no limit. */
  standing({ finishing = false }: ReserveOptions = {}): { readonly [axis in LedgerAxis]?: Standing } {
    return this.#limits.standing(finishing);
  }

  /** By this node itself, without its children. */
  used(): ModelUsage {
    return this.#shared.totals.ofNode(this.nodeId);
  }

  #count(axis: "iterations" | "toolCalls"): void {
    const usage = { ...NO_USAGE, [axis]: 1 };
    this.#check(usage, false);
    this.#charge(usage);
  }

  #hold(held: LimitedUsage): Reservation {
    this.#limits.hold(held);
    let isOver = false;
    const giveBack = (): void => {
      isOver = true;
      this.#limits.release(held);
    };
    return {
      settle: (usage, source) => {
        if (isOver) throw new TypeError("Cannot settle a reservation: it was settled or released before");
        checkAmounts(usage);
        const costUsd = usage.costUsd === null ? null : toUsd(toNanoUsd(usage.costUsd));
        const charge = { ...usage, costUsd, llmCalls: held.llmCalls ?? 0 };
        giveBack();
        this.#charge(charge, source);
        this.#shared.queue.wake();
        return charge;
      },
      release: () => {
        if (isOver) return;
        giveBack();
        this.#shared.queue.wake();
      },
    };
  }

  #charge(usage: ModelUsage, source?: CallSource): void {
    this.#limits.spend(usage);
    this.#shared.totals.add(usage, this.nodeId, source);
    this.#limits.warn();
  }

  #check(usage: LimitedUsage, finishing: boolean): void {
    const obstacle = this.#limits.obstacle(usage, finishing);
    if (obstacle !== undefined) throw obstacle.refuse();
  }

  /** Without a limit on costs, an unknown cost is held as 0. */
  #toHeld({ tokens, costUsd, llmCalls = 1 }: MaxUsage, model: string | undefined): LimitedUsage {
    if (costUsd === null) this.#requirePrice(model);
    checkAmounts({ tokens, costUsd, llmCalls });
    return { tokens, costUsd: toUsd(toReservedNanoUsd(costUsd ?? 0)), llmCalls };
  }

  #requirePrice(model = ""): void {
    if (this.#limits.has("costUsd")) throw new PriceUnknownError({ model });
  }

  /** The output tokens that fit once calls in flight have given back what they hold. Too few are refused later, by the limit itself. */
  #capTokens(request: CallRequest, { finishing = false }: ReserveOptions): number {
    const { model, inputTokens, maxTokens, price } = request;
    const least = Math.min(maxTokens, request.leastTokens ?? LEAST_TOKENS);
    const affordable = this.#affordable(inputTokens, price, model, (axis) =>
      this.#limits.least("unspent", axis, finishing),
    );
    return Math.max(least, Math.min(maxTokens, affordable));
  }

  #affordable(
    inputTokens: number,
    price: ModelPrice | undefined,
    model: string | undefined,
    leftOf: (axis: LedgerAxis) => number,
  ): number {
    if (price === undefined) this.#requirePrice(model);
    if (leftOf("llmCalls") < 1 || leftOf("wallMs") <= 0) return 0;
    const byTokens = leftOf("tokens") - inputTokens;
    const leftUsd = leftOf("costUsd");
    if (price === undefined || leftUsd === Infinity) return Math.max(0, byTokens);
    let tokens = Math.min(byTokens, outputForUsd(price, inputTokens, leftUsd));
    const heldUsd = (): number => toUsd(toReservedNanoUsd(worstCostUsd(price, inputTokens, tokens)));
    // Rounding up the cost can make it a token or two less.
    while (tokens > 0 && heldUsd() > leftUsd) tokens -= 1;
    return Math.max(0, tokens);
  }
}

function checkAmounts(amounts: LimitedUsage): void {
  for (const name in amounts) {
    const value = amounts[name as keyof LimitedUsage] ?? 0;
    const isAmount = name === "costUsd" ? Number.isFinite(value) : Number.isSafeInteger(value);
    if (!isAmount || value < 0)
      throw new RangeError(`Cannot use ${value} as ${name}: it must be a number of at least 0`);
  }
}
