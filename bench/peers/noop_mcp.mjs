// A minimal MCP server on the same SDK: one tool that returns at once.

import { McpServer } from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import * as z from "zod/v4";

serveStdio(() => {
  const server = new McpServer({ name: "noop", version: "1" });
  server.registerTool("noop", { inputSchema: z.object({ code: z.string() }) }, () => ({
    content: [{ type: "text", text: "→ 2" }],
  }));
  return server;
});
