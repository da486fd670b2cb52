// What a client and the log of an MCP server are told of sessions that no tier confines.

import { afterEach, expect, test, vi } from "vitest";
import type { EnvironmentReport } from "../../../src/environments/environment.ts";
import { toInstructions } from "../../../src/server/mcp/instructions.ts";
import { ALL_TOOLS } from "../../../src/server/mcp/tools/select-tools.ts";
import { seatBeltWarning } from "../../../src/views/seat-belt.ts";
import { WASM_CAPABILITIES } from "../../environments/wasm/open-wasm.ts";
import { openTestRuntime } from "../../open.ts";
import { connect } from "./connect.ts";

const toReport = (tier: string | null, expectedTier?: string): EnvironmentReport => ({
  ...({} as EnvironmentReport),
  name: "wasm",
  capabilities: WASM_CAPABILITIES,
  notMounted: [],
  tier,
  expectedTier,
});
const WARNING = seatBeltWarning(toReport("seat-belt")) ?? "";

afterEach(() => vi.restoreAllMocks());

/** A server whose sessions are in no tier, as far as its reports say. */
async function connectTo(report: () => EnvironmentReport, logged: string[] = []) {
  const runtime = await openTestRuntime({ poolSize: 0 });
  vi.spyOn(runtime, "report").mockImplementation(report);
  const connection = await connect({
    beside: { runtime, sessionFiles: "", unexpected: [] },
    onWarning: (sentence) => void logged.push(sentence),
  });
  return { connection, runtime, logged };
}

test("nothing is said of a tier, nor where it is not known yet", () => {
  for (const report of [toReport("A"), toReport(null), toReport("C", "seat-belt")])
    expect(seatBeltWarning(report)).toBeUndefined();
  expect(seatBeltWarning(toReport(null, "seat-belt"))).toBe(WARNING);
});

test("where it is clear at the start, the log and the instructions say it, and no result repeats it", async () => {
  const { connection, runtime, logged } = await connectTo(() => toReport(null, "seat-belt"));
  expect(logged).toEqual([WARNING]);
  expect(connection.client.getInstructions()).toMatch(/^Python behind a seat belt, not a wall, without network\. /);
  expect(await connection.text("list_stdlib_functions")).not.toContain(WARNING);
  expect(await connection.text("list_repl_sessions")).toContain(WARNING); // its status
  expect(logged).toEqual([WARNING]);
  await connection[Symbol.asyncDispose]();
  await runtime.close();
});

test("where the first session shows it, its result and the log say it, once", async () => {
  let report = toReport(null);
  const { connection, runtime, logged } = await connectTo(() => report);
  expect(connection.client.getInstructions()).not.toContain("seat belt");
  expect(await connection.text("list_stdlib_functions")).not.toContain(WARNING);
  report = toReport("seat-belt");
  expect(await connection.text("list_stdlib_functions")).toContain(WARNING);
  expect(await connection.text("list_stdlib_functions")).not.toContain(WARNING);
  expect(logged).toEqual([WARNING]);
  await connection[Symbol.asyncDispose]();
  await runtime.close();
});

test("the instructions with it are of at most 500 characters", () => {
  const tools = ALL_TOOLS.map(({ listing }) => listing.name);
  for (const isShared of [false, true]) {
    for (const hasFiles of [false, true]) {
      const offer = { capabilities: WASM_CAPABILITIES, tools, hasFiles, isShared, isSeatBelt: true };
      expect(toInstructions(offer).length).toBeLessThanOrEqual(500);
    }
  }
});
