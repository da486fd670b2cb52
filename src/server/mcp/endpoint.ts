// MCP as a route: one POST in, one answer or one stream of events out, both protocol eras, no state of its own.
//
// The factory builds a server for each request, so what must outlive one, sessions and tasks, lives outside of it and is
// found by id. A client that goes away mid-call aborts the request's signal, which the SDK hands to the tool.

import { createMcpHandler, type CreateMcpHandlerOptions, type McpServerFactory } from "@modelcontextprotocol/server";
import type { BodyRoom } from "../net/memory-budget.ts";
import { readJSON } from "../net/bodies/body.ts";
import type { Wire } from "../net/bodies/request-stream.ts";
import { ENDING, toResponse } from "../net/problem.ts";
import { CancellableCalls } from "./transport/cancellable-calls.ts";
import { MAX_MESSAGE_BYTES } from "./transport/message-size.ts";

export interface MCPEndpoint {
  /** For POST; the other methods have no meaning here, because there is no session of the transport. */
  answer(request: Request, wire: Wire, room: BodyRoom): Promise<Response>;
  /** Ends the streams that would never end by themselves. Calls go on, new ones too. */
  drain(): Promise<void>;
  /** Aborts what is under way. Nothing is answered afterwards. */
  close(): Promise<void>;
}

/** Clients that wait for a change of lists, which never comes: few would do, and each holds a connection. */
const MAX_SUBSCRIPTIONS = 100;
/** A stream with nothing to say says so, before the server's listener takes its reader for gone. */
const KEEP_ALIVE_MS = 15_000;
const NOT_JSON = { jsonrpc: "2.0", error: { code: -32_700, message: "The body is not JSON in UTF-8" }, id: null };

/** `onUnexpected` hears of what was a fault of ours. */
export function createMCPEndpoint(factory: McpServerFactory, onUnexpected: (error: unknown) => void): MCPEndpoint {
  // It hears of what clients did wrong, too: only the answer tells whose fault it was.
  let latest: unknown;
  let draining = false;
  const options: CreateMcpHandlerOptions = {
    onerror: (error) => void (latest = error),
    maxSubscriptions: MAX_SUBSCRIPTIONS,
    keepAliveMs: KEEP_ALIVE_MS,
  };
  const cancellable = new CancellableCalls();
  const calls = createMcpHandler(factory, options);
  const subscriptions = createMcpHandler(factory, options);
  return {
    answer: async (request, wire, room) => {
      const body = await wire.whileReading(room, (hold) => readJSON(request, hold, MAX_MESSAGE_BYTES));
      if ("problem" in body) {
        return body.problem.status === 422 ? Response.json(NOT_JSON, { status: 400 }) : toResponse(body.problem);
      }
      const isLasting = isSubscription(body.value);
      if (isLasting && draining) return toResponse(ENDING);
      const handler = isLasting ? subscriptions : calls;
      const answer = (own: Request): Promise<Response> => handler.fetch(own, { parsedBody: body.value });
      const response = await cancellable.answer(request, body.value, answer);
      if (response.status === 500) onUnexpected(latest);
      return response;
    },
    drain: async () => {
      draining = true;
      await subscriptions.close();
    },
    close: async () => void (await Promise.all([calls.close(), subscriptions.close()])),
  };
}

function isSubscription(message: unknown): boolean {
  return (message as { method?: unknown } | null)?.method === "subscriptions/listen";
}
