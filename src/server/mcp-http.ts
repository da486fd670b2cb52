// The MCP server on a port of its own, at /mcp, behind the same guards as `rlm serve`.

import type { McpServerFactory } from "@modelcontextprotocol/server";
import type { Context } from "hono";
import { omitUndefined } from "../util/omit-undefined.ts";
import { createMCPEndpoint } from "./mcp/endpoint.ts";
import { RequestStream, type Connection } from "./net/bodies/request-stream.ts";
import { createGuardedApp, type GuardOptions } from "./net/guards/guarded-app.ts";
import { listen, type HTTPListener, type ListenOptions } from "./net/listen.ts";
import { BODY_MEMORY, MemoryBudget } from "./net/memory-budget.ts";

export type MCPOverHTTPOptions = GuardOptions & Pick<ListenOptions, "host" | "port" | "maxConnections">;

const PATH = "/mcp";

/** Rejects with the system's error when the address is not available. The factory's servers are used until `close()` has resolved. */
export async function serveMCPOverHTTP(
  factory: McpServerFactory,
  { host, port, maxConnections, ...guard }: MCPOverHTTPOptions,
): Promise<HTTPListener> {
  const endpoint = createMCPEndpoint(factory, guard.onUnexpected ?? (() => {}));
  const bodyMemory = new MemoryBudget(BODY_MEMORY);
  const handle = ({ req, env }: Context): Promise<Response> =>
    endpoint.answer(req.raw, new RequestStream(req.raw, env as Connection | undefined), bodyMemory);
  const app = createGuardedApp([{ method: "POST", path: PATH, handle }], guard);
  const listener = await listen(app, { host, port, ...omitUndefined({ maxConnections }) });
  return {
    url: listener.url + PATH,
    drain: () => listener.drain(),
    close: async (drainMs) => {
      await endpoint.drain();
      await listener.close(drainMs);
      await endpoint.close();
    },
  };
}
