// A real client on a real server, without a process between them.

import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client, InMemoryTransport, type CallToolResult } from "@modelcontextprotocol/client";
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import type { Runtime } from "../../../src/runtime.ts";
import type { RuntimeOptions } from "../../../src/runtime-options.ts";
import type { Mount } from "../../../src/api/local.ts";
import type { RLM } from "../../../src/rlm/rlm.ts";
import { HostPaths } from "../../../src/server/mcp/calls/host-paths.ts";
import { createServerFactory, type MCPSettings } from "../../../src/server/mcp/server.ts";
import { ALL_TOOLS, selectTools } from "../../../src/server/mcp/tools/select-tools.ts";
import { openTestRuntime } from "../../open.ts";

export type Era = "legacy" | "modern";
export const ERAS: readonly Era[] = ["legacy", "modern"];

interface ConnectOptions extends Partial<MCPSettings> {
  readonly era?: Era;
  readonly mounts?: readonly Mount[];
  readonly runtime?: RuntimeOptions;
  /** Connects to the runtime of another connection. */
  readonly beside?: Pick<Connection, "runtime" | "sessionFiles" | "unexpected">;
  /** For `rlm_query`. */
  readonly toRLM?: (runtime: Runtime) => RLM;
}

/** What a test says to a tool, and what it reads. */
export class Connection implements AsyncDisposable {
  readonly client: Client;
  readonly runtime: Runtime;
  /** Where sessions are saved by name. */
  readonly sessionFiles: string;
  readonly unexpected: unknown[];
  readonly #close: () => Promise<void>;

  constructor(
    parts: Pick<Connection, "client" | "runtime" | "sessionFiles" | "unexpected">,
    close: () => Promise<void>,
  ) {
    this.client = parts.client;
    this.runtime = parts.runtime;
    this.sessionFiles = parts.sessionFiles;
    this.unexpected = parts.unexpected;
    this.#close = close;
  }

  async call(name: string, args: Record<string, unknown> = {}): Promise<CallToolResult> {
    const result = await this.client.callTool({ name, arguments: args });
    checkFacts(name, result);
    return result;
  }

  /** The text alone, of a call that must work. */
  async text(name: string, args: Record<string, unknown> = {}): Promise<string> {
    const result = await this.call(name, args);
    if (result.isError === true) throw new Error(`${name} failed: ${textOf(result)}`);
    return textOf(result);
  }

  /** The text alone, of a call that must fail. */
  async failure(name: string, args: Record<string, unknown> = {}): Promise<string> {
    const result = await this.call(name, args);
    if (result.isError !== true) throw new Error(`${name} did not fail: ${textOf(result)}`);
    return textOf(result);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#close();
  }
}

export async function connect(options: ConnectOptions = {}): Promise<Connection> {
  const { era = "modern", mounts = [], beside, toRLM, ...settings } = options;
  const data = beside === undefined ? realpathSync(mkdtempSync(join(tmpdir(), "rlm-mcp-"))) : undefined;
  const sessionFiles = beside?.sessionFiles ?? join(data ?? "", "sessions");
  const runtime = beside?.runtime ?? (await openTestRuntime({ mounts, poolSize: 0, ...options.runtime }));
  const unexpected: unknown[] = beside?.unexpected ?? [];
  const factory = createServerFactory(runtime, {
    tools: selectTools("all"),
    hostPaths: new HostPaths({ mounts, sessionFiles }),
    onUnexpected: (error) => void unexpected.push(error),
    ...(toRLM !== undefined && { rlm: toRLM(runtime) }),
    ...settings,
  });
  const [clientSide, serverSide] = InMemoryTransport.createLinkedPair();
  const handle = serveStdio(factory, { transport: serverSide });
  const client = new Client(
    { name: "test", version: "1" },
    {
      versionNegotiation: { mode: era === "modern" ? { pin: "2026-07-28" } : "legacy" },
    },
  );
  await client.connect(clientSide);
  return new Connection({ client, runtime, sessionFiles, unexpected }, async () => {
    await client.close();
    await handle.close();
    if (beside === undefined) await runtime.close();
    if (data !== undefined) rmSync(data, { recursive: true, force: true });
  });
}

export function textOf({ content }: CallToolResult): string {
  return content.map((block) => (block.type === "text" ? block.text : "")).join("");
}

/** Throws if the tool does not declare a fact, or declares another type. */
function checkFacts(name: string, result: CallToolResult): void {
  const output = ALL_TOOLS.find(({ listing }) => listing.name === name)?.output.strict();
  if (factsOf(result) !== undefined) output?.parse(factsOf(result));
}

/** The machine data of a result. */
export function factsOf(result: CallToolResult): Record<string, unknown> {
  return result._meta?.["rlm-runtime/result"] as Record<string, unknown>;
}
