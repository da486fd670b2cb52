import { describe, expect, test } from "vitest";
import { PriceUnknownError } from "../../../src/errors.ts";
import type { CallSource } from "../../../src/rlm/ledger/usage-totals.ts";
import type { LedgerLimits } from "../../../src/protocol/runs.ts";
import { NO_USAGE, type ModelUsage } from "../../../src/protocol/usage.ts";
import type { Account, ReserveOptions } from "../../../src/rlm/ledger/account.ts";
import { Ledger, type LedgerOptions } from "../../../src/rlm/ledger/ledger.ts";
import { LimitReached } from "../../../src/rlm/ledger/limit-reached.ts";

function from(model: string): CallSource {
  return { model, role: "sub" };
}

function usage(inputTokens: number, costUsd: number | null = 0): ModelUsage {
  return { ...NO_USAGE, inputTokens, tokens: inputTokens, costUsd };
}

function open(limits: LedgerLimits, options: Partial<LedgerOptions> = {}) {
  const clock = { nowMs: 1000 };
  const notices: unknown[] = [];
  const ledger = new Ledger(limits, { now: () => clock.nowMs, onLimit: (notice) => notices.push(notice), ...options });
  return { ledger, root: ledger.openRoot(), clock, notices };
}

/** By axis, what is left of the tightest limit. */
function remaining(account: Account, options: ReserveOptions = {}): LedgerLimits {
  return Object.fromEntries(Object.entries(account.standing(options)).map(([axis, { left }]) => [axis, left]));
}

function refused(work: () => unknown): LimitReached {
  try {
    work();
  } catch (error) {
    if (error instanceof LimitReached) return error;
    throw error;
  }
  throw new Error("it was not refused");
}

const price = { inputUsd: 1, outputUsd: 10, cacheReadUsd: 0.1, cacheWriteUsd: 1.25 };

