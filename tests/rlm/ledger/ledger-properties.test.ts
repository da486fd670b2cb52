// Everything that can happen to a ledger, in every order: what it promises holds after each step.
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { LedgerLimits, Spent } from "../../../src/protocol/runs.ts";
import { type Account, Ledger, type Reservation } from "../../../src/rlm/ledger/ledger.ts";
import { LimitReached } from "../../../src/rlm/ledger/limit-reached.ts";

const AXES = ["tokens", "costUsd", "llmCalls", "toolCalls", "iterations"] as const;
type Axis = (typeof AXES)[number];
type Counts = Record<Axis, number>;

const limits = fc.record(
  {
    tokens: fc.nat({ max: 5_000 }),
    costUsd: fc.nat({ max: 5_000 }).map((mills) => mills / 1000),
    llmCalls: fc.nat({ max: 20 }),
    toolCalls: fc.nat({ max: 5 }),
    iterations: fc.nat({ max: 5 }),
  },
  { requiredKeys: [] },
);

const step = fc.oneof(
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant("open" as const),
      at: fc.nat(),
      grant: fc.option(limits, { nil: undefined }),
    }),
  },
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant("reserve" as const),
      at: fc.nat(),
      tokens: fc.nat({ max: 1_000 }),
      mills: fc.nat({ max: 700 }),
      finishing: fc.boolean(),
    }),
  },
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant("settle" as const),
      at: fc.nat(),
      tokenShare: fc.double({ min: 0, max: 1, noNaN: true }),
      costShare: fc.double({ min: 0, max: 1, noNaN: true }),
      model: fc.constantFrom("a", "b", "c"),
      isCached: fc.boolean(),
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("release" as const), at: fc.nat() }) },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constant("count" as const), at: fc.nat(), what: fc.constantFrom("tool", "step") }),
  },
);
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

interface Node {
  readonly account: Account;
  readonly parent: Node | undefined;
  readonly grant: LedgerLimits | undefined;
}

interface Held {
  readonly node: Node;
  readonly reservation: Reservation;
  readonly tokens: number;
  readonly costUsd: number;
  readonly finishing: boolean;
}

/** Does the steps on a ledger, and keeps books of its own beside it. */
class World {
  readonly limits: LedgerLimits;
  readonly ledger: Ledger;
  readonly nodes: Node[];
  readonly held: Held[] = [];

  constructor(runLimits: LedgerLimits) {
    this.limits = runLimits;
    this.ledger = new Ledger(runLimits, { now: () => 0 });
    this.nodes = [{ account: this.ledger.open("n0"), parent: undefined, grant: undefined }];
  }

  do(next: Step): void {
    if (next.do === "settle" || next.do === "release") {
      const [held] = this.held.length === 0 ? [] : this.held.splice(next.at % this.held.length, 1);
      if (held === undefined) return;
      if (next.do === "release") return held.reservation.release();
      const outputTokens = Math.floor(held.tokens * next.tokenShare);
      const used = { cacheReadTokens: 0, cacheWriteTokens: 0, reasoningTokens: 0, outputTokens, inputTokens: 0 };
      const costUsd = held.costUsd * next.costShare;
      held.reservation.settle({ ...used, model: next.model, costUsd, isCached: next.isCached });
      return;
    }
    const node = this.nodes[next.at % this.nodes.length];
    if (node === undefined) return;
    try {
      this.#try(next, node);
    } catch (error) {
      if (!(error instanceof LimitReached)) throw error;
    }
  }

  /** What a node and all below it used and hold. */
  below(node: Node): Counts {
    const spent: Counts = { ...zeros(), ...pick(node.account.spentBelow()) };
    for (const held of this.held) {
      if (!isBelow(held.node, node)) continue;
      spent.tokens += held.tokens;
      spent.costUsd += held.costUsd;
      spent.llmCalls += 1;
    }
    return spent;
  }

  #try(next: Extract<Step, { do: "open" | "reserve" | "count" }>, node: Node): void {
    switch (next.do) {
      case "open": {
        const account = node.account.open(`n${this.nodes.length}`, next.grant);
        this.nodes.push({ account, parent: node, grant: next.grant });
        return;
      }
      case "reserve": {
        const { tokens, finishing } = next;
        const costUsd = next.mills / 1000;
        const reservation = node.account.reserve({ tokens, costUsd, llmCalls: 1 }, { finishing });
        this.held.push({ node, reservation, tokens, costUsd, finishing });
        return;
      }
      case "count":
        return next.what === "tool" ? node.account.reserveTool() : node.account.countIteration();
    }
  }
}

function isBelow(node: Node | undefined, above: Node): boolean {
  return node !== undefined && (node === above || isBelow(node.parent, above));
}

function zeros(): Counts {
  return { tokens: 0, costUsd: 0, llmCalls: 0, toolCalls: 0, iterations: 0 };
}

function pick(spent: Spent): Counts {
  const { tokens, llmCalls, toolCalls, iterations } = spent;
  return { tokens, llmCalls, toolCalls, iterations, costUsd: spent.costUsd ?? Number.NaN };
}

