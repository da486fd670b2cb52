// The connection on streams, without a process.

import { createInterface } from "node:readline";
import { PassThrough, Writable } from "node:stream";
import { McpServer } from "@modelcontextprotocol/server";
import { expect, test } from "vitest";
import { serveMCPOverStdio } from "../../../../src/server/mcp/transport/stdio.ts";

const MIB = 1024 * 1024;

/** A server whose lists of tools are large. */
function createLarge(): McpServer {
  const mcp = new McpServer({ name: "large", version: "1" });
  mcp.registerTool("large", { description: "x".repeat(MIB) }, () => ({ content: [] }));
  return mcp;
}

test("a client that never reads responses is not read from any more", async () => {
  const input = new PassThrough();
  const output = new Writable({ write: () => {} }); // takes one piece and never more
  const connection = serveMCPOverStdio(createLarge, { input, output, onProblem: () => {} });
  const params = { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "test", version: "1" } };
  input.write(`${JSON.stringify({ jsonrpc: "2.0", id: 0, method: "initialize", params })}\n`);
  for (let id = 1; id <= 200 && !input.isPaused(); id += 1) {
    input.write(`${JSON.stringify({ jsonrpc: "2.0", id, method: "tools/list" })}\n`);
    await new Promise((resolve) => void setImmediate(resolve));
  }
  expect(input.isPaused()).toBe(true);
  expect(output.writableLength).toBeLessThan(40 * MIB);
  await connection.close();
});

test.each([
  ["its input ends", (input: PassThrough) => void input.end()],
  ["its input breaks", (input: PassThrough) => void input.destroy(new Error("broken"))],
  ["its output breaks", (_: PassThrough, output: PassThrough) => void output.destroy(new Error("broken"))],
])("the connection ends when %s", async (_, end) => {
  const input = new PassThrough();
  const output = new PassThrough();
  const connection = serveMCPOverStdio(createLarge, { input, output, onProblem: () => {} });
  end(input, output);
  await connection.ended;
  await connection.close();
});

test("a JSON line that is no message is reported, and answered if it has an id", async () => {
  const input = new PassThrough();
  const output = new PassThrough();
  const problems: string[] = [];
  const connection = serveMCPOverStdio(createLarge, {
    input,
    output,
    onProblem: ({ message }) => void problems.push(message),
  });
  const malformed = [
    { id: 1 },
    { jsonrpc: "2.0", id: "two" },
    { jsonrpc: "2.0", id: 3, method: 5 },
    { jsonrpc: "2.0", id: 4, method: "ping", params: 5 },
  ].map((message) => JSON.stringify(message));
  const lines = ["not JSON", "", "[]", "null", "5", ...malformed, '{"jsonrpc":"2.0","id":5,"method":"ping"}'];
  input.write(`${lines.join("\n")}\n`);
  const answers: { id: unknown; error?: { code: number } }[] = [];
  for await (const line of createInterface(output)) {
    answers.push(JSON.parse(line) as (typeof answers)[number]);
    if (answers.at(-1)?.id === 5) break;
  }
  expect(answers.map(({ id, error }) => [id, error?.code])).toEqual([
    [1, -32600],
    ["two", -32600],
    [3, -32600],
    [4, -32600],
    [5, undefined],
  ]);
  expect(problems).toEqual(Array(7).fill("a line that is no message of the protocol was left out"));
  await connection.close();
});
