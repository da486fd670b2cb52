// MCP as a route: one POST in, one response or event stream out, for both protocol eras, without state.
//
// The factory builds a server for each request. Sessions and tasks outlive requests, so they are kept elsewhere and found by id. A client
// that disconnects during a call aborts the request's signal, which the SDK passes to the tool.

import { createMcpHandler, type CreateMcpHandlerOptions, type McpServerFactory } from "@modelcontextprotocol/server";
import type { MemoryBudget } from "../net/memory-budget.ts";
import { readJSON } from "../net/bodies/body.ts";
import type { RequestStream } from "../net/bodies/request-stream.ts";
import { SHUTTING_DOWN, toResponse } from "../net/problem.ts";
import { CancellableCalls } from "./transport/cancellable-calls.ts";
import { MAX_MESSAGE_BYTES } from "./transport/bounded-lines.ts";

export interface MCPEndpoint {
  /** For POST; other methods are not used, because the transport has no sessions. */
  answer(request: Request, stream: RequestStream, bodyMemory: MemoryBudget): Promise<Response>;
  /** Ends subscriptions, which would never end by themselves. Calls continue, and new ones are accepted. */
  drain(): Promise<void>;
  /** Aborts all calls. Nothing is answered afterwards. */
  close(): Promise<void>;
}

/** Subscriptions to list changes, which never come; each holds a connection. */
const MAX_SUBSCRIPTIONS = 100;
/** Shorter than the write timeout of the listener, so that a silent stream is not taken for dead. */
const KEEP_ALIVE_MS = 15_000;
const NOT_JSON = { jsonrpc: "2.0", error: { code: -32_700, message: "The body is not JSON in UTF-8" }, id: null };

/** `onUnexpected` receives internal errors. */
export function createMCPEndpoint(factory: McpServerFactory, onUnexpected: (error: unknown) => void): MCPEndpoint {
  // `onerror` is called for mistakes of clients, too; only the status of the response shows whose fault it was.
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
    answer: async (request, stream, bodyMemory) => {
      const body = await stream.whileReading(bodyMemory, (memory) => readJSON(request, memory, MAX_MESSAGE_BYTES));
      if ("problem" in body) {
        return body.problem.status === 422 ? Response.json(NOT_JSON, { status: 400 }) : toResponse(body.problem);
      }
      const isStream = isSubscription(body.value);
      if (isStream && draining) return toResponse(SHUTTING_DOWN);
      const handler = isStream ? subscriptions : calls;
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
