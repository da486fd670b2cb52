// The MCP server: one factory for every connection and request, for both protocol eras and any transport.
//
// A server object lives as long as a connection on stdio and as long as a request on HTTP. What outlives it (sessions, tasks, their output)
// is in the runtime. The list of tools is created once, so that its text never varies.

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
import type { EnvironmentReport } from "../../environments/environment.ts";
import type { Runtime } from "../../runtime.ts";
import { VERSION } from "../../util/version.ts";
import { seatBeltWarning } from "../../views/seat-belt.ts";
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
import { DEFAULT_TIMINGS, type ToolCall, type Timings } from "./tools/tool-call.ts";
import { ShortWait } from "./calls/short-wait.ts";

export interface MCPSettings {
  readonly tools: readonly MCPTool[];
  readonly hostPaths: HostPaths;
  /** For `rlm_query`. Absent: that tool must not be offered. */
  readonly rlm?: ToolCall["rlm"] & object;
  /** Adds JSON with a schema to results. Many clients then show a model the JSON instead of the text. Default: false. */
  readonly isStructured?: boolean;
  /** Several clients share the server and its sessions. Default: false. */
  readonly isShared?: boolean;
  /** Environment variables of the sessions that calls open. Default: none. */
  readonly sessionEnv?: Readonly<Record<string, string>>;
  /** Default: 30 s for Python, 5 s for commands, progress every 5 s. */
  readonly timings?: Partial<Timings>;
  /** Receives internal errors. */
  readonly onUnexpected: (error: unknown) => void;
  /** Called with what is weaker or less than it should be, such as a folder that sessions do not see, once each. A client is told, too. */
  readonly onWarning?: (sentence: string) => void;
  /** Called with what calls start, and the HTTP request of the call, if any. Default: ignored. */
  readonly onActivity?: (activity: Activity, request: Request | undefined) => void;
}

const LIST_HINT = { ttlMs: 3_600_000, cacheScope: "public" } as const;
const UNEXPECTED = "The server failed at this; its log has the reason.";

export function createServerFactory(runtime: Runtime, settings: MCPSettings): McpServerFactory {
  const { tools: offered, isStructured = false, onUnexpected } = settings;
  const byName = new Map(offered.map((tool) => [tool.listing.name, tool]));
  const tools = offered.map((tool) => toListing(tool, isStructured));
  const offer = {
    capabilities: runtime.report().capabilities,
    tools: [...byName.keys()],
    hasFiles: settings.hostPaths.mounts.length > 0,
    isShared: settings.isShared === true,
  };
  const shared: SharedCallState = {
    runtime,
    hostPaths: settings.hostPaths,
    rlm: settings.rlm,
    timings: { ...DEFAULT_TIMINGS, ...settings.timings },
    sessionEnv: settings.sessionEnv,
    offers: (name) => byName.has(name),
    images: new Images(),
    state: {},
    shortWait: new ShortWait(),
  };

  const logged = new Set<string>();
  const log = (sentence: string): void => {
    if (!logged.has(sentence)) settings.onWarning?.(sentence);
    logged.add(sentence);
  };
  const early = seatBeltWarning(runtime.report());
  if (early !== undefined) log(early);

  const callTool = async (name: string, args: unknown, call: ToolCall): Promise<ToolResult> => {
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
    const warning = seatBeltWarning(runtime.report());
    const mcp = new McpServer(
      { name: "rlm", title: "RLM Runtime", version: VERSION },
      {
        instructions: toInstructions({ ...offer, isSeatBelt: warning !== undefined }),
        cacheHints: {
          "tools/list": LIST_HINT,
          "resources/list": LIST_HINT,
          "resources/templates/list": LIST_HINT,
          "server/discover": LIST_HINT,
        },
      },
    );
    const { server } = mcp;
    const told = new Set(warning === undefined ? [] : [warning]);
    server.registerCapabilities({ tools: {}, resources: {} });
    server.setRequestHandler("tools/list", () => ({ tools }));
    server.setRequestHandler("tools/call", async ({ params }, context) => {
      const onActivity = (activity: Activity): void => settings.onActivity?.(activity, context.http?.req);
      const call = createCall(shared, onActivity, context);
      const result = await callTool(params.name, params.arguments, call);
      if (result.task !== undefined && supportsTasks(context))
        return toTaskResult(result.task) as unknown as CallToolResult;
      const news = warningsOf(runtime.report()).filter((sentence) => !told.has(sentence));
      for (const sentence of news) {
        told.add(sentence);
        log(sentence);
      }
      return toCallToolResult(result, { isStructured, notes: [...call.notes, ...news] });
    });
    if (era === "modern") serveTasks(server, shared, (result) => toCallToolResult(result, { isStructured }));
    serveOutput(server, runtime);
    return mcp;
  };
}

function warningsOf(report: EnvironmentReport): readonly string[] {
  const warning = seatBeltWarning(report);
  return [...(warning === undefined ? [] : [warning]), ...report.notMounted];
}

function toListing({ listing, output }: MCPTool, isStructured: boolean): Tool {
  const listed = { ...listing, ...(isStructured && { outputSchema: toOutputSchema(output) }) };
  return listed as unknown as Tool; // the SDK's schema types are narrower than JSON Schema
}

/** What all calls share. */
type SharedCallState = Omit<ToolCall, "onActivity" | "signal" | "notes" | "report">;

function createCall(shared: SharedCallState, onActivity: ToolCall["onActivity"], { mcpReq }: ServerContext): ToolCall {
  const { signal, _meta: meta } = mcpReq;
  const progressToken = meta?.progressToken;
  const call: ToolCall = { ...shared, onActivity, signal, notes: [] };
  if (progressToken === undefined) return call;
  let progress = 0;
  const report = (message: string): void => {
    progress += 1;
    const params = { progressToken, progress, message };
    void mcpReq.notify({ method: "notifications/progress", params }).catch(() => {}); // the client may be gone
  };
  return { ...call, report };
}

/** Whether this request declares that its client supports the tasks extension. */
function supportsTasks({ mcpReq }: ServerContext): boolean {
  const envelope: Readonly<Record<string, unknown>> = mcpReq.envelope ?? {};
  const capabilities = envelope[CLIENT_CAPABILITIES_META_KEY] as ClientCapabilities | undefined; // checked by the SDK
  return Object.hasOwn(capabilities?.extensions ?? {}, TASKS_EXTENSION);
}

function describeUnknown(name: string, byName: ReadonlyMap<string, MCPTool>): string {
  return `No tool '${name.slice(0, 80)}'. There are: ${[...byName.keys()].join(", ")}`;
}
