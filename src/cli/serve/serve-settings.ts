// Merges flags and rlm.toml into the settings of `rlm serve`. Flags win.
//
// What a project's rlm.toml may not set unless it is trusted was left out when it was read: see config/guarded-settings.ts.

import type { Config } from "../../config/config.ts";
import type { EnvironmentName } from "../../environments/registry.ts";
import type { RuntimeOptions } from "../../runtime-options.ts";
import type { SessionOptions } from "../../session/options.ts";
import { DEFAULT_SERVER_LIMITS, type ServerLimits } from "../../server/net/guards/request-limiter.ts";
import { parseOrigin } from "../../server/net/guards/cors.ts";
import type { LogFormat, LogLevel } from "../../server/observability/log.ts";
import { omitUndefined } from "../../util/omit-undefined.ts";
import type { LogArguments } from "../log/log-options.ts";
import { DEFAULT_ADDRESS, type AddressArguments } from "./serve-until-signal.ts";
import { toRuntimeOptions } from "../exec/session-settings.ts";
import { asUsageError } from "../options/usage-error.ts";

export interface ServeArguments extends Partial<AddressArguments>, LogArguments {
  readonly allowOrigin?: readonly string[];
  readonly grace?: number;
  readonly tools?: string;
  readonly structured?: true;
  readonly mount?: readonly string[];
  readonly env?: EnvironmentName;
  readonly config?: string;
}

export interface ServeSettings {
  readonly address: AddressArguments;
  readonly allowedOrigins: readonly string[];
  readonly graceMs: number;
  readonly limits: ServerLimits;
  readonly executions: { readonly running?: number };
  readonly runs: { readonly maxRuns?: number; readonly maxContextBytes?: number };
  readonly mcp: {
    /** Absent: all. */
    readonly tools?: { readonly choice: string; readonly source: string };
    readonly isStructured: boolean;
  };
  readonly listen: { readonly requestMs?: number; readonly maxConnections?: number };
  readonly runtime: ReturnType<typeof toRuntimeOptions> & Pick<RuntimeOptions, "timeoutMs" | "idleTimeoutMs">;
  readonly sessionDefaults: Pick<SessionOptions, "env" | "includeStdlib">;
  readonly logLevel: LogLevel;
  readonly logFormat: LogFormat;
}

const DEFAULT_GRACE_SECONDS = 10;
/** The burst of a token bucket, in seconds of its rate. */
const RATE_BURST_SECONDS = 2;
const WRONG_TOKEN_BURST_SECONDS = 5;

/** Throws a UsageError for settings that are wrong. */
export function toServeSettings(flags: ServeArguments, config: Config): ServeSettings {
  const { server, sessions } = config;
  const { allowHost = server.allow_hosts, allowOrigin = server.allow_origins ?? [] } = flags;
  const {
    rate = DEFAULT_SERVER_LIMITS.rate.perSecond,
    wrong_tokens: guesses = DEFAULT_SERVER_LIMITS.failures.perSecond,
  } = server;
  return {
    address: {
      host: flags.host ?? server.host ?? DEFAULT_ADDRESS.host,
      port: flags.port ?? server.port ?? DEFAULT_ADDRESS.port,
      ...(allowHost !== undefined && { allowHost }),
    },
    allowedOrigins: asUsageError(() => allowOrigin.map(parseOrigin)),
    graceMs: (flags.grace ?? server.grace ?? DEFAULT_GRACE_SECONDS) * 1000,
    limits: {
      requests: server.requests ?? DEFAULT_SERVER_LIMITS.requests,
      rate: { perSecond: rate, burst: Math.max(1, rate * RATE_BURST_SECONDS) },
      failures: { perSecond: guesses, burst: Math.max(1, guesses * WRONG_TOKEN_BURST_SECONDS) },
    },
    executions: omitUndefined({ running: server.executions }),
    runs: omitUndefined({ maxRuns: server.runs, maxContextBytes: server.context }),
    mcp: {
      isStructured: flags.structured ?? server.structured ?? false,
      ...omitUndefined({ tools: toTools(flags, config) }),
    },
    listen: omitUndefined({ requestMs: toMs(server.request_timeout), maxConnections: server.connections }),
    runtime: {
      ...toRuntimeOptions(flags, config),
      ...omitUndefined({
        timeoutMs: toLimitMs(sessions.timeout),
        idleTimeoutMs: toLimitMs(sessions.idle_timeout),
      }),
    },
    sessionDefaults: omitUndefined({ env: sessions.env, includeStdlib: sessions.include_stdlib }),
    logLevel: flags.logLevel ?? server.log_level ?? "info",
    logFormat: flags.logFormat ?? server.log_format ?? (isTerminal(flags) ? "text" : "json"),
  };
}

function toTools({ tools: flag }: ServeArguments, { server: { tools } }: Config): ServeSettings["mcp"]["tools"] {
  if (flag !== undefined) return { choice: flag, source: "--tools" };
  return tools === undefined ? undefined : { choice: tools, source: "server.tools" };
}

function isTerminal({ logFile }: ServeArguments): boolean {
  return logFile === undefined && process.stderr.isTTY;
}

function toMs(seconds: number | undefined): number | undefined {
  return seconds === undefined ? undefined : seconds * 1000;
}

/** 0: no limit. */
function toLimitMs(seconds: number | undefined): number | null | undefined {
  return seconds === 0 ? null : toMs(seconds);
}
