// The MCP server: one factory for every connection and request, of both protocol eras and over any transport.
//
// A server object lives as long as a connection on stdio and as long as a request on HTTP. Whatever outlives it (sessions,
// tasks, their output) is in the runtime; the list of tools is made once, so that it is the same text every time.

import {
  CLIENT_CAPABILITIES_META_KEY,
  McpServer,
  ProtocolError,
  ProtocolErrorCode,
  type CallToolResult,
  type ClientCapabilities,
  type McpServerFactory,
  type ServerContext,
  type Tool,
} from "@modelcontextprotocol/server";
import type { Runtime } from "../../runtime.ts";
import { VERSION } from "../../util/version.ts";
import { toCallToolResult, type ToolResult } from "./render/result.ts";
import { renderError } from "./render/error.ts";
import type { Activity } from "../observability/activity-tracker.ts";
import type { HostPaths } from "./calls/host-paths.ts";
import { Images } from "./render/images.ts";
import { toInstructions } from "./instructions.ts";
import { serveOutput } from "./output-resource.ts";
import { toOutputSchema } from "./output-schema.ts";
import { serveTasks, TASKS_EXTENSION, toTaskResult } from "./tasks-extension.ts";
import type { MCPTool } from "./tools/tool.ts";
import { DEFAULT_WAITS, type ToolCall, type Waits } from "./tools/tool-call.ts";
import { ShortWait } from "./calls/progress.ts";

export interface MCPSettings {
  readonly tools: readonly MCPTool[];
  readonly hostPaths: HostPaths;
  /** What `rlm_query` asks. Absent: that tool is not to be offered. */
  readonly rlm?: ToolCall["rlm"] & object;
  /** Results also as JSON with a schema. Many clients then show a model the JSON in file of the text. Default: false. */
  readonly isStructured?: boolean;
  /** Whether several clients use it, and so the same sessions. Default: false. */
  readonly isShared?: boolean;
  /** Default: 30 s for Python, 5 s for commands, progress every 5 s. */
  readonly waits?: Partial<Waits>;
  /** Told of what is a fault of ours. */
  readonly onUnexpected: (error: unknown) => void;
  /** Told of what calls begin, with the request of HTTP that a call came in. Default: nobody. */
  readonly onActivity?: (beginning: Activity, request: Request | undefined) => void;
}

const LIST_HINT = { ttlMs: 3_600_000, cacheScope: "public" } as const;
const UNEXPECTED = "The server failed at this; its log has the reason.";

export function createServerFactory(runtime: Runtime, settings: MCPSettings): McpServerFactory {
  const { tools: offered, isStructured = false, onUnexpected } = settings;
  const byName = new Map(offered.map((tool) => [tool.listing.name, tool]));
  const tools = offered.map((tool) => toListed(tool, isStructured));
  const instructions = toInstructions({
    tools: [...byName.keys()],
    hasFiles: settings.hostPaths.mounts.length > 0,
    isShared: settings.isShared === true,
  });
  const kept: Kept = {
    runtime,
    hostPaths: settings.hostPaths,
    rlm: settings.rlm,
    waits: { ...DEFAULT_WAITS, ...settings.waits },
    offers: (name) => byName.has(name),
    images: new Images(),
    state: {},
    shortWait: new ShortWait(),
  };

  const answer = async (name: string, args: unknown, call: ToolCall): Promise<ToolResult> => {
    const tool = byName.get(name);
    if (tool === undefined) throw new ProtocolError(ProtocolErrorCode.InvalidParams, describeUnknown(name, byName));
    try {
      return await tool.call(args, call);
    } catch (error) {
      if (call.signal.aborted) throw error;
      const text = renderError(error, call);
      if (text === undefined) onUnexpected(error);
      return { text: text ?? UNEXPECTED, isError: true };
    }
  };

  return ({ era }) => {
    const mcp = new McpServer(
      { name: "rlm", title: "RLM Runtime", version: VERSION },
      {
        instructions,
        cacheHints: {
          "tools/list": LIST_HINT,
          "resources/list": LIST_HINT,
          "resources/templates/list": LIST_HINT,
          "server/discover": LIST_HINT,
        },
      },
    );
    const { server } = mcp;
    server.registerCapabilities({ tools: {}, resources: {} });
    server.setRequestHandler("tools/list", () => ({ tools }));
    server.setRequestHandler("tools/call", async ({ params }, context) => {
      const onActivity = (beginning: Activity): void => settings.onActivity?.(beginning, context.http?.req);
      const call = toCall(kept, onActivity, context);
      const given = await answer(params.name, params.arguments, call);
      if (given.task !== undefined && knowsTasks(context)) return toTaskResult(given.task) as unknown as CallToolResult;
      return toCallToolResult(given, { isStructured, notes: call.notes });
    });
    if (era === "modern") serveTasks(server, kept, (ended) => toCallToolResult(ended, { isStructured }));
    serveOutput(server, runtime);
    return mcp;
  };
}

function toListed({ listing, runs }: MCPTool, isStructured: boolean): Tool {
  const listed = { ...listing, ...(isStructured && { outputSchema: toOutputSchema(runs) }) };
  return listed as unknown as Tool; // its own types for schemas are those of any JSON
}

/** What all calls have in common. */
type Kept = Omit<ToolCall, "onActivity" | "signal" | "notes" | "report">;

function toCall(kept: Kept, onActivity: ToolCall["onActivity"], { mcpReq }: ServerContext): ToolCall {
  const { signal, _meta: meta } = mcpReq;
  const progressToken = meta?.progressToken;
  const call: ToolCall = { ...kept, onActivity, signal, notes: [] };
  if (progressToken === undefined) return call;
  let progress = 0;
  const report = (message: string): void => {
    progress += 1;
    const params = { progressToken, progress, message };
    void mcpReq.notify({ method: "notifications/progress", params }).catch(() => {}); // the client may be gone
  };
  return { ...call, report };
}

/** Whether this very request says that its client knows the tasks extension. */
function knowsTasks({ mcpReq }: ServerContext): boolean {
  const envelope: Readonly<Record<string, unknown>> = mcpReq.envelope ?? {};
  const capabilities = envelope[CLIENT_CAPABILITIES_META_KEY] as ClientCapabilities | undefined; // checked by the SDK
  return Object.hasOwn(capabilities?.extensions ?? {}, TASKS_EXTENSION);
}

function describeUnknown(name: string, byName: ReadonlyMap<string, MCPTool>): string {
  return `No tool '${name.slice(0, 80)}'. There are: ${[...byName.keys()].join(", ")}`;
}
