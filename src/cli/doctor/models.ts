// Checks the configured model, the backends and their keys.
//
// Keys are never shown, not even in part. Only servers on this machine are contacted.

import { backendVariables, chooseBackend, keyVariable } from "../../config/choose-backend.ts";
import { backendOf, backendsOfRoles } from "../../config/choose-models.ts";
import type { Config } from "../../config/config.ts";
import { RLMError } from "../../errors.ts";
import { toURL } from "../../backends/base-url.ts";
import { baseUrlOf, checkBackend } from "../../backends/open-backend.ts";
import { isLoopback } from "../../server/net/guards/guard.ts";
import { ok, warn, type Finding } from "./finding.ts";
import { probe } from "./probe.ts";

/** The models of the roles, their backends, and every other backend that is configured. */
export async function* checkModels(config: Config): AsyncGenerator<Finding, void, undefined> {
  yield models(config);
  const defined = Object.keys(config.models).map((name) => backendOf(config, name));
  const backends = new Set([...backendsOfRoles(config), ...defined, ...Object.keys(config.backends)]);
  for (const name of backends) yield await checkConfigured(name, config);
}

function models(config: Config): Finding {
  const { model, subModel, childModel, extractModel } = config.rlm;
  if (model === undefined) {
    return ok(
      "model",
      "none is configured, and only recursive runs need one: set RLM_MODEL and the key of its provider",
    );
  }
  const own = backendOf(config, model);
  const describe = (name: string, role: string): string => {
    const backend = backendOf(config, name);
    return `${name} for ${role}${backend === own ? "" : ` (of ${backend})`}`;
  };
  const others = [
    ...(subModel === undefined ? [] : [describe(subModel, "llm_query")]),
    ...(childModel === undefined ? [] : [describe(childModel, "nodes below")]),
    ...(extractModel === undefined ? [] : [describe(extractModel, "the last answer")]),
  ];
  return ok("model", `${[model, ...others].join(", and ")}, asked of ${own}`);
}

async function checkConfigured(name: string, config: Config): Promise<Finding> {
  const check = "backend";
  try {
    const { type, ...chosen } = chooseBackend(config, name);
    const options = { name, ...chosen, env: { ...process.env, ...backendVariables(config) } };
    checkBackend(type, options);
    if (type === "scripted") return ok(check, `${name}: scripts in files, without a key`);
    const url = new URL(baseUrlOf(type, options));
    const found = `${name} at ${url.host}, ${key(name, config, options.env)}`;
    if (!isLoopback(url.hostname.replaceAll(/[[\]]/g, ""))) return ok(check, found);
    if ((await probe(toURL(url.href, "/models").href)) !== undefined) return ok(check, `${found}, answers`);
    const fix = "Start its server, or name another with RLM_BASE_URL or base_url";
    return warn(check, `${name} at ${url.host} does not answer`, fix);
  } catch (error) {
    if (!(error instanceof RLMError)) throw error;
    // A configuration error says what is wrong and, after a full stop, what to do.
    const [, found = error.message, fix = "Correct it there"] = /^(.*?)\. ([A-Z].*)$/s.exec(error.message) ?? [];
    return warn(check, found, fix);
  }
}

/** Where the key comes from; checkBackend() has checked whether one is needed. */
function key(name: string, config: Config, env: Readonly<Record<string, string | undefined>>): string {
  const variable = keyVariable(config, name);
  if (variable === undefined || !(config.env[variable] ?? env[variable])) return "without a key";
  return `its key is in ${variable}${config.dotEnvs.some(({ values }) => variable in values) ? " of .env" : ""}`;
}
