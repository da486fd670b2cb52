// MCP beside the other routes, on the same runtime: a session that was opened over one is there for the other.
//
// The protocol is loaded with the first message that comes.

import { dataPath } from "../../util/data-folder.ts";
import { onAbort } from "../../util/on-abort.ts";
import type { Mount } from "../../runtime.ts";
import type { MCPEndpoint } from "../mcp/endpoint.ts";
import type { Door } from "./door.ts";

export interface MCPDoorOptions {
  /** Folders that every session of the runtime sees, resolved. Default: none. */
  readonly mounts?: readonly Mount[];
  /** Hears of what is a fault of ours. Default: nobody. */
  readonly onUnexpected?: (error: unknown) => void;
}

export class MCPDoor {
  readonly #door: Pick<Door, "runtime" | "runs" | "draining" | "ending">;
  readonly #options: MCPDoorOptions;
  #endpoint: Promise<MCPEndpoint> | undefined;

  constructor(door: Pick<Door, "runtime" | "runs" | "draining" | "ending">, options: MCPDoorOptions = {}) {
    this.#door = door;
    this.#options = options;
  }

  async answer(request: Request): Promise<Response> {
    this.#endpoint ??= this.#open();
    const endpoint = await this.#endpoint;
    return endpoint.answer(request);
  }

  async #open(): Promise<MCPEndpoint> {
    const [{ createMCPEndpoint }, { createServerFactory }, { selectTools }, { Folders }] = await Promise.all([
      import("../mcp/endpoint.ts"),
      import("../mcp/server.ts"),
      import("../mcp/toolbox.ts"),
      import("../mcp/folders.ts"),
    ]);
    const { runtime, runs, draining, ending } = this.#door;
    const { mounts = [], onUnexpected = () => {} } = this.#options;
    const { rlm } = runs;
    const factory = createServerFactory(runtime, {
      tools: selectTools("all", rlm === undefined ? "none is configured" : undefined),
      folders: new Folders({ mounts, sessionFiles: dataPath("sessions") }),
      ...(rlm !== undefined && { rlm }),
      onUnexpected,
    });
    const endpoint = createMCPEndpoint(factory, onUnexpected);
    onAbort(draining, () => void endpoint.drain().catch(onUnexpected));
    onAbort(ending, () => void endpoint.close().catch(onUnexpected));
    return endpoint;
  }
}
