// The schema of rlm.toml. Strict: an unknown key is an error.

import { z } from "zod";
import { refusedFields } from "../backends/providers/extra-body.ts";
import { ENVIRONMENT_NAMES } from "../environments/registry.ts";
import { STRATEGY_NAMES } from "../protocol/strategy/strategy.ts";
import { parseSize } from "../util/bytes/parse-size.ts";
import { parseUserRange, USER_RANGE_RULE } from "../util/user-range.ts";

/** The longest timer is 24 days. */
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

/** A shipped strategy or the path of a file. */
export function isStrategy(name: string): boolean {
  return (STRATEGY_NAMES as readonly string[]).includes(name) || /\.(?:toml|json)$/i.test(name);
}
export const STRATEGY_RULE = `must be ${STRATEGY_NAMES.join(", ")}, or a .toml or .json file`;

/** As in JSON: TOML has dates, too. */
const fields = z.record(z.string(), z.json(), { error: "must be a table" }).superRefine((table, context) => {
  const [refused] = refusedFields(table);
  if (refused === undefined) return;
  context.addIssue({ code: "custom", message: `may not set '${refused}', which is part of every request` });
});

/** How a model is asked. */
const modelSettings = {
  temperature: z.number().min(0).optional(),
  seed: z.int().optional(),
  /** One of the provider's values. */
  reasoning_effort: text.optional(),
  /** Of one answer. */
  max_tokens: count.optional(),
  /** Of the body of each request. Counts only in a trusted file. */
  extra_body: fields.optional(),
};

/** Used by everything that starts runs. Each key is also an environment variable: RLM_MODEL, ... */
export const rlmSchema = z.strictObject({
  model: text.optional(),
  /** Answers `llm_query`. */
  sub_model: text.optional(),
  /** Of nodes below the root. */
  child_model: text.optional(),
  /** Gives the best answer at a limit. */
  extract_model: text.optional(),
  ...modelSettings,
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
  /** Model calls at once. */
  max_concurrency: count.max(10_000).optional(),
  cache: z.boolean().optional(),
  on_limit: z.enum(["partial", "throw"]).optional(),
  /** A shipped one, or a file. */
  strategy: z.string().refine(isStrategy, STRATEGY_RULE).optional(),
  /** Replaces that of the strategy. */
  system_prompt: text.max(50_000).optional(),
});

/** Used by everything that starts runs. Settings win over those of [rlm]. */
const model = z.strictObject({
  /** As the backend spells it, or `backend/model`. */
  model: text,
  /** What it is good for, for the model that writes code. */
  description: text.max(200).optional(),
  /** A provider, or one of [backends.NAME]. */
  backend: text.optional(),
  ...modelSettings,
  context_window: count.optional(),
  max_output_tokens: count.optional(),
  /** A shipped one, or a file. */
  strategy: z.string().refine(isStrategy, STRATEGY_RULE).optional(),
});

/** Used by everything that starts runs. `type` is the kind of backend, if NAME is not one itself; default: openai-compatible. */
const backend = z.strictObject({
  type: text.optional(),
  base_url: address.optional(),
  api_key_env: variable.optional(),
});

/** USD per million tokens. Used by everything that starts runs; wins over the built-in prices. */
const price = z.strictObject({ input: usd, output: usd, cache_read: usd.optional(), cache_write: usd.optional() });

/** The `docker` environment. All but `cpus`, `memory` and `pids` count only in a trusted file. */
const docker = z.strictObject({
  image: text.optional(),
  cpus: z.number().min(0.01).optional(),
  memory: size.optional(),
  pids: count.optional(),
  network: text.optional(),
  runtime: text.optional(),
  pull: z.enum(["missing", "always", "never"]).optional(),
  host: text.optional(),
});

/** The `wasm` environment. Counts only in a trusted file. */
const wasm = z.strictObject({
  /** A folder. */
  wheels: text.optional(),
});

/** Used by `rlm serve`. `python`, `preload`, `users` and `mounts` count only in a trusted file. */
const sessions = z.strictObject({
  python: text.optional(),
  /** Modules. */
  preload: z.array(text).optional(),
  /** `FIRST-LAST`, ids of users. */
  users: z
    .string()
    .refine((range) => parseUserRange(range) !== undefined, USER_RANGE_RULE)
    .optional(),
  timeout: seconds.optional(),
  idle_timeout: seconds.optional(),
  include_stdlib: z.boolean().optional(),
  /** `PATH[:ro|rw]`. */
  mounts: z.array(text).optional(),
  env: z.record(variable, z.string()).optional(),
});

/** Used by `rlm serve`. `host`, `allow_hosts` and `allow_origins` count only in a trusted file. */
const server = z.strictObject({
  port: z.int().min(0).max(65_535).optional(),
  host: text.optional(),
  allow_hosts: z.array(text).optional(),
  allow_origins: z.array(text).optional(),
  /** How long executions may continue after a signal. */
  grace: seconds.optional(),
  connections: count.optional(),
  /** The most at once. */
  requests: count.optional(),
  executions: count.optional(),
  runs: count.optional(),
  /** The context of a run that comes as a form. */
  context: size.optional(),
  /** Requests per second from one address. */
  rate: z.number().positive().optional(),
  /** Wrong tokens per second from one address. */
  wrong_tokens: z.number().positive().optional(),
  /** The time to receive a request with its body. */
  request_timeout: seconds.optional(),
  log_level: z.enum(["error", "warn", "info", "debug"]).optional(),
  log_format: z.enum(["json", "text"]).optional(),
  /** The tools of /mcp: `core`, `all`, or names. */
  tools: text.optional(),
  structured: z.boolean().optional(),
});

/** Limits of the runtime, for `rlm run` and `rlm serve`. */
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
  total_output: size.optional(),
});

/** Not used yet; for environments with network access. */
const network = z.strictObject({ allow: z.array(text).optional() });

/** Not used yet; for runs with tools of other MCP servers. */
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
  models: z.record(text, model).optional(),
  backends: z.record(text, backend).optional(),
  prices: z.record(text, price).optional(),
  docker: docker.optional(),
  wasm: wasm.optional(),
  sessions: sessions.optional(),
  server: server.optional(),
  limits: limits.optional(),
  network: network.optional(),
  mcp_servers: z.record(text, mcpServer).optional(),
});

export type ConfigFile = z.output<typeof configSchema>;
export type SessionsTable = z.output<typeof sessions>;
export type ModelTable = z.output<typeof model>;
export type RLMTable = z.output<typeof rlmSchema>;
export type RLMKey = keyof RLMTable;
