// The default of every setting, as `rlm config show` prints it.

import { DEFAULTS } from "../../config/settings.ts";
import { DEFAULT_EXECUTION_LIMITS } from "../../server/context/executions.ts";
import { DEFAULT_MAX_RUNS } from "../../server/context/run-admission.ts";
import { DEFAULT_SERVER_LIMITS } from "../../server/net/guards/request-limiter.ts";
import { DEFAULT_MAX_CONNECTIONS } from "../../server/net/listen.ts";
import { DEFAULT_LIMITS } from "../../session/default-limits.ts";
import { DEFAULT_ADDRESS } from "../serve/serve-until-signal.ts";

/** A value, or words for what depends on something else. */
export type Default = number | string | boolean | { readonly words: string };

const none = { words: "none" };
const noLimit = { words: "no limit" };

/** By section and key, in the order of the output. */
export const SETTING_DEFAULTS: Readonly<Record<string, Readonly<Record<string, Default>>>> = {
  rlm: {
    model: none,
    sub_model: { words: "as model" },
    child_model: { words: "as model" },
    extract_model: { words: "that of the node" },
    temperature: { words: "the provider's" },
    seed: none,
    reasoning_effort: { words: "the provider's" },
    max_tokens: { words: "by the kind of call" },
    extra_body: none,
    backend: { words: "by the model" },
    base_url: { words: "the provider's" },
    environment: DEFAULTS.environment,
    mode: DEFAULTS.mode,
    max_depth: DEFAULTS.maxDepth,
    max_iterations: DEFAULTS.maxIterations,
    token_budget: noLimit,
    cost_budget: noLimit,
    call_budget: DEFAULTS.callBudget,
    tool_budget: noLimit,
    timeout: DEFAULTS.timeoutMs / 1000,
    max_concurrency: DEFAULTS.maxConcurrency,
    cache: true,
    on_limit: DEFAULTS.onLimit,
    strategy: { words: "by the model" },
    system_prompt: { words: "the strategy's" },
  },
  sessions: {
    python: { words: "python3" },
    preload: { words: "common modules, numpy, pandas" },
    users: { words: "a free range" },
    timeout: { words: "55 in serve, else none" },
    idle_timeout: { words: "300 in serve" },
    include_stdlib: true,
    mounts: none,
    env: none,
  },
  limits: {
    memory: DEFAULT_LIMITS.memoryBytes,
    disk: DEFAULT_LIMITS.diskBytes,
    processes: DEFAULT_LIMITS.processes,
    open_files: DEFAULT_LIMITS.openFiles,
    branches: DEFAULT_LIMITS.branches,
    sessions: DEFAULT_LIMITS.sessions,
    total_memory: DEFAULT_LIMITS.totalMemoryBytes,
    waiting: DEFAULT_LIMITS.waiting,
    tasks: DEFAULT_LIMITS.tasks,
    kept_output: DEFAULT_LIMITS.keptOutputBytes,
    readable_output: DEFAULT_LIMITS.readableOutputBytes,
    total_output: DEFAULT_LIMITS.totalOutputBytes,
  },
  server: {
    port: DEFAULT_ADDRESS.port,
    host: DEFAULT_ADDRESS.host,
    allow_hosts: none,
    allow_origins: none,
    grace: 10,
    connections: DEFAULT_MAX_CONNECTIONS,
    requests: DEFAULT_SERVER_LIMITS.requests,
    executions: DEFAULT_EXECUTION_LIMITS.running,
    runs: DEFAULT_MAX_RUNS,
    context: 4 * 1024 ** 3,
    rate: DEFAULT_SERVER_LIMITS.rate.perSecond,
    wrong_tokens: DEFAULT_SERVER_LIMITS.failures.perSecond,
    request_timeout: 3600,
    log_level: "info",
    log_format: { words: "text on a terminal" },
    tools: "all",
    structured: false,
  },
  docker: {
    image: "python:3.11-slim",
    cpus: none,
    memory: { words: "enough for the limits of a session" },
    pids: { words: "enough for the limits of a session" },
    network: "none",
    runtime: { words: "the engine's default" },
    pull: "missing",
    host: { words: "that of the docker command" },
  },
  wasm: { wheels: none },
  network: { allow: none },
};

/** Settings in bytes. */
export const SIZES: ReadonlySet<string> = new Set([
  ..."memory disk total_memory kept_output readable_output total_output".split(" ").map((key) => `limits.${key}`),
  "server.context",
  "docker.memory",
]);
