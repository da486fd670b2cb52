// One model call in the ledger. Every attempt is reserved before it is made and settled with what it used.
//
// An attempt that failed may have used something. That is settled at once, and the next attempt has to fit as the first one had, so
// that retries cannot overshoot a limit together. All attempts count as one call.

import type { ModelPrice } from "../../backends/backend.ts";
import { costOf } from "../../backends/prices.ts";
import type { ModelRole } from "../../protocol/runs.ts";
import { addUsage, NO_USAGE, subtractUsage, type ModelUsage } from "../../protocol/usage.ts";
import type { Account, Reservation } from "./account.ts";
import type { MaxUsage } from "./max-usage.ts";

export interface ChargedCallOptions {
  readonly account: Account;
  readonly model: string;
  readonly role: ModelRole;
  readonly price: ModelPrice | undefined;
  readonly most: MaxUsage;
  readonly finishing: boolean;
  readonly signal: AbortSignal;
}

export class ChargedCall {
  readonly #options: ChargedCallOptions;
  #reservation: Reservation | undefined;
  #settled = NO_USAGE;
  #charged = NO_USAGE;

  constructor(reservation: Reservation, options: ChargedCallOptions) {
    this.#reservation = reservation;
    this.#options = options;
  }

  /** Call before another attempt, with the usage of all attempts so far. Throws LimitReached where another one does not fit. */
  async retry(usage: ModelUsage): Promise<undefined> {
    if (subtractUsage(usage, this.#settled).tokens === 0) return undefined;
    this.#settle(usage);
    const { account, most, ...options } = this.#options;
    this.#reservation = await account.reserveWhenFree({ ...most, llmCalls: 0 }, options);
    return undefined;
  }

  /**
   * Call once, with the usage and the number of all attempts. Returns what was charged: nothing where no request was made. One that was
   * turned away costs nothing, but it is a call: code may make any number of them.
   */
  end(usage: ModelUsage, attempts: number): ModelUsage {
    if (attempts === 0 && subtractUsage(usage, this.#settled).tokens === 0) this.#reservation?.release();
    else this.#settle(usage);
    return this.#charged;
  }

  #settle(usage: ModelUsage): void {
    const { model, role, price } = this.#options;
    const added = subtractUsage(usage, this.#settled);
    const costUsd = added.costUsd ?? (price === undefined ? null : costOf(added, price));
    const reservation = this.#reservation;
    this.#reservation = undefined;
    this.#settled = usage;
    if (reservation !== undefined)
      this.#charged = addUsage(this.#charged, reservation.settle({ ...added, costUsd }, { model, role }));
  }
}
