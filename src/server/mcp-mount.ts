// MCP at /mcp of `rlm serve`, on the same runtime as the other routes: both see the same sessions.
//
// The protocol is loaded with the first message.

import type { Mount } from "../api/local.ts";
import { onAbort } from "../util/async/on-abort.ts";
import { dataPath } from "../util/data-folder.ts";
import type { MCPHandler, MCPRequest, ServerContext } from "./context/server-context.ts";
import type { MCPEndpoint } from "./mcp/endpoint.ts";
import type { MCPTool } from "./mcp/tools/tool.ts";
import type { MemoryBudget } from "./net/memory-budget.ts";

type MountContext = Pick<ServerContext, "runtime" | "runs" | "activity" | "draining" | "closing">;

export interface MCPMountOptions {
  /** Resolved folders that every session of the runtime sees. Default: none. */
  readonly mounts?: readonly Mount[];
  /** Default: all that work. */
  readonly tools?: readonly MCPTool[];
  /** Adds JSON with a schema to results. Default: false. */
  readonly isStructured?: boolean;
  /** Environment variables of the sessions that calls open. Default: none. */
  readonly sessionEnv?: Readonly<Record<string, string>>;
  /** Receives internal errors. Default: ignored. */
  readonly onUnexpected?: (error: unknown) => void;
}

const REQUEST_ID = "x-request-id";

export class MCPMount implements MCPHandler {
  readonly #context: MountContext;
  readonly #options: MCPMountOptions;
  #endpoint: Promise<MCPEndpoint> | undefined;

  constructor(context: MountContext, options: MCPMountOptions = {}) {
    this.#context = context;
    this.#options = options;
  }

  async answer({ request, requestId, stream }: MCPRequest, bodyMemory: MemoryBudget): Promise<Response> {
    this.#endpoint ??= this.#open();
    const endpoint = await this.#endpoint;
    request.headers.set(REQUEST_ID, requestId); // a tool call sees only the headers of its request
    return endpoint.answer(request, stream, bodyMemory);
  }

  async #open(): Promise<MCPEndpoint> {
    const [{ createMCPEndpoint }, { createServerFactory }, { selectTools }, { HostPaths }] = await Promise.all([
      import("./mcp/endpoint.ts"),
      import("./mcp/server.ts"),
      import("./mcp/tools/select-tools.ts"),
      import("./mcp/calls/host-paths.ts"),
    ]);
    const { runtime, runs, activity, draining, closing } = this.#context;
    const { mounts = [], tools, isStructured = false, sessionEnv = {}, onUnexpected = () => {} } = this.#options;
    const rlm = runs.limited;
    const factory = createServerFactory(runtime, {
      tools: tools ?? selectTools("all", rlm === undefined ? "none is configured" : undefined),
      isStructured,
      sessionEnv,
      hostPaths: new HostPaths({ mounts, sessionFiles: dataPath("sessions") }),
      isShared: true,
      ...(rlm !== undefined && { rlm }),
      onUnexpected,
      onActivity: (started, request) => activity.track(started, { requestId: request?.headers.get(REQUEST_ID) ?? "" }),
    });
    const endpoint = createMCPEndpoint(factory, onUnexpected);
    onAbort(draining, () => void endpoint.drain().catch(onUnexpected));
    onAbort(closing, () => void endpoint.close().catch(onUnexpected));
    return endpoint;
  }
}
