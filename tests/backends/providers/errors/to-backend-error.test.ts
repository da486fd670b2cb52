import * as fc from "fast-check";
import { expect, test } from "vitest";
import { redact } from "../../../../src/backends/providers/errors/redact.ts";
import { parseRetryAfter } from "../../../../src/backends/providers/errors/retry-after.ts";
import { toBackendError } from "../../../../src/backends/providers/errors/to-backend-error.ts";
import { BackendConnectionError } from "../../../../src/errors.ts";

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
      const fault = toBackendError(error, "b", [secret]);
      expect(fault).toBeInstanceOf(BackendConnectionError);
      expect(fault.message).not.toContain(secret);
      expect(fault.message.length).toBeLessThan(700);
      expect(fault.cause).toBeUndefined();
    }),
  );
});

test("an error that is its own cause does not loop", () => {
  const error = new Error("round");
  error.cause = error;
  expect(toBackendError(error, "b", [])).toMatchObject({ fault: "connection", retryable: true });
});

test.each([
  [{ statusCode: 500 }, { fault: "server", retryable: true }],
  [
    { statusCode: 500, isRetryable: false },
    { fault: "server", retryable: false },
  ],
  [
    { statusCode: 400, isRetryable: true },
    { fault: "bad-request", retryable: true },
  ],
  [
    { statusCode: 401, isRetryable: true },
    { fault: "authentication", retryable: false },
  ],
  [{ isRetryable: false }, { fault: "connection", retryable: false }],
  [{ name: "AI_JSONParseError" }, { fault: "malformed", retryable: true }],
  [{ name: "AI_LoadAPIKeyError" }, { fault: "configuration", retryable: false }],
  [{ name: "AI_NoSuchModelError" }, { fault: "bad-request", retryable: false }],
  [
    { statusCode: 200, message: "secret-free" },
    { fault: "connection", status: null },
  ],
])("an error with %j is %j", (fields, expected) => {
  expect(toBackendError(Object.assign(new Error("it failed"), fields), "b", [])).toMatchObject(expected);
});

test("redacted text is one line, truncated, and says by how much", () => {
  expect(redact("a\r\n\u001b[31mb\tc", [])).toBe("a [31mb c");
  expect(redact("x".repeat(510), [])).toBe(`${"x".repeat(500)}... (10 more characters)`);
});

test("keys that are not ours are redacted, words are not", () => {
  expect(redact("Incorrect API key provided: sk-proj-ab12**cd. Find your API key at https://x.example", [])).toBe(
    "Incorrect API key provided: sk-*** Find your API key at https://x.example",
  );
  expect(redact("key: abc123def, key ab****yz, Authorization: Bearer eyJhbGciOi.x/y+z=", [])).toBe(
    "key: ***, key ***, Authorization: Bearer ***",
  );
});

test("a key that the limit would truncate is redacted first", () => {
  const key = "k".repeat(40);
  expect(redact(`${"x".repeat(480)}${key}`, [key])).toBe(`${"x".repeat(480)}***`);
});

test.each([
  [{ "retry-after": "3" }, 3000],
  [{ "retry-after": "0.5" }, 500],
  [{ "retry-after-ms": "120", "retry-after": "3" }, 120],
  [{ "retry-after": new Date(50_000).toUTCString() }, 10_000],
  [{ "retry-after": new Date(0).toUTCString() }, 0],
  [{ "retry-after": "7200" }, 7_200_000],
  [{ "retry-after": "999999999" }, 86_400_000],
  [{ "retry-after": "soon" }, null],
  [{ "retry-after": "-3x" }, null],
  [{}, null],
])("Retry-After %j is %s ms", (headers, expected) => {
  expect(parseRetryAfter(headers as Record<string, string>, 40_000)).toBe(expected);
});
