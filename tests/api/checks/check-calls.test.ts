import { expect, test } from "vitest";
import { checkVariableValue } from "../../../src/api/checks/check-calls.ts";

const KINDS = ["json", "text", "bytes", "stream"];

test("bytes that are given as the value itself are refused with the right form, however many", () => {
  const bytes = new Uint8Array(64 << 20);
  expect(() => checkVariableValue(bytes, KINDS)).toThrow("Cannot set a variable to raw bytes: pass { bytes: value }");
  expect(() => checkVariableValue({ bytes }, KINDS)).not.toThrow();
});
