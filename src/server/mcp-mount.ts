// MCP beside the other routes, on the same runtime: a session that was opened over one is there for the other.
//
// The protocol is loaded with the first message that comes.

import { dataPath } from "../util/data-folder.ts";
import { onAbort } from "../util/async/on-abort.ts";
import type { Mount } from "../environments/environment.ts";
import type { MCPTool } from "./mcp/tools/tool.ts";
import type { MCPEndpoint } from "./mcp/endpoint.ts";
import type { BodyRoom } from "./net/memory-budget.ts";
import type { Door } from "./context/server-context.ts";
import type { Asked } from "./http/route.ts";

type Around = Pick<Door, "runtime" | "runs" | "begun" | "draining" | "ending">;

export interface MCPDoorOptions {
  /** Folders that every session of the runtime sees, resolved. Default: none. */
  readonly mounts?: readonly Mount[];
  /** Default: all that work. */
  readonly tools?: readonly MCPTool[];
  /** Results also as JSON with a schema. Default: false. */
  readonly isStructured?: boolean;
  /** Hears of what is a fault of ours. Default: nobody. */
  readonly onUnexpected?: (error: unknown) => void;
}

const REQUEST_ID = "x-request-id";

export class MCPDoor {
  readonly #door: Around;
  readonly #options: MCPDoorOptions;
  #endpoint: Promise<MCPEndpoint> | undefined;

  constructor(door: Around, options: MCPDoorOptions = {}) {
    this.#door = door;
    this.#options = options;
  }

  async answer(
    { request, requestId, wire }: Pick<Asked, "request" | "requestId" | "wire">,
    room: BodyRoom,
  ): Promise<Response> {
    this.#endpoint ??= this.#open();
    const endpoint = await this.#endpoint;
    request.headers.set(REQUEST_ID, requestId); // a call of a tool knows its request by the headers alone
    return endpoint.answer(request, wire, room);
  }

  async #open(): Promise<MCPEndpoint> {
    const [{ createMCPEndpoint }, { createServerFactory }, { selectTools }, { Folders }] = await Promise.all([
      import("./mcp/endpoint.ts"),
      import("./mcp/server.ts"),
      import("./mcp/tools/select-tools.ts"),
      import("./mcp/calls/host-paths.ts"),
    ]);
    const { runtime, runs, begun, draining, ending } = this.#door;
    const { mounts = [], tools, isStructured = false, onUnexpected = () => {} } = this.#options;
    const rlm = runs.bounded;
    const factory = createServerFactory(runtime, {
      tools: tools ?? selectTools("all", rlm === undefined ? "none is configured" : undefined),
      isStructured,
      folders: new Folders({ mounts, sessionFiles: dataPath("sessions") }),
      isShared: true,
      ...(rlm !== undefined && { rlm }),
      onUnexpected,
      onBegun: (beginning, request) => begun.note(beginning, { requestId: request?.headers.get(REQUEST_ID) ?? "" }),
    });
    const endpoint = createMCPEndpoint(factory, onUnexpected);
    onAbort(draining, () => void endpoint.drain().catch(onUnexpected));
    onAbort(ending, () => void endpoint.close().catch(onUnexpected));
    return endpoint;
  }
}
