import { expect, test } from "vitest";
import type { SessionInfo } from "../../src/protocol/sessions.ts";
import { ClosedSessions } from "../../src/session/closed-sessions.ts";

const createdAt = new Date(0).toISOString();
const closing = (id: string) => ({ id, createdAt, close: async () => ({ id }) as unknown as SessionInfo });

test("the last thousand are kept, for an hour", async () => {
  let now = 0;
  const closed = new ClosedSessions(() => now);
  for (let n = 1; n <= 1_001; n += 1) closed.add(closing(`s${n}`), `reason ${n}`);
  expect(closed.get("s1")).toBeUndefined();
  expect(closed.get("s2")?.why).toBe("reason 2");
  expect(await closed.get("s1001")?.info).toEqual({ id: "s1001" });
  now = 3_599_999;
  expect(closed.get("s2")).toBeDefined();
  now = 3_600_000;
  expect(closed.get("s2")).toBeUndefined();
});

test("the latest of two with the same id counts, and one can be forgotten", () => {
  const closed = new ClosedSessions();
  closed.add(closing("a"), "first");
  closed.add(closing("a"), "second");
  expect(closed.get("a")?.why).toBe("second");
  closed.forget("a");
  expect(closed.get("a")).toBeUndefined();
});
