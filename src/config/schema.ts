// What rlm.toml may say. Strict: a key that is not here is an error.

import { z } from "zod";
import { ENVIRONMENT_NAMES } from "../environments/registry.ts";
import { parseSize } from "../util/bytes/parse-size.ts";

/** Timers cannot wait longer: 24 days. */
const MAX_SECONDS = 2_000_000;

const text = z.string().min(1);
const count = z.int().min(1);
/** 0: no limit. */
const seconds = z.number().min(0).max(MAX_SECONDS);
const usd = z.number().min(0);
/** The name of an environment variable. */
const variable = z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/, "must be the name of an environment variable");
const address = z.url({ protocol: /^https?$/, error: "must be an address that begins with http:// or https://" });
const size = z
  .union([z.string(), z.number()], { error: 'must be a size such as "512m" or "4g"' })
  .transform((value, context) => {
    const bytes = parseSize(String(value));
    if (bytes !== undefined) return bytes;
    context.issues.push({ code: "custom", input: value, message: 'must be a size such as "512m" or "4g"' });
    return z.NEVER;
  });

/** Used by `rlm run`, and by whatever else starts runs. Each key is an environment variable, too: RLM_MODEL, ... */
export const rlmSchema = z.strictObject({
  model: text.optional(),
  /** Answers `llm_query`. */
  sub_model: text.optional(),
  /** In the words of the provider. */
  reasoning_effort: text.optional(),
  backend: text.optional(),
  base_url: address.optional(),
  environment: z.enum(ENVIRONMENT_NAMES).optional(),
  mode: z.enum(["auto", "rlm", "direct"]).optional(),
  max_depth: z.int().min(0).max(100).optional(),
  max_iterations: count.optional(),
  token_budget: count.optional(),
  cost_budget: z.number().positive().optional(),
  call_budget: count.optional(),
  tool_budget: count.optional(),
  timeout: seconds.optional(),
  cache: z.boolean().optional(),
  on_limit: z.enum(["partial", "throw"]).optional(),
});

/** Used by whatever starts runs. `type` is what NAME speaks, where NAME is not a backend itself. */
const backend = z.strictObject({
  type: text.optional(),
  base_url: address.optional(),
  api_key_env: variable.optional(),
});

/** USD for a million tokens. Used by whatever starts runs; wins over the prices that are known. */
const price = z.strictObject({ input: usd, output: usd, cache_read: usd.optional(), cache_write: usd.optional() });

/** Not used yet; for the environment `docker`. */
const docker = z.strictObject({
  image: text.optional(),
  cpus: z.number().positive().optional(),
  memory: size.optional(),
});

/** Used by `rlm serve`. `python` is a program of the folder that the file is in: not to be started unasked. */
const sessions = z.strictObject({
  python: text.optional(),
  timeout: seconds.optional(),
  idle_timeout: seconds.optional(),
  include_stdlib: z.boolean().optional(),
  /** `PATH[:ro|rw]`. */
  mounts: z.array(text).optional(),
  env: z.record(variable, z.string()).optional(),
});

/** Used by `rlm serve`. `host`, `allow_hosts` and `allow_origins` say who may come in: not to be taken from just any folder. */
const server = z.strictObject({
  port: z.int().min(0).max(65_535).optional(),
  host: text.optional(),
  allow_hosts: z.array(text).optional(),
  allow_origins: z.array(text).optional(),
  /** How long what runs may go on after a signal. */
  grace: seconds.optional(),
  connections: count.optional(),
  /** Under way at once. */
  requests: count.optional(),
  executions: count.optional(),
  runs: count.optional(),
  /** Requests in a second from one address. */
  rate: z.number().positive().optional(),
  /** Wrong tokens in a second from one address. */
  wrong_tokens: z.number().positive().optional(),
  /** For a request to arrive, with its body. */
  request_timeout: seconds.optional(),
  log_level: z.enum(["error", "warn", "info", "debug"]).optional(),
  log_format: z.enum(["json", "text"]).optional(),
  /** Of /mcp: `core`, `all`, or names. */
  tools: text.optional(),
  structured: z.boolean().optional(),
});

/** Used by `rlm run` and `rlm serve`, for the runtime that they open. */
const limits = z.strictObject({
  memory: size.optional(),
  disk: size.optional(),
  processes: count.optional(),
  open_files: count.optional(),
  branches: z.int().min(0).optional(),
  sessions: count.optional(),
  total_memory: size.optional(),
  waiting: count.optional(),
  tasks: count.optional(),
  kept_output: size.optional(),
  readable_output: size.optional(),
});

/** Not used yet; for environments that can allow hosts. */
const network = z.strictObject({ allow: z.array(text).optional() });

/** Not used yet; for runs, which will have the tools of other MCP servers. */
const mcpServer = z
  .strictObject({
    command: text.optional(),
    args: z.array(z.string()).optional(),
    env: z.record(variable, z.string()).optional(),
    cwd: text.optional(),
    url: address.optional(),
    /** The variable that holds a bearer token. */
    token_env: variable.optional(),
    token_file: text.optional(),
    auth: z.enum(["none", "bearer", "oauth"]).optional(),
  })
  .refine(({ command, url }) => (command === undefined) !== (url === undefined), {
    error: "needs either command (a program) or url (an address)",
  });

export const configSchema = z.strictObject({
  rlm: rlmSchema.optional(),
  backends: z.record(text, backend).optional(),
  prices: z.record(text, price).optional(),
  docker: docker.optional(),
  sessions: sessions.optional(),
  server: server.optional(),
  limits: limits.optional(),
  network: network.optional(),
  mcp_servers: z.record(text, mcpServer).optional(),
});

export type ConfigFile = z.output<typeof configSchema>;
export type RLMTable = z.output<typeof rlmSchema>;
export type RLMKey = keyof RLMTable;
