// The messages themselves, for what a client library hides or refuses.

import { InMemoryTransport } from "@modelcontextprotocol/client";
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import type { Runtime } from "../../../src/runtime.ts";
import type { RLM } from "../../../src/rlm/rlm.ts";
import { HostPaths } from "../../../src/server/mcp/calls/host-paths.ts";
import { createServerFactory, type MCPSettings } from "../../../src/server/mcp/server.ts";
import { selectTools } from "../../../src/server/mcp/tools/select-tools.ts";
import { openTestRuntime } from "../../open.ts";

type Json = Readonly<Record<string, unknown>>;

export interface Reply {
  readonly result?: Json;
  readonly error?: { readonly code: number; readonly message: string };
}

/** A client that sends what a test says, in the modern era. */
export class RequestStream implements AsyncDisposable {
  readonly #transport: InMemoryTransport;
  readonly #waiting = new Map<unknown, (reply: Reply) => void>();
  readonly #capabilities: Json;
  readonly #close: () => Promise<void>;
  #sent = 0;

  constructor(transport: InMemoryTransport, capabilities: Json, close: () => Promise<void>) {
    this.#transport = transport;
    this.#capabilities = capabilities;
    this.#close = close;
    // oxlint-disable-next-line unicorn/prefer-add-event-listener -- a transport of the SDK has no other way
    transport.onmessage = (message) => {
      if ("id" in message) this.#waiting.get(message.id)?.(message as Reply);
    };
  }

  async request(method: string, params: Json = {}): Promise<Reply> {
    this.#sent += 1;
    const id = this.#sent;
    const meta = {
      "io.modelcontextprotocol/protocolVersion": "2026-07-28",
      "io.modelcontextprotocol/clientInfo": { name: "wire", version: "1" },
      "io.modelcontextprotocol/clientCapabilities": this.#capabilities,
    };
    const reply = new Promise<Reply>((resolve) => this.#waiting.set(id, resolve));
    await this.#transport.send({ jsonrpc: "2.0", id, method, params: { ...params, _meta: meta } });
    return reply;
  }

  async call(name: string, args: Json = {}): Promise<Reply> {
    return this.request("tools/call", { name, arguments: args });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#close();
  }
}

interface WireOptions extends Partial<MCPSettings> {
  /** What the client says of itself in every request. */
  readonly capabilities?: Json;
  /** For `rlm_query`. */
  readonly toRLM?: (runtime: Runtime) => RLM;
}

export async function openWire({ capabilities = {}, toRLM, ...settings }: WireOptions = {}): Promise<RequestStream> {
  const runtime = await openTestRuntime({ poolSize: 0 });
  const factory = createServerFactory(runtime, {
    tools: selectTools("all"),
    hostPaths: new HostPaths({ mounts: [], sessionFiles: "/nowhere" }),
    onUnexpected: (error) => {
      throw error;
    },
    ...(toRLM !== undefined && { rlm: toRLM(runtime) }),
    ...settings,
  });
  const [clientSide, serverSide] = InMemoryTransport.createLinkedPair();
  const handle = serveStdio(factory, { transport: serverSide });
  const wire = new RequestStream(clientSide, capabilities, async () => {
    await handle.close();
    await runtime.close();
  });
  await clientSide.start();
  return wire;
}
