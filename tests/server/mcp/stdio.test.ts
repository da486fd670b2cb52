// The connection on streams, without a process.

import { once } from "node:events";
import { PassThrough, Writable } from "node:stream";
import { McpServer } from "@modelcontextprotocol/server";
import { expect, test } from "vitest";
import { serveMCPOverStdio } from "../../../src/server/mcp/stdio.ts";

const MIB = 1024 * 1024;

/** A server whose lists of tools are large. */
function createLarge(): McpServer {
  const mcp = new McpServer({ name: "large", version: "1" });
  mcp.registerTool("large", { description: "x".repeat(MIB) }, () => ({ content: [] }));
  return mcp;
}

test("a client that asks and never reads is not listened to any more", async () => {
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
])("the connection is over when %s", async (_, end) => {
  const input = new PassThrough();
  const output = new PassThrough();
  const connection = serveMCPOverStdio(createLarge, { input, output, onProblem: () => {} });
  end(input, output);
  await connection.ended;
  await connection.close();
});

test("a line that is no message is passed over, and told of where it is JSON", async () => {
  const input = new PassThrough();
  const output = new PassThrough();
  const problems: string[] = [];
  const connection = serveMCPOverStdio(createLarge, {
    input,
    output,
    onProblem: ({ message }) => void problems.push(message),
  });
  input.write('not JSON\n\n[]\nnull\n{"id":1}\n{"jsonrpc":"2.0","id":5,"method":"ping"}\n');
  const [answer] = (await once(output, "data")) as [Buffer];
  expect(JSON.parse(answer.toString())).toMatchObject({ id: 5, result: {} });
  expect(problems).toEqual(Array(3).fill("a line that is no message of the protocol was left out"));
  await connection.close();
});
