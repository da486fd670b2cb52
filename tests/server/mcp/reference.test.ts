import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { toToolReference } from "../../../scripts/tool-reference.ts";

test("docs/mcp-tools.md matches the definitions of the tools", () => {
  expect(readFileSync("docs/mcp-tools.md", "utf8"), "run node scripts/tool-reference.mjs").toBe(toToolReference());
});
