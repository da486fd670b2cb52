import { expect, test } from "vitest";
import { z } from "zod";
import { BodyRoom } from "../../../src/server/net/memory-budget.ts";
import { parseBody } from "../../../src/server/net/bodies/body.ts";

const MIB = 1024 * 1024;
const schema = z.strictObject({ code: z.string() });
const JSON_BYTES = new TextEncoder().encode(JSON.stringify({ code: "x".repeat(MIB) }));

/** A request whose body ends when it is told to. */
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
])("large bodies that come %s have so much room together, and leave it when they are read", async (_, headers) => {
  const room = new BodyRoom(2.5 * MIB);
  const [first, second, third] = [slow(headers), slow(headers), slow(headers)];
  const parse = async ({ request }: { readonly request: Request }) => {
    using hold = room.hold();
    return await parseBody(request, schema, hold);
  };
  const reading = [first, second].map(parse);
  await expect.poll(() => room.leftBytes).toBeLessThan(MIB);
  expect(await parse(third)).toMatchObject({
    problem: { status: 503, code: "OVERLOADED", headers: { "retry-after": "1" } },
  });
  first.end();
  second.end();
  for (const parsed of await Promise.all(reading)) expect(parsed).toHaveProperty("value");
  expect(room.leftBytes).toBe(2.5 * MIB);
});

test("small bodies need no room", async () => {
  const request = new Request("http://localhost", { method: "POST", body: '{"code":"1"}' });
  expect(await parseBody(request, schema, new BodyRoom(0).hold())).toEqual({ value: { code: "1" } });
});

test("what was given back is not taken again by whoever still reads", () => {
  const room = new BodyRoom(2 * MIB);
  const hold = room.hold();
  expect(hold.take(MIB)).toBe(true);
  hold[Symbol.dispose]();
  expect(hold.take(MIB)).toBe(false);
  expect(room.leftBytes).toBe(2 * MIB);
});
