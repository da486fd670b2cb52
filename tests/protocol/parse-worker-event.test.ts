// The parser that is written by hand accepts, rejects and returns exactly what the schemas do.

import { readFileSync } from "node:fs";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { parseChunkHeader, parseWorkerEvent } from "../../src/protocol/worker/parse-worker-event.ts";
import { chunkHeader, workerEvent } from "../../src/protocol/worker/worker-events.ts";

type Message = Readonly<Record<string, unknown>>;

const count = fc.nat({ max: Number.MAX_SAFE_INTEGER });
// zod drops a key `__proto__`. It comes as an own property from JSON.parse, which the frame reader's tests cover.
const key = fc.string().filter((text) => text !== "__proto__");
const mimeBundle = fc.dictionary(key, fc.string());
const fields = fc.dictionary(key, fc.jsonValue());
const error = fc.record({ name: fc.string(), value: fc.string(), traceback: fc.string() });
const duration = fc.double({ min: 0, noNaN: true, noDefaultInfinity: true });

const ready = fc.record({ type: fc.constant("ready"), protocol: count, python: fc.string() });
const status = fc.record(
  {
    type: fc.constant("status"),
    id: fc.string(),
    status: fc.constantFrom("ok", "error", "interrupted", "exit"),
    value: mimeBundle,
    valueTotal: count,
    error,
    incomplete: fc.boolean(),
    exitCode: fc.nat({ max: 255 }),
    pending: fc.boolean(),
    survivors: fc.boolean(),
    data: fields,
    cpuMs: duration,
    peakBytes: count,
  },
  { requiredKeys: ["type", "id", "status"] },
);
const display = fc.record(
  {
    type: fc.constant("display"),
    id: fc.string(),
    call: count,
    data: mimeBundle,
    displayId: fc.string({ maxLength: 128 }),
    update: fc.constant(true),
    clear: fc.constant(true),
  },
  { requiredKeys: ["type", "id", "call", "data"] },
);
const call = fc.record({
  type: fc.constant("call"),
  id: fc.string(),
  call: count,
  name: fc.string({ maxLength: 256 }),
  args: fields,
});
const valid: fc.Arbitrary<Message> = fc.oneof(ready, status, display, call);

/** Values that are wrong for most fields, and right for some. */
const wrong = fc.oneof(
  fc.jsonValue(),
  fc.constantFrom(
    null,
    true,
    false,
    -1,
    0.5,
    256,
    2 ** 53,
    Infinity,
    NaN,
    "",
    "x".repeat(129),
    "x".repeat(257),
    [],
    {},
  ),
  fc.dictionary(key, fc.oneof(fc.string(), fc.integer())),
  fc.record({ name: fc.string(), value: fc.oneof(fc.string(), fc.integer()), traceback: fc.string(), more: fc.nat() }),
);
const changed = (messages: fc.Arbitrary<Message>): fc.Arbitrary<Message> =>
  fc
    .tuple(messages, fc.nat(), fc.constantFrom("drop", "replace", "add"), wrong, key)
    .map(([message, at, how, value, name]) => {
      const names = Object.keys(message);
      const field = names[at % names.length] ?? "type";
      const { [field]: _dropped, ...rest } = message;
      if (how === "drop") return rest;
      return { ...message, [how === "add" ? name : field]: value };
    });

function compare(message: unknown): void {
  const bySchema = workerEvent.safeParse(message);
  expect(parseWorkerEvent(message)).toEqual(bySchema.success ? bySchema.data : null);
}

test("valid events are read as the schemas read them", () => {
  fc.assert(
    fc.property(valid, (message) => {
      expect(parseWorkerEvent(message)).not.toBeNull();
      compare(message);
    }),
    { numRuns: 300 },
  );
});

test("events with a field dropped, replaced or added are treated as the schemas treat them", () => {
  fc.assert(fc.property(fc.oneof(changed(valid), changed(changed(valid)), fc.jsonValue()), compare), { numRuns: 1500 });
});

test.each(["events", "bad-events"])("so are the messages in fixtures/messages/%s.json", (file) => {
  const fixtures = JSON.parse(readFileSync(`tests/fixtures/messages/${file}.json`, "utf8")) as { parsed?: unknown }[];
  for (const { parsed } of fixtures) if (parsed !== undefined) compare(parsed);
});

test("headers of chunks are read as their schema reads them", () => {
  const header = fc.record({ id: fc.string(), at: count, bytes: fc.integer({ min: 1, max: 1024 * 1024 }) });
  fc.assert(
    fc.property(fc.oneof(header, changed(header)), (fieldsOf) => {
      const message = { ...fieldsOf, type: "chunk" };
      expect(parseChunkHeader(message)).toEqual(chunkHeader.safeParse(message).data);
    }),
    { numRuns: 500 },
  );
});
