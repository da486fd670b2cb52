import { expect, test } from "vitest";
import { joinParts } from "../../../../src/server/mcp/render/format.ts";

test("parts are joined by one newline, without those at their ends and without empty ones", () => {
  expect(joinParts("a\n\n", "", "\n", "\nb", "c\n")).toBe("a\n\nb\nc");
});

test("newlines without end in the midst of a part hold up nobody", () => {
  const newlines = "\n".repeat(1_000_000);
  expect(joinParts(`${newlines}x\n`, "y") === `${newlines}x\ny`).toBe(true);
});
