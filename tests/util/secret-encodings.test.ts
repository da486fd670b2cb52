import * as fc from "fast-check";
import { expect, test } from "vitest";
import { secretEncodings } from "../../src/util/secret-encodings.ts";

const key = fc.string({ minLength: 12, maxLength: 60, unit: "grapheme-ascii" });
const around = fc.string({ maxLength: 20, unit: "grapheme-ascii" });

test.each(["base64", "base64url", "hex"] as const)("a secret is found in %s at any offset", (encoding) => {
  fc.assert(
    fc.property(key, around, around, (secret, before, after) => {
      const encoded = Buffer.from(`${before}${secret}${after}`).toString(encoding);
      expect(secretEncodings(secret).some((form) => encoded.includes(form))).toBe(true);
    }),
  );
});

test("a secret is found in URLs and JSON; a short one only verbatim", () => {
  expect(secretEncodings('a"b/c+d e-0123')).toEqual(
    expect.arrayContaining(["a%22b%2Fc%2Bd%20e-0123", 'a\\"b/c+d e-0123']),
  );
  expect(secretEncodings("ab")).toEqual(["ab"]);
  expect(secretEncodings("")).toEqual([]);
});
