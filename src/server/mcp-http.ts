// The MCP server on a port of its own, at /mcp, behind the same guards as every other route.

import type { McpServerFactory } from "@modelcontextprotocol/server";
import type { Context } from "hono";
import { BodyRoom } from "./net/bodies/memory-budget.ts";
import { Wire, type Connection } from "./net/bodies/request-stream.ts";
import { createGuardedApp, type GuardOptions } from "./net/guards/guarded-app.ts";
import { listen, type Listening, type ListenOptions } from "./net/listen.ts";
import { omitUndefined } from "../util/omit-undefined.ts";
import { createMCPEndpoint } from "./mcp/endpoint.ts";

export type MCPOverHTTPOptions = GuardOptions & Pick<ListenOptions, "host" | "port" | "maxConnections">;

const PATH = "/mcp";

/**
 * Rejects with the error of the system when the address cannot be had. What the factory's servers use must stay open
 * until `close()` has ended.
 */
export async function serveMCPOverHTTP(
  factory: McpServerFactory,
  { host, port, maxConnections, ...guard }: MCPOverHTTPOptions,
): Promise<Listening> {
  const endpoint = createMCPEndpoint(factory, guard.onUnexpected ?? (() => {}));
  const room = new BodyRoom();
  const handle = ({ req, env }: Context): Promise<Response> =>
    endpoint.answer(req.raw, new Wire(req.raw, env as Connection | undefined), room);
  const app = createGuardedApp([{ method: "POST", path: PATH, handle }], guard);
  const listening = await listen(app, { host, port, ...omitUndefined({ maxConnections }) });
  return {
    url: listening.url + PATH,
    drain: () => listening.drain(),
    close: async (drainMs) => {
      await endpoint.drain();
      await listening.close(drainMs);
      await endpoint.close();
    },
  };
}
