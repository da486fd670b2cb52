// POST /mcp, for MCP clients.

import { z } from "zod";
import { routesTagged } from "../route.ts";

const route = routesTagged("MCP");

const message = z
  .union([z.looseObject({ jsonrpc: z.literal("2.0") }), z.array(z.unknown())])
  .meta({ id: "MCPMessage", description: "A JSON-RPC message of the Model Context Protocol" });

/** Errors are those of JSON-RPC, not problems. */
const mcp = route("POST", "/mcp", {
  summary: "The Model Context Protocol over Streamable HTTP",
  description:
    "Shares sessions and tasks with the other routes. There is no GET: the server never sends messages on its own.",
  headers: {
    "mcp-session-id": "Identifies the client when it cancels calls",
    "mcp-protocol-version": "The protocol version",
  },
  rawBody: { types: ["application/json"], description: "A JSON-RPC message; at most 16 MiB" },
  responses: {
    200: {
      description: "The response, or a stream of events that ends with it",
      schema: message,
      types: ["text/event-stream"],
    },
    202: { description: "The notification was accepted" },
    400: { description: "A JSON-RPC error", schema: message },
    404: { description: "A JSON-RPC error", schema: message },
    406: { description: "A JSON-RPC error", schema: message },
    415: { description: "A JSON-RPC error", schema: message },
  },
  handle: (request, { mcp: handler, bodyMemory }) => handler.answer(request, bodyMemory),
});

export const mcpRoutes = [mcp];
