// The rlm.toml that `rlm init` writes: every key of [rlm] with its default, commented out, and examples of the other sections.

import { DEFAULTS } from "./settings.ts";

const { environment, mode, maxDepth, maxIterations, callBudget, timeoutMs, maxConcurrency, onLimit } = DEFAULTS;

/** Everything is commented out, so all defaults apply. Lines that begin with `# ` can be uncommented, `## ` is text. */
export const TEMPLATE = `# Configuration of RLM Runtime: flags and environment variables (RLM_MODEL, RLM_MAX_DEPTH, ...) win over this file,
# and this file wins over ~/.config/rlm/config.toml. 'rlm config show' shows every value and where it comes from.
# Keys of providers do not belong here: set OPENAI_API_KEY or ANTHROPIC_API_KEY, or put them into .env beside this file.

[rlm]
## The model that answers, and the one for llm_query (default: the same): a name of the provider, backend/name, or a
## name from [models.NAME].
# model = "gpt-5-mini"
# sub_model = "gpt-5-nano"
## The model of nodes below the root, and the one that gives the best answer at a limit. Default: the same.
# child_model = "gpt-5-mini"
# extract_model = "gpt-5-mini"
## For all models that do not say otherwise. Default: the provider's.
# temperature = 0.7
# seed = 1
## How much the models reason, a value of the provider: low, medium, high. Default: the provider's.
# reasoning_effort = "low"
## Limit on each answer. Default: by what the call is for.
# max_tokens = 16000
## Further fields of every request, in the provider's terms. Counts only after 'rlm config trust'.
# extra_body = { top_k = 20 }
## A provider (openai, anthropic, gemini, azure, openrouter, ...), openai-compatible, scripted, or a name from
## [backends.NAME]: for all models. Default: openai-compatible with a base_url, else as the name of each model says.
# backend = "openai"
## The address of the provider.
# base_url = "http://localhost:8000/v1"
## Where code runs: local, docker, wasm.
# environment = ${JSON.stringify(environment)}
## auto: small contexts go directly to the model. rlm, direct: always the one or the other.
# mode = ${JSON.stringify(mode)}
## How deep rlm_query may nest; 0: no nodes below the root.
# max_depth = ${maxDepth}
## Blocks of code per node.
# max_iterations = ${maxIterations}
## Model calls and seconds of a whole run; 0 seconds: no limit.
# call_budget = ${callBudget}
# timeout = ${timeoutMs / 1000}
## Tokens, USD and tool calls of a whole run. Default: no limit.
# token_budget = 400000
# cost_budget = 1.00
# tool_budget = 100
## Model calls at once, of all runs together. How many there are adapts to the provider.
# max_concurrency = ${maxConcurrency}
## Answer repeated requests from the cache. Default: true, except for scripted backends.
# cache = true
## At a limit: partial gives the best answer so far, throw fails.
# on_limit = ${JSON.stringify(onLimit)}
## How models are asked: frontier, small, local, or a file. Default: the one that fits the model.
# strategy = "small"
## Replaces the system prompt of the strategy.
# system_prompt = "You are a careful librarian."

## A model under a name of your own. Its settings win over those of [rlm].
# [models.careful]
# backend = "anthropic"
# model = "claude-sonnet-5"
## What it is good for, for the model that writes code.
# description = "slow and thorough"
# temperature = 0
# reasoning_effort = "high"
# max_tokens = 32000
## What is known of it, if we do not know it.
# context_window = 200000
# max_output_tokens = 64000

## A custom backend: "proxy/MODEL" asks it. api_key_env names the variable that holds its key.
# [backends.proxy]
# type = "openai-compatible"
# base_url = "https://llm.example.com/v1"
# api_key_env = "PROXY_API_KEY"

## USD per million tokens, for models without a built-in price.
# [prices."my-model"]
# input = 0.25
# output = 2.00
# cache_read = 0.025

## Sessions with --env docker. All but cpus, memory and pids count only after 'rlm config trust'.
# [docker]
# image = "python:3.11-slim"
# cpus = 1.0
# memory = "2g"
# pids = 256
# network = "none"
## A runtime of the engine. Default: the engine's.
# runtime = "runc"
## missing, always or never.
# pull = "missing"
## The address of the engine. Default: DOCKER_HOST, else that of the docker command.
# host = "unix:///var/run/docker.sock"

## A folder of wheels for sessions with --env wasm. Counts only after 'rlm config trust'.
# [wasm]
# wheels = "wheels"

## Limits of sessions.
# [limits]
# memory = "2g"
# disk = "1g"

## Sessions of exec, repl, run, serve and mcp-serve. python, preload and mounts count only after 'rlm config trust'.
# [sessions]
# python = ".venv"
## Modules that sessions import at no cost.
# preload = ["numpy", "pandas", "polars"]
# mounts = ["data", "results:rw"]
# env = { LANG = "C.UTF-8" }
## Seconds for one piece of code. Default: 55 in serve, no limit in exec and repl.
# timeout = 60
`;
