import { describe, expect, test } from "vitest";
import { z } from "zod";
import { BODY_MEMORY, MemoryBudget, MESSAGE_MEMORY, type Reservation } from "../../../src/server/net/memory-budget.ts";
import { parseBody } from "../../../src/server/net/bodies/body.ts";

const KIB = 1024;
const MIB = 1024 * KIB;
const schema = z.strictObject({ code: z.string() });
const JSON_BYTES = new TextEncoder().encode(JSON.stringify({ code: "x".repeat(MIB) }));

function forBodies(maxBytes: number): MemoryBudget {
  return new MemoryBudget({ ...BODY_MEMORY, maxBytes });
}

/** A request whose body ends on demand. */
function slow(headers: Record<string, string> = {}) {
  let end = (): void => {};
  const body = new ReadableStream<Uint8Array>({
    start: (controller) => {
      controller.enqueue(JSON_BYTES);
      end = () => controller.close();
    },
  });
  const request = new Request("http://localhost", { method: "POST", body, headers, duplex: "half" });
  return { request, end: () => end() };
}

test.each([
  ["announced", { "content-length": String(JSON_BYTES.length) }],
  ["in chunks", {}],
])("large bodies that come %s share the budget, and leave it when they are read", async (_, headers) => {
  const budget = forBodies(2.5 * MIB);
  const [first, second, third] = [slow(headers), slow(headers), slow(headers)];
  const parse = async ({ request }: { readonly request: Request }) => {
    using memory = budget.reserve();
    return await parseBody(request, schema, memory);
  };
  const reading = [first, second].map(parse);
  await expect.poll(() => budget.usedBytes).toBeGreaterThan(1.5 * MIB);
  expect(await parse(third)).toMatchObject({
    problem: { status: 503, code: "OVERLOADED", headers: { "retry-after": "1" } },
  });
  first.end();
  second.end();
  for (const parsed of await Promise.all(reading)) expect(parsed).toHaveProperty("value");
  expect(budget.usedBytes).toBe(0);
});

test("small bodies are not counted", async () => {
  const request = new Request("http://localhost", { method: "POST", body: '{"code":"1"}' });
  expect(await parseBody(request, schema, forBodies(0).reserve())).toEqual({ value: { code: "1" } });
});

test("a closed reservation does not grow again, though its body is still read", () => {
  const budget = forBodies(2 * MIB);
  const memory = budget.reserve();
  expect(memory.tryGrow(MIB)).toBe(true);
  memory[Symbol.dispose]();
  expect(memory.tryGrow(MIB)).toBe(false);
  expect(budget.usedBytes).toBe(0);
});

function open(maxBytes = 1000 * KIB) {
  let now = 0;
  const budget = new MemoryBudget({ ...MESSAGE_MEMORY, maxBytes, now: () => now });
  const evicted: string[] = [];
  const join = (name: string): Reservation =>
    budget.reserve({
      dismiss: () => void evicted.push(`${name} is dismissed`),
      cut: () => void evicted.push(`${name} is cut`),
    });
  return { budget, evicted, join, pass: (ms: number) => void (now += ms) };
}

describe("the budget of all WebSockets", () => {
  test("does not count small reservations, and counts all of the others", () => {
    const { budget, join } = open();
    const reservation = join("a");
    reservation.resize(16 * KIB);
    expect(budget.usedBytes).toBe(0);
    reservation.resize(20 * KIB);
    expect(budget.usedBytes).toBe(20 * KIB);
    reservation.resize(0);
    expect(budget.usedBytes).toBe(0);
  });

  test("counts a shared frame once, until the last holder has released it", () => {
    const { budget, join } = open();
    const frame = Buffer.alloc(100 * KIB);
    const releases = Array.from({ length: 20 }, (_, number) => join(String(number)).hold(frame));
    expect(budget.usedBytes).toBe(100 * KIB + 20 * 512);
    for (const release of releases.slice(1)) release();
    expect(budget.usedBytes).toBe(100 * KIB + 512);
    for (const release of releases) release();
    expect(budget.usedBytes).toBe(0);
  });

  test("evicts those who held the most for the longest, and nobody else", () => {
    const { budget, evicted, join, pass } = open();
    const names = ["large and old", "small and old", "large and new", "small and new"];
    const [first, second, third, fourth] = names.map(join);
    first?.resize(300 * KIB);
    second?.resize(50 * KIB);
    pass(60_000);
    third?.resize(300 * KIB);
    fourth?.resize(50 * KIB);
    expect(evicted).toEqual([]);
    fourth?.resize(150 * KIB);
    expect(evicted).toEqual(["large and old is dismissed"]);
    fourth?.resize(400 * KIB); // with the dismissed one, more than the budget is held
    expect(evicted).toEqual(["large and old is dismissed", "large and old is cut"]);
    fourth?.resize(450 * KIB);
    expect(evicted.slice(2)).toEqual(["small and old is dismissed"]);
    for (const reservation of [first, second, third, fourth]) reservation?.close();
    expect([budget.usedBytes, budget.isTight]).toEqual([0, false]);
  });

  test("cuts a client that does not read at once, and frees what it held", () => {
    const { budget, evicted, join, pass } = open();
    const stuck = join("stuck");
    const release = stuck.hold(Buffer.alloc(700 * KIB));
    pass(1000);
    join("other").resize(100 * KIB);
    expect([evicted, budget.usedBytes]).toEqual([["stuck is dismissed", "stuck is cut"], 100 * KIB]);
    release();
    stuck.resize(500 * KIB);
    stuck.hold(Buffer.alloc(500 * KIB))();
    expect(budget.usedBytes).toBe(100 * KIB);
  });

  test("is never exceeded, in any order of operations", () => {
    const { budget, evicted, join, pass } = open();
    const reservations = Array.from({ length: 50 }, (_, number) => join(String(number)));
    let seed = 7;
    let most = 0;
    const random = (below: number): number => (seed = (seed * 48_271) % 2_147_483_647) % below;
    for (let count = 0; count < 4000; count += 1) {
      const reservation = reservations[random(50)];
      if (random(2) === 0) reservation?.resize(random(300) * KIB);
      else reservation?.hold(Buffer.allocUnsafe(random(100) * KIB));
      if (random(20) === 0) {
        const at = random(50);
        reservations[at]?.close();
        reservations[at] = join(String(at));
      }
      pass(random(10));
      most = Math.max(most, budget.usedBytes);
    }
    expect(most).toBeLessThanOrEqual(1000 * KIB);
    expect(evicted.length).toBeGreaterThan(0);
    for (const reservation of reservations) reservation.close();
    expect(budget.usedBytes).toBe(0);
  });
});
