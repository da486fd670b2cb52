// The least that an MCP server can do with a call: one tool on the same SDK that answers at once.

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