describe("reserve()", () => {
  test("refuses what does not fit beside used and held amounts, and says how much would fit", () => {
    const { root } = open({ tokens: 1000 });
    root.reserve({ tokens: 400, costUsd: 0 }).settle(usage(300), from("m"));
    root.reserve({ tokens: 200, costUsd: 0 });
    const refusal = refused(() => root.reserve({ tokens: 401, costUsd: 0 }));
    expect(refusal).toMatchObject({ axis: "tokens", ownerId: "n0", used: 300, limit: 1000, remaining: 400 });
    expect(refusal.message).toBe("Cannot go on: this needs 401 tokens, 400 of 1,000 are left");
    expect(() => root.reserve({ tokens: 400, costUsd: 0 })).not.toThrow();
  });

  test("refuses a cost in dollars", () => {
    const { root } = open({ costUsd: 2 });
    const { message } = refused(() => root.reserve({ tokens: 0, costUsd: 5 }));
    expect(message).toBe("Cannot go on: this needs $5.00, $1.80 of $2.00 are left");
  });

  test("keeps a tenth for finishing, and at least one call", () => {
    const { root } = open({ tokens: 1000, llmCalls: 3, costUsd: 1 });
    expect(remaining(root)).toEqual({ tokens: 900, llmCalls: 2, costUsd: 0.9 });
    root.reserve({ tokens: 900, costUsd: 0.9, llmCalls: 2 }).settle(usage(900, 0.9), from("m"));
    expect(refused(() => root.reserve({ tokens: 1, costUsd: 0 })).isTemporary).toBe(false);
    expect(remaining(root, { finishing: true })).toEqual({ tokens: 100, llmCalls: 1, costUsd: 0.1 });
    root.reserve({ tokens: 100, costUsd: 0.1 }, { finishing: true }).settle(usage(100, 0.1), from("m"));
    expect(refused(() => root.reserve({ tokens: 0, costUsd: 0 }, { finishing: true })).axis).toBe("llmCalls");
  });

  test("does not let a child finish with what the run keeps", () => {
    const { root } = open({ tokens: 1000 });
    const child = root.open("n1");
    root.reserve({ tokens: 900, costUsd: 0 });
    expect(refused(() => child.reserve({ tokens: 1, costUsd: 0 }, { finishing: true })).ownerId).toBe("n0");
    expect(() => root.reserve({ tokens: 100, costUsd: 0 }, { finishing: true })).not.toThrow();
  });

  test("meets a limit on the cost to the last digit, in whatever pieces it is spent", () => {
    const { root, ledger } = open({ costUsd: 0.3 }, { finishingShare: 0 });
    for (let call = 0; call < 3; call += 1) root.reserve({ tokens: 0, costUsd: 0.1 }).settle(usage(0, 0.1), from("m"));
    expect(remaining(root)).toEqual({ costUsd: 0 });
    expect(ledger.usage().total.costUsd).toBe(0.3);
  });

  test("throws where the cost is limited and the price is not known", () => {
    const { root } = open({ costUsd: 1 });
    expect(() => root.reserve({ tokens: 1, costUsd: null }, { model: "mystery" })).toThrow(PriceUnknownError);
    expect(() => root.affordableTokens(1, undefined)).toThrow(PriceUnknownError);
    const { root: free, ledger } = open({ tokens: 100 });
    const granted = free.open("n1", { costUsd: 1 });
    expect(() => granted.reserve({ tokens: 1, costUsd: null })).toThrow(PriceUnknownError);
    free.reserve({ tokens: 1, costUsd: null }).settle(usage(1, null), from("m"));
    expect(ledger.usage().total.costUsd).toBeNull();
  });

  test("refuses everything when time is over, but finishing has the last tenth of it", () => {
    const { root, clock } = open({ wallMs: 10_000 });
    expect([remaining(root).wallMs, remaining(root, { finishing: true }).wallMs]).toEqual([9_000, 10_000]);
    clock.nowMs += 9_000;
    expect(refused(() => root.reserve({ tokens: 0, costUsd: 0 }))).toMatchObject({ axis: "wallMs", used: 9_000 });
    expect(refused(() => root.countIteration()).message).toBe("Cannot go on: only 0.0 s of 10.0 s are left");
    root.reserve({ tokens: 0, costUsd: 0 }, { finishing: true }).release();
    clock.nowMs += 1_000;
    expect(refused(() => root.reserve({ tokens: 0, costUsd: 0 }, { finishing: true })).axis).toBe("wallMs");
    expect(remaining(open({}).root).wallMs).toBeUndefined();
  });

  test("refuses invalid amounts", () => {
    const { root } = open({ tokens: 100 });
    for (const tokens of [-1, Number.NaN, Infinity, 0.5]) {
      expect(() => root.reserve({ tokens, costUsd: 0 })).toThrow(RangeError);
      const reservation = root.reserve({ tokens: 1, costUsd: 0 });
      expect(() => reservation.settle(usage(tokens), from("m"))).toThrow(RangeError);
      reservation.release();
    }
    expect(() => open({ tokens: Number.NaN })).toThrow(RangeError);
    expect(() => root.open("n1", { llmCalls: -1 })).toThrow(RangeError);
    expect(remaining(root)).toEqual({ tokens: 90 });
  });
});

describe("a reservation", () => {
  test("gives back what it held when it is released, once", () => {
    const { root, ledger } = open({ tokens: 100, llmCalls: 10 });
    const reservation = root.reserve({ tokens: 90, costUsd: 0 });
    reservation.release();
    reservation.release();
    expect(remaining(root)).toEqual({ tokens: 90, llmCalls: 9 });
    expect(ledger.usage().total).toEqual(NO_USAGE);
    expect(() => reservation.settle(usage(1), from("m"))).toThrow(TypeError);
  });

  test("is settled once, and a release after that changes nothing", () => {
    const { root } = open({ tokens: 100 });
    const reservation = root.reserve({ tokens: 50, costUsd: 0 });
    expect(reservation.settle(usage(20, 0.5), from("m"))).toEqual({
      ...NO_USAGE,
      inputTokens: 20,
      tokens: 20,
      costUsd: 0.5,
      llmCalls: 1,
    });
    expect(() => reservation.settle(usage(20), from("m"))).toThrow(TypeError);
    reservation.release();
    expect(remaining(root)).toEqual({ tokens: 70 });
  });

  test("is reported in full where more was used than was held", () => {
    const { root, ledger } = open({ tokens: 100 });
    root.reserve({ tokens: 50, costUsd: 0 }).settle(usage(130), from("m"));
    expect(ledger.usage().total.tokens).toBe(130);
    expect(remaining(root)).toEqual({ tokens: 0 });
    expect(refused(() => root.reserve({ tokens: 1, costUsd: 0 })).used).toBe(130);
  });
});

