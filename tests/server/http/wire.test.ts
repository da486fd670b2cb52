import { expect, test } from "vitest";
import type { IncomingMessage } from "node:http";
import { Wire } from "../../../src/server/http/bodies/wire.ts";

/** A message that notes how long it may stand still. */
function stub(complete: boolean) {
  const times: number[] = [];
  const incoming = { complete, setTimeout: (ms: number) => void times.push(ms) } as unknown as IncomingMessage;
  return { times, wire: new Wire(new Request("http://localhost"), { incoming }) };
}

test("a body may stand still for a minute while it is read, and code may run for longer", async () => {
  const { times, wire } = stub(false);
  const during = await wire.whileReading(async () => [...times]);
  expect([during, times]).toEqual([[60_000], [60_000, 0]]);
  await expect(wire.whileReading(() => Promise.reject(new Error("broken")))).rejects.toThrow("broken");
  expect(times).toEqual([60_000, 0, 60_000, 0]);
});

test("what is all there is not waited for", async () => {
  const { times, wire } = stub(true);
  expect(await wire.whileReading(async () => 7)).toBe(7);
  expect(times).toEqual([]);
});