/** The sum, money in billionths. */
function sum(parts: readonly Spent[]): Record<string, number> {
  const sums: Record<string, number> = {};
  for (const part of parts) {
    for (const [key, value] of Object.entries(part) as [string, number][]) {
      sums[key] = (sums[key] ?? 0) + (key === "costUsd" ? Math.round(value * 1e9) : value);
    }
  }
  return sums;
}

const steps = fc.array(step, { maxLength: 120 });

describe("whatever the order of calls in a tree of accounts with grants", () => {
  test("used and held stay within every limit at every moment", () => {
    fc.assert(
      fc.property(limits, steps, (runLimits, list) => {
        const world = new World(runLimits);
        for (const next of list) {
          world.do(next);
          for (const node of world.nodes) {
            const bound = node.parent === undefined ? runLimits : (node.grant ?? {});
            const used = world.below(node);
            for (const axis of AXES) expect(used[axis]).toBeLessThanOrEqual((bound[axis] ?? Infinity) + 1e-8);
          }
        }
      }),
      { numRuns: 150 },
    );
  });

  test("the sum over nodes is the total, and so is the sum over models but for what has no model", () => {
    fc.assert(
      fc.property(limits, steps, (runLimits, list) => {
        const world = new World(runLimits);
        for (const next of list) world.do(next);
        const { total, byNode, byModel } = world.ledger.usage();
        expect(sum(Object.values(byNode))).toEqual(sum([total]));
        const ofModels = { ...total, toolCalls: 0, iterations: 0 };
        expect({ ...sum([{ ...ofModels, ...blank(total) }]), ...sum(Object.values(byModel)) }).toEqual(sum([ofModels]));
        expect(world.nodes[0]?.account.spentBelow()).toEqual(total);
      }),
      { numRuns: 150 },
    );
  });

  test("when all calls have ended, what is left is the limit without what was used", () => {
    fc.assert(
      fc.property(limits, steps, (runLimits, list) => {
        const world = new World(runLimits);
        for (const next of list) world.do(next);
        for (const { reservation } of world.held.splice(0)) reservation.release();
        const used = pick(world.ledger.usage().total);
        const left = world.nodes[0]?.account.remaining({ finishing: true }) ?? {};
        for (const axis of AXES) {
          const limit = runLimits[axis];
          if (limit === undefined) expect(left[axis]).toBeUndefined();
          else expect(left[axis]).toBeCloseTo(limit - used[axis], 8);
        }
      }),
      { numRuns: 150 },
    );
  });

  test("what is kept for finishing is there at the end, however hard everybody tried", () => {
    fc.assert(
      fc.property(limits, steps, (runLimits, list) => {
        const world = new World(runLimits);
        const root = world.nodes[0];
        for (const next of list) {
          // Everybody may finish but the root, whose share it is.
          const isRoot = "at" in next && world.nodes[next.at % world.nodes.length] === root;
          world.do(next.do === "reserve" && isRoot ? { ...next, finishing: false } : next);
        }
        const { tokens = 0, costUsd = 0, llmCalls } = runLimits;
        if (llmCalls === 0) return;
        const kept = { tokens: Math.floor(tokens / 10), costUsd: Math.floor(costUsd * 1e8) / 1e9 };
        expect(() => root?.account.reserve(kept, { finishing: true })).not.toThrow();
      }),
      { numRuns: 150 },
    );
  });

  test("calls that wait for what others hold all end, and none overshoots", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 100, max: 3_000 }),
        fc.array(
          fc.record({ tokens: fc.integer({ min: 1, max: 400 }), share: fc.double({ min: 0, max: 1, noNaN: true }) }),
          {
            maxLength: 40,
          },
        ),
        fc.scheduler(),
        async (limit, calls, scheduler) => {
          const ledger = new Ledger({ tokens: limit }, { now: () => 0 });
          const root = ledger.open("n0");
          let held = 0;
          const ended = calls.map(async ({ tokens, share }, index) => {
            const account = index % 2 === 0 ? root : root.open(`n${index + 1}`);
            const reservation = await account.reserveWhenFree({ tokens, costUsd: null }).catch((error: unknown) => {
              if (error instanceof LimitReached && !error.isTemporary) return undefined;
              throw error;
            });
            if (reservation === undefined) return;
            held += tokens;
            expect(held + ledger.usage().total.tokens).toBeLessThanOrEqual(limit);
            await scheduler.schedule(Promise.resolve());
            held -= tokens;
            const used = {
              cacheReadTokens: 0,
              cacheWriteTokens: 0,
              reasoningTokens: 0,
              outputTokens: 0,
              costUsd: null,
            };
            reservation.settle({ ...used, model: "m", inputTokens: Math.floor(tokens * share) });
          });
          await scheduler.waitFor(Promise.all(ended));
          expect(ledger.usage().total.tokens).toBeLessThanOrEqual(limit);
        },
      ),
      { numRuns: 50 },
    );
  });
});

/** Zero for everything, as a sum over no models has no keys at all. */
function blank(spent: Spent): Spent {
  return Object.fromEntries(Object.keys(spent).map((key) => [key, 0])) as unknown as Spent;
}