describe("a grant", () => {
  test("limits a node and its descendants, and takes nothing from the others", () => {
    const { root } = open({ tokens: 1000 });
    const child = root.open("n1", { tokens: 100, wallMs: 1000 });
    const grandchild = child.open("n2", { tokens: 5000 });
    expect(remaining(grandchild)).toEqual({ tokens: 90, wallMs: 900 });
    expect(remaining(root)).toEqual({ tokens: 900 });
    grandchild.reserve({ tokens: 60, costUsd: 0 }).settle(usage(60), from("m"));
    expect([remaining(child).tokens, remaining(root).tokens]).toEqual([30, 840]);
    expect(refused(() => child.reserve({ tokens: 31, costUsd: 0 }))).toMatchObject({ ownerId: "n1", limit: 100 });
    expect(refused(() => grandchild.reserve({ tokens: 31, costUsd: 0 }, { finishing: true })).ownerId).toBe("n1");
    child.reserve({ tokens: 40, costUsd: 0 }, { finishing: true }).settle(usage(40), from("m"));
    expect(() => root.reserve({ tokens: 800, costUsd: 0 })).not.toThrow();
  });

  test("that is larger than what is left does not raise the limit", () => {
    const { root } = open({ tokens: 1000 });
    expect(remaining(root.open("n1", { tokens: 1_000_000 }))).toEqual({ tokens: 900 });
  });

  test("counts time from when it was given", () => {
    const { root, clock } = open({});
    clock.nowMs += 5000;
    const child = root.open("n1", { wallMs: 1000 });
    clock.nowMs += 800;
    expect(remaining(child)).toEqual({ wallMs: 100 });
  });
});

describe("counts", () => {
  test("of steps and tool calls end at their limit, and none is kept for finishing", () => {
    const { root, ledger } = open({ iterations: 2, toolCalls: 1 });
    root.countIteration();
    root.open("n1").countIteration();
    root.countToolCall();
    expect(refused(() => root.countIteration())).toMatchObject({ axis: "iterations", used: 2, limit: 2, remaining: 0 });
    expect(refused(() => root.countToolCall()).message).toBe(
      "Cannot go on: this needs 1 call of a tool, 0 of 1 are left",
    );
    expect(ledger.usage().byNode).toEqual({
      n0: { ...NO_USAGE, iterations: 1, toolCalls: 1 },
      n1: { ...NO_USAGE, iterations: 1 },
    });
  });

  test("by node, by model, by role and in total are of the same calls", () => {
    const { root, ledger, clock } = open({});
    const child = root.open("n1");
    root.reserve({ tokens: 10, costUsd: 1 }).settle(usage(10, 0.5), { model: "large", role: "root" });
    child.reserve({ tokens: 10, costUsd: 1 }).settle(usage(3, 0.25), from("small"));
    child.reserve({ tokens: 10, costUsd: 1 }).settle(usage(4, 0.25), from("__proto__"));
    clock.nowMs += 7;
    const spent = (tokens: number, costUsd: number, llmCalls: number) => ({
      ...NO_USAGE,
      inputTokens: tokens,
      tokens,
      costUsd,
      llmCalls,
    });
    const { byModel, ...rest } = ledger.usage();
    expect(rest).toEqual({
      total: spent(17, 1, 3),
      byRole: { root: spent(10, 0.5, 1), sub: spent(7, 0.5, 2) },
      byNode: { n0: spent(10, 0.5, 1), n1: spent(7, 0.5, 2) },
      wallMs: 7,
    });
    expect(Object.entries(byModel)).toEqual([
      ["large", spent(10, 0.5, 1)],
      ["small", spent(3, 0.25, 1)],
      ["__proto__", spent(4, 0.25, 1)],
    ]);
    expect([root.used().tokens, child.used().tokens]).toEqual([10, 7]);
  });

  test("of answers from the cache cost nothing", () => {
    const { root, ledger } = open({ tokens: 100, llmCalls: 5 });
    root.countCached(from("m"));
    expect(remaining(root)).toEqual({ tokens: 90, llmCalls: 4 });
    expect(ledger.usage().total).toEqual({ ...NO_USAGE, cachedCalls: 1 });
    expect(ledger.usage().byModel).toEqual({ m: { ...NO_USAGE, cachedCalls: 1 } });
  });

  test("have one account per node", () => {
    const { root } = open({});
    expect(() => root.open("n0")).toThrow(RangeError);
  });
});

