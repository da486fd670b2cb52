import * as fc from "fast-check";
import { expect, test } from "vitest";
import { tellable, toFault } from "../../../src/backends/providers/faults.ts";
import { parseRetryAfter } from "../../../src/backends/providers/retry-after.ts";
import { BackendConnectionError } from "../../../src/errors.ts";

test("whatever is thrown becomes a BackendConnectionError without the secret", () => {
  const secret = "verysecretvalue";
  const withSecret = fc.anything({ values: [fc.string(), fc.constant(`a ${secret} b`)] });
  const thrown = fc.oneof(
    fc.anything(),
    fc.record(
      {
        message: withSecret,
        statusCode: fc.oneof(fc.integer(), fc.anything()),
        responseHeaders: fc.oneof(fc.dictionary(fc.string(), fc.string()), fc.anything()),
        responseBody: fc.oneof(fc.json(), fc.constant(`{"error":{"message":"${secret}"}}`), fc.anything()),
        data: fc.record({ error: withSecret }),
        cause: fc.anything(),
        code: fc.anything(),
      },
      { requiredKeys: [] },
    ),
  );
  fc.assert(
    fc.property(thrown, (error) => {
      const fault = toFault(error, { backend: "b", secrets: [secret] });
      expect(fault).toBeInstanceOf(BackendConnectionError);
      expect(fault.message).not.toContain(secret);
      expect(fault.message.length).toBeLessThan(700);
      expect(fault.cause).toBeUndefined();
    }),
  );
});

test("an error that is its own cause is read to an end", () => {
  const error = new Error("round");
  error.cause = error;
  expect(toFault(error, { backend: "b", secrets: [] })).toMatchObject({ fault: "connection", retryable: true });
});

test("what is told is one line, cut, and says how much was cut", () => {
  expect(tellable("a\r\n\u001b[31mb\tc", [])).toBe("a [31mb c");
  expect(tellable("x".repeat(510), [])).toBe(`${"x".repeat(500)}... (10 more characters)`);
});

test("keys that are not ours are struck out, words are not", () => {
  expect(tellable("Incorrect API key provided: sk-proj-ab12**cd. Find your API key at https://x.example", [])).toBe(
    "Incorrect API key provided: sk-*** Find your API key at https://x.example",
  );
  expect(tellable("key: abc123def, key ab****yz, Authorization: Bearer eyJhbGciOi.x/y+z=", [])).toBe(
    "key: ***, key ***, Authorization: Bearer ***",
  );
});

test("a key that is cut off by the limit is struck out before", () => {
  const key = "k".repeat(40);
  expect(tellable(`${"x".repeat(480)}${key}`, [key])).toBe(`${"x".repeat(480)}***`);
});

test.each([
  [{ "retry-after": "3" }, 3000],
  [{ "retry-after": "0.5" }, 500],
  [{ "retry-after-ms": "120", "retry-after": "3" }, 120],
  [{ "retry-after": new Date(50_000).toUTCString() }, 10_000],
  [{ "retry-after": new Date(0).toUTCString() }, 0],
  [{ "retry-after": "999999999" }, 3_600_000],
  [{ "retry-after": "soon" }, null],
  [{ "retry-after": "-3x" }, null],
  [{}, null],
])("Retry-After %j is %s ms", (headers, expected) => {
  expect(parseRetryAfter(headers as Record<string, string>, 40_000)).toBe(expected);
});
