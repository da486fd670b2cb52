// POST /mcp, for MCP clients.

import { z } from "zod";
import { route } from "../route.ts";

const message = z
  .union([z.looseObject({ jsonrpc: z.literal("2.0") }), z.array(z.unknown())])
  .meta({ id: "MCPMessage", description: "A message of JSON-RPC, as the Model Context Protocol has it" });

/** Errors are those of JSON-RPC, not problems. */
const mcp = route({
  method: "POST",
  path: "/mcp",
  tag: "MCP",
  summary: "Streamable HTTP of the Model Context Protocol",
  description:
    "Sessions and tasks are those of the other routes. There is no GET: the server has no stream of its own.",
  headers: {
    "mcp-session-id": "Under which name a client cancels its calls",
    "mcp-protocol-version": "Which version it speaks",
  },
  rawBody: { types: ["application/json"], description: "A message of JSON-RPC; at most 16 MiB" },
  responses: {
    200: {
      description: "An answer, or a stream of events that ends with it",
      schema: message,
      types: ["text/event-stream"],
    },
    202: { description: "A notification was taken" },
    400: { description: "An error of JSON-RPC", schema: message },
    404: { description: "An error of JSON-RPC", schema: message },
    406: { description: "An error of JSON-RPC", schema: message },
    415: { description: "An error of JSON-RPC", schema: message },
  },
  handle: (request, { mcp: handler, bodyMemory }) => handler.answer(request, bodyMemory),
});

export const mcpRoutes = [mcp];