describe("onLimit", () => {
  test("is called once at 80 %, and once when something was refused, with the owner of the limit", () => {
    const { root, notices, clock } = open({ tokens: 1000, wallMs: 1000 });
    const child = root.open("n1", { llmCalls: 2 });
    child.reserve({ tokens: 799, costUsd: 0 }).settle(usage(799), from("m"));
    expect(notices).toEqual([]);
    root.reserve({ tokens: 1, costUsd: 0 }).settle(usage(1), from("m"));
    root.reserve({ tokens: 1, costUsd: 0 }).settle(usage(1), from("m"));
    const warning = { type: "limit-warning", nodeId: "n0", axis: "tokens", used: 800, limit: 1000 };
    expect(notices.splice(0)).toEqual([warning]);
    refused(() => child.reserve({ tokens: 0, costUsd: 0 }));
    refused(() => child.reserve({ tokens: 0, costUsd: 0 }));
    refused(() => root.reserve({ tokens: 500, costUsd: 0 }));
    expect(notices.splice(0)).toEqual([
      { type: "limit-reached", nodeId: "n1", axis: "llmCalls", used: 1, limit: 2 },
      { ...warning, type: "limit-reached", used: 801 },
    ]);
    clock.nowMs += 950;
    refused(() => root.countIteration());
    const time = { nodeId: "n0", axis: "wallMs", used: 950, limit: 1000 };
    expect(notices).toEqual([
      { type: "limit-warning", ...time },
      { type: "limit-reached", ...time },
    ]);
  });

  test("are not near after they were reached", () => {
    const { root, notices } = open({ tokens: 1000 });
    root.reserve({ tokens: 700, costUsd: 0 }).settle(usage(700), from("m"));
    refused(() => root.reserve({ tokens: 500, costUsd: 0 }));
    root.reserve({ tokens: 150, costUsd: 0 }).settle(usage(150), from("m"));
    expect(notices).toMatchObject([{ type: "limit-reached", axis: "tokens", used: 700 }]);
  });
});

describe("affordableTokens()", () => {
  test("is the output that a call can still afford, by tokens and by cost", () => {
    const { root } = open({ tokens: 10_000, costUsd: 0.05 }, { finishingShare: 0 });
    // 1,000 tokens of input may be written to the cache: $0.00125. The rest pays for 4,875 tokens.
    expect(root.affordableTokens(1000, price)).toBe(4875);
    expect(root.affordableTokens(9_500, { ...price, inputUsd: 0, cacheWriteUsd: 0, cacheReadUsd: 0 })).toBe(500);
    expect(root.affordableTokens(10_001, price)).toBe(0);
    root.reserve({ tokens: 1, costUsd: 0.049 });
    expect(root.affordableTokens(1000, price)).toBe(0);
    expect(open({}).root.affordableTokens(1000, undefined)).toBe(Infinity);
    expect(open({ llmCalls: 1 }).root.affordableTokens(1, undefined)).toBe(0);
    expect(open({ llmCalls: 1 }).root.affordableTokens(1, undefined, { finishing: true })).toBe(Infinity);
  });

  test("uses the highest price that the input can reach", () => {
    const tiers = [{ ...price, outputUsd: 20, aboveInputTokens: 500 }];
    const { root } = open({ costUsd: 0.01 }, { finishingShare: 0 });
    expect(root.affordableTokens(0, { ...price, tiers })).toBe(1000);
    expect(root.affordableTokens(501, { ...price, tiers })).toBe(468);
  });
});

