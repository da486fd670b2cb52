// `rlm mcp-serve`: the runtime as an MCP server until the client disconnects or a signal arrives.
//
// Starting has no side effects, because clients also start servers only to list their tools. Python starts with the first
// call that needs it.

import { Console } from "node:console";
import { setTimeout as after } from "node:timers/promises";
import type { McpServerFactory } from "@modelcontextprotocol/server";
import { openRuntime, type Runtime } from "../../runtime.ts";
import { linkMounts } from "../../environments/mounts.ts";
import type { EnvironmentName } from "../../environments/registry.ts";
import type { Limits } from "../../api/local.ts";
import type { Config } from "../../config/config.ts";
import { ConfigurationError } from "../../errors.ts";
import { HostPaths, toMounts } from "../../server/mcp/calls/host-paths.ts";
import { createServerFactory } from "../../server/mcp/server.ts";
import { serveMCPOverStdio, type StdioConnection } from "../../server/mcp/transport/stdio.ts";
import { DEFAULT_TIMEOUT_SECONDS, IDLE_MINUTES } from "../../server/mcp/tools/tool-call.ts";
import { dataPath } from "../../util/data-folder.ts";
import { omitUndefined } from "../../util/omit-undefined.ts";
import { chooseTools } from "./choose-tools.ts";
import { printError, printUnexpected } from "../io/print-error.ts";
import { EXIT } from "../exit-code.ts";
import { findModel, refuseModel } from "./mcp-model.ts";
import type { LoggedArguments } from "../log/command-log.ts";
import { projectStdlib } from "./project-stdlib.ts";
import type { AddressArguments } from "./serve-until-signal.ts";
import { toRuntimeOptions } from "../exec/session-settings.ts";
import { readConfig } from "../options/read-config.ts";
import { asUsageError, UsageError } from "../options/usage-error.ts";

export interface MCPServeArguments extends Partial<AddressArguments>, LoggedArguments {
  /** Listens on a port instead of standard input and output. */
  readonly http?: true;
  readonly tools: string;
  readonly structured?: true;
  readonly mount?: readonly string[];
  readonly env?: EnvironmentName;
  readonly python?: string;
  readonly config?: string;
}

/** One client needs one warm sandbox. */
const POOL_SIZE = 1;
const FOR_CLIENTS = "this speaks MCP on standard input and is started by a client: rlm mcp-serve --help has an example";
/** What is still open after this ends with the process. */
const CLOSE_MS = 700;

export async function mcpServe(options: MCPServeArguments): Promise<number> {
  if (options.http !== true) {
    refuseAddress(options);
    const { runtime, factory } = await open(options);
    return serveStdio(runtime, factory);
  }
  const { planFiles } = await import("./open-files.ts");
  const files = planFiles();
  const { runtime, factory } = await open(options, files.limits);
  await using _ = runtime;
  const { serveMCPUntilSignal } = await import("./mcp-over-http.ts");
  return await serveMCPUntilSignal(factory, options, files);
}

/** Opens the runtime and a factory of servers on it. Starts nothing. */
async function open(options: MCPServeArguments, limits: Partial<Limits> = {}): Promise<Opened> {
  const { tools, structured, http } = options;
  const { config, model } = readSettings(options);
  const offered = chooseTools(tools, "whyNot" in model ? model.whyNot : undefined);
  const configured = toRuntimeOptions(options, config);
  const { env: sessionEnv } = config.sessions;
  const mounts = asUsageError(() => toMounts(process.cwd(), configured.mounts ?? []));
  for (const problem of linkMounts(mounts).problems) printError(problem);
  const runtime = await openRuntime({
    ...configured,
    mounts,
    limits: { ...configured.limits, ...limits },
    poolSize: POOL_SIZE,
    timeoutMs: DEFAULT_TIMEOUT_SECONDS * 1000,
    idleTimeoutMs: IDLE_MINUTES * 60_000,
    ids: http === true ? "random" : "short",
    stdlibPath: projectStdlib(process.cwd()),
  });
  options.log.observe(runtime);
  const factory = createServerFactory(runtime, {
    tools: offered,
    ...("model" in model && { rlm: runtime.rlm(model) }),
    hostPaths: new HostPaths({ mounts, sessionFiles: dataPath("sessions"), startedIn: process.cwd() }),
    isStructured: structured === true,
    isShared: http === true,
    ...omitUndefined({ sessionEnv }),
    onUnexpected: printUnexpected,
    onWarning: printError,
  });
  return { runtime, factory };
}

/**
 * A mistake in rlm.toml or in a variable is an error: sessions must not run in another environment, or with other limits, than somebody
 * chose. A client starts the server in whatever folder is open, so an `.env` there that cannot be read costs the model only.
 */
function readSettings({ config: path }: MCPServeArguments): Settings {
  try {
    const config = readConfig({ path });
    return { config, model: findModel(config) };
  } catch (error) {
    if (!(error instanceof ConfigurationError)) throw error;
    const config = readConfig({ path, isDotEnvOptional: true });
    return { config, model: refuseModel(error.message) };
  }
}

interface Settings {
  readonly config: Config;
  readonly model: ReturnType<typeof findModel>;
}

interface Opened {
  readonly runtime: Runtime;
  readonly factory: McpServerFactory;
}

async function serveStdio(runtime: Runtime, factory: McpServerFactory): Promise<number> {
  globalThis.console = new Console(process.stderr); // stdout carries only MCP messages
  const stopped = Promise.race([awaitSignal(), awaitFailure()]);
  if (process.stdin.isTTY) printError(FOR_CLIENTS);
  const connection = serveMCPOverStdio(factory, {
    input: process.stdin,
    output: process.stdout,
    onProblem: ({ message }) => printError(message),
  });
  const code = await Promise.race([connection.ended.then(() => EXIT.ok), stopped]);
  await Promise.race([closeAll(runtime, connection), after(CLOSE_MS)]);
  return code;
}

async function closeAll(runtime: Runtime, connection: StdioConnection): Promise<void> {
  const [, closed] = await Promise.allSettled([connection.close(), runtime.close()]);
  if (closed.status === "rejected") printUnexpected(closed.reason);
}

function refuseAddress({ port, host, allowHost }: MCPServeArguments): void {
  const flags = Object.entries({ "--port": port, "--host": host, "--allow-host": allowHost });
  const first = flags.find(([, value]) => value !== undefined);
  if (first !== undefined) throw new UsageError(`${first[0]} needs --http`);
}

async function awaitSignal(): Promise<number> {
  return new Promise((resolve) => {
    for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"] as const) process.on(signal, () => resolve(EXIT.ok));
  });
}

/** After an unexpected error the state of the process cannot be trusted. */
async function awaitFailure(): Promise<number> {
  return new Promise((resolve) => {
    let hasFailed = false;
    const fail = (error: unknown): void => {
      if (!hasFailed) printUnexpected(error); // once, because logging itself may fail
      hasFailed = true;
      resolve(EXIT.error);
    };
    process.on("uncaughtException", fail).on("unhandledRejection", fail);
  });
}
