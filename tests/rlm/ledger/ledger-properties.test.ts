// Random sequences of operations on a ledger: its invariants hold after each of them.
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { CallSource } from "../../../src/rlm/ledger/usage-totals.ts";
import type { LedgerLimits } from "../../../src/protocol/runs.ts";
import { addUsage, NO_USAGE, toModelUsage, type ModelUsage } from "../../../src/protocol/usage.ts";
import type { Account, Reservation } from "../../../src/rlm/ledger/account.ts";
import { Ledger } from "../../../src/rlm/ledger/ledger.ts";
import { LimitReached } from "../../../src/rlm/ledger/limit-reached.ts";

function from(model: string): CallSource {
  return { model, role: "sub" };
}

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

/** Does the steps on a ledger, and keeps track of what is held. */
class World {
  readonly limits: LedgerLimits;
  readonly ledger: Ledger;
  readonly nodes: Node[];
  readonly held: Held[] = [];

  constructor(runLimits: LedgerLimits) {
    this.limits = runLimits;
    this.ledger = new Ledger(runLimits, { now: () => 0 });
    this.nodes = [{ account: this.ledger.openRoot(), parent: undefined, grant: undefined }];
  }

  do(next: Step): void {
    if (next.do === "settle" || next.do === "release") {
      const [held] = this.held.length === 0 ? [] : this.held.splice(next.at % this.held.length, 1);
      if (held === undefined) return;
      if (next.do === "release") return held.reservation.release();
      if (next.isCached) {
        held.node.account.countCached(from(next.model));
        return held.reservation.release();
      }
      const outputTokens = Math.floor(held.tokens * next.tokenShare);
      const costUsd = held.costUsd * next.costShare;
      held.reservation.settle(toModelUsage({ ...NO_USAGE, outputTokens, costUsd }), from(next.model));
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

  /** What a node and its descendants used and hold. */
  below(node: Node): Counts {
    const nodes = this.nodes.filter((other) => isBelow(other, node));
    const spent: Counts = pick(nodes.map(({ account }) => account.used()).reduce(addUsage, NO_USAGE));
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
        return next.what === "tool" ? node.account.countToolCall() : node.account.countIteration();
    }
  }
}

function isBelow(node: Node | undefined, above: Node): boolean {
  return node !== undefined && (node === above || isBelow(node.parent, above));
}

function pick({ tokens, llmCalls, toolCalls, iterations, costUsd }: ModelUsage): Counts {
  return { tokens, llmCalls, toolCalls, iterations, costUsd: costUsd ?? Number.NaN };
}

/** The sum, money in nano-dollars. */
function sum(parts: readonly ModelUsage[]): Record<string, number> {
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
            const own = node.parent === undefined ? runLimits : (node.grant ?? {});
            const used = world.below(node);
            for (const axis of AXES) expect(used[axis]).toBeLessThanOrEqual((own[axis] ?? Infinity) + 1e-8);
          }
        }
      }),
      { numRuns: 150 },
    );
  });

  test("the sum over nodes is the total, and so are those over models and roles, except for what has no model", () => {
    fc.assert(
      fc.property(limits, steps, (runLimits, list) => {
        const world = new World(runLimits);
        for (const next of list) world.do(next);
        const { total, byNode, byModel, byRole } = world.ledger.usage();
        expect(sum(Object.values(byNode))).toEqual(sum([total]));
        const ofModels = { ...total, toolCalls: 0, iterations: 0 };
        for (const by of [byModel, byRole])
          expect({ ...sum([NO_USAGE]), ...sum(Object.values(by)) }).toEqual(sum([ofModels]));
      }),
      { numRuns: 150 },
    );
  });

  test("when all calls have ended, what is left is the limit minus what was used", () => {
    fc.assert(
      fc.property(limits, steps, (runLimits, list) => {
        const world = new World(runLimits);
        for (const next of list) world.do(next);
        for (const { reservation } of world.held.splice(0)) reservation.release();
        const used = pick(world.ledger.usage().total);
        const standing = world.nodes[0]?.account.standing({ finishing: true }) ?? {};
        for (const axis of AXES) {
          const limit = runLimits[axis];
          if (limit === undefined) expect(standing[axis]).toBeUndefined();
          else expect(standing[axis]?.left).toBeCloseTo(limit - used[axis], 8);
        }
      }),
      { numRuns: 150 },
    );
  });

  test("what is kept for finishing is available at the end, whatever the nodes reserved", () => {
    fc.assert(
      fc.property(limits, steps, (runLimits, list) => {
        const world = new World(runLimits);
        const root = world.nodes[0];
        for (const next of list) {
          // The share belongs to the root: all other nodes may try to finish.
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

  test("calls that wait for others all end, and none exceeds a limit", async () => {
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
          const root = ledger.openRoot();
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
            const inputTokens = Math.floor(tokens * share);
            reservation.settle(toModelUsage({ ...NO_USAGE, inputTokens, costUsd: null }), from("m"));
          });
          await scheduler.waitFor(Promise.all(ended));
          expect(ledger.usage().total.tokens).toBeLessThanOrEqual(limit);
        },
      ),
      { numRuns: 50 },
    );
  });
});