describe("reserveCall()", () => {
  const call = { model: "m", inputTokens: 100, maxTokens: 4000, price: undefined };

  test("reserves less where less is left, and is refused below the useful minimum", async () => {
    const { root } = open({ tokens: 1000 });
    const first = await root.reserveCall(call);
    expect(first.maxTokens).toBe(800);
    first.reservation.settle(usage(600), from("m"));
    await expect(root.reserveCall(call)).rejects.toMatchObject({ axis: "tokens", used: 600, remaining: 300 });
    const second = await root.reserveCall({ ...call, leastTokens: 100 });
    expect(second.maxTokens).toBe(200);
    second.reservation.settle(usage(300), from("m"));
    expect((await root.reserveCall({ ...call, inputTokens: 10, leastTokens: 1 }, { finishing: true })).maxTokens).toBe(
      90,
    );
  });

  test("waits for calls in flight rather than reserve less than will be left", async () => {
    const { root, notices } = open({ tokens: 1000 });
    const first = await root.reserveCall({ ...call, maxTokens: 700 });
    const waiting = root.reserveCall({ ...call, maxTokens: 500 });
    first.reservation.settle(usage(120), from("m"));
    expect((await waiting).maxTokens).toBe(500);
    expect(notices).toEqual([]);
  });

  test("reserves what is left when calls in flight used what it waited for", async () => {
    const { root, notices } = open({ tokens: 1000 });
    const first = await root.reserveCall({ ...call, maxTokens: 700 });
    const waiting = root.reserveCall({ ...call, maxTokens: 700, leastTokens: 10 });
    first.reservation.settle(usage(750), from("m"));
    expect((await waiting).maxTokens).toBe(50);
    expect(notices).toEqual([]);
  });

  test("reports a limit as reached only when the call is refused, not while it asks for less", async () => {
    const { root, notices } = open({ tokens: 1000 });
    const first = await root.reserveCall(call);
    const waiting = root.reserveCall({ ...call, leastTokens: 10 });
    first.reservation.settle(usage(30), from("m"));
    const second = await waiting;
    expect(notices).toEqual([]);
    second.reservation.settle(usage(800), from("m"));
    expect(notices.splice(0)).toEqual([
      { type: "limit-warning", nodeId: "n0", axis: "tokens", used: 830, limit: 1000 },
    ]);
    await expect(root.reserveCall({ ...call, leastTokens: 10 })).rejects.toMatchObject({ axis: "tokens", used: 830 });
    expect(notices).toEqual([{ type: "limit-reached", nodeId: "n0", axis: "tokens", used: 830, limit: 1000 }]);
  });

  test("stops waiting with the signal's reason, and holds nothing", async () => {
    const { root } = open({ tokens: 1000 });
    const first = root.reserve({ tokens: 900, costUsd: 0 });
    const stop = new AbortController();
    const waiting = root.reserveCall({ ...call, maxTokens: 500 }, { signal: stop.signal });
    stop.abort(new Error("enough"));
    await expect(waiting).rejects.toThrow("enough");
    first.release();
    expect(remaining(root)).toEqual({ tokens: 900 });
    await expect(root.reserveCall(call, { signal: stop.signal })).rejects.toThrow("enough");
  });

  test("lets a hundred calls in parallel through a limit that holds three at a time", async () => {
    const { root, ledger } = open({ tokens: 11_000, costUsd: 1 });
    let most = 0;
    let underWay = 0;
    await Promise.all(
      Array.from({ length: 100 }, async () => {
        const { reservation } = await root.reserveCall({ ...call, maxTokens: 3000, price });
        underWay += 1;
        most = Math.max(most, underWay);
        await Promise.resolve();
        underWay -= 1;
        reservation.settle(usage(60, 0.0001), from("m"));
      }),
    );
    expect(ledger.usage().total).toMatchObject({ tokens: 6000, llmCalls: 100, costUsd: 0.01 });
    expect(most).toBe(3);
  });
});
