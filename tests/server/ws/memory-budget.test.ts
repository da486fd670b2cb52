import { describe, expect, test } from "vitest";
import { MessageRoom, type Share } from "../../../src/server/ws/memory-budget.ts";

const KIB = 1024;

function open(maxBytes = 1000 * KIB) {
  let now = 0;
  const room = new MessageRoom(maxBytes, () => now);
  const told: string[] = [];
  const join = (name: string): Share =>
    room.share({ dismiss: () => void told.push(`${name} is told`), cut: () => void told.push(`${name} is cut`) });
  return { room, told, join, pass: (ms: number) => void (now += ms) };
}

describe("the room of all WebSockets", () => {
  test("does not count what is small, and counts all of what is not", () => {
    const { room, join } = open();
    const share = join("a");
    share.setIn(16 * KIB);
    expect(room.bytes).toBe(0);
    share.setIn(20 * KIB);
    expect(room.bytes).toBe(20 * KIB);
    share.setIn(0);
    expect(room.bytes).toBe(0);
  });

  test("counts a frame once, however many wait for it, until the last has taken it", () => {
    const { room, join } = open();
    const frame = Buffer.alloc(100 * KIB);
    const taken = Array.from({ length: 20 }, (_, number) => join(String(number)).addOut(frame));
    expect(room.bytes).toBe(100 * KIB + 20 * 512);
    for (const take of taken.slice(1)) take();
    expect(room.bytes).toBe(100 * KIB + 512);
    for (const take of taken) take();
    expect(room.bytes).toBe(0);
  });

  test("lets those go who held the most for the longest, and nobody else", () => {
    const { room, told, join, pass } = open();
    const names = ["large and old", "small and old", "large and new", "small and new"];
    const [first, second, third, fourth] = names.map(join);
    first?.setIn(300 * KIB);
    second?.setIn(50 * KIB);
    pass(60_000);
    third?.setIn(300 * KIB);
    fourth?.setIn(50 * KIB);
    expect(told).toEqual([]);
    fourth?.setIn(150 * KIB);
    expect(told).toEqual(["large and old is told"]);
    fourth?.setIn(400 * KIB); // with the one that was told there is more than the room has
    expect(told).toEqual(["large and old is told", "large and old is cut"]);
    fourth?.setIn(450 * KIB);
    expect(told.slice(2)).toEqual(["small and old is told"]);
    for (const share of [first, second, third, fourth]) share?.close();
    expect([room.bytes, room.isTight]).toEqual([0, false]);
  });

  test("cuts at once who does not read, since it would not hear why; what it held is there for others", () => {
    const { room, told, join, pass } = open();
    const stuck = join("stuck");
    const take = stuck.addOut(Buffer.alloc(700 * KIB));
    pass(1000);
    join("other").setIn(100 * KIB);
    expect([told, room.bytes]).toEqual([["stuck is told", "stuck is cut"], 100 * KIB]);
    take();
    stuck.setIn(500 * KIB);
    stuck.addOut(Buffer.alloc(500 * KIB))();
    expect(room.bytes).toBe(100 * KIB);
  });

  test("never has more than its bound, whatever comes in which order", () => {
    const { room, told, join, pass } = open();
    const shares = Array.from({ length: 50 }, (_, number) => join(String(number)));
    let seed = 7;
    let most = 0;
    const random = (below: number): number => (seed = (seed * 48_271) % 2_147_483_647) % below;
    for (let count = 0; count < 4000; count += 1) {
      const share = shares[random(50)];
      if (random(2) === 0) share?.setIn(random(300) * KIB);
      else share?.addOut(Buffer.allocUnsafe(random(100) * KIB));
      if (random(20) === 0) {
        const at = random(50);
        shares[at]?.close();
        shares[at] = join(String(at));
      }
      pass(random(10));
      most = Math.max(most, room.bytes);
    }
    expect(most).toBeLessThanOrEqual(1000 * KIB);
    expect(told.length).toBeGreaterThan(0);
    for (const share of shares) share.close();
    expect(room.bytes).toBe(0);
  });
});
