import { expect, test } from "vitest";
import { detachedPrefix } from "../../../src/util/text/detached-prefix.ts";

test("detachedPrefix() is the first characters of a text, lone surrogates included", () => {
  expect(detachedPrefix("short", 10)).toBe("short");
  expect(detachedPrefix("a😀b", 2)).toBe("a\uD83D");
});
