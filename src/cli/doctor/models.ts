// Checks the configured model, the backends and their keys.
//
// Keys are never shown, not even in part. Only servers on this machine are contacted.

import { backendName, backendVariables, chooseBackend, keyVariable } from "../../config/choose-backend.ts";
import type { Config } from "../../config/config.ts";
import { RLMError } from "../../errors.ts";
import { toURL } from "../../backends/base-url.ts";
import { baseUrlOf, checkBackend } from "../../backends/open-backend.ts";
import { isLoopback } from "../../server/net/guards/guard.ts";
import { ok, warn, type Finding } from "./finding.ts";
import { probe } from "./probe.ts";

/** The model, its backend, and every other backend that has a section. */
export async function* checkModels(config: Config): AsyncGenerator<Finding, void, undefined> {
  const { rlm, backends } = config;
  const own = rlm.model === undefined ? undefined : backendName(config);
  yield model(config, own);
  if (own !== undefined) yield await checkConfigured(own, config);
  const { baseUrl: _ofTheModel, ...others } = rlm;
  for (const name of Object.keys(backends)) {
    if (name !== own) yield await checkConfigured(name, { ...config, rlm: { ...others, backend: name } });
  }
}

function model({ rlm }: Config, backend: string | undefined): Finding {
  if (backend === undefined) {
    return ok(
      "model",
      "none is configured, and only recursive runs need one: set RLM_MODEL and the key of its provider",
    );
  }
  const subModel = rlm.subModel === undefined ? "" : `, and ${rlm.subModel} for llm_query`;
  return ok("model", `${rlm.model}${subModel}, asked of ${backend}`);
}

async function checkConfigured(name: string, config: Config): Promise<Finding> {
  const check = "backend";
  try {
    const chosen = chooseBackend(config);
    const options = { ...chosen, env: { ...process.env, ...backendVariables(config) } };
    checkBackend(chosen.backend, options);
    if (chosen.backend === "scripted") return ok(check, `${name}: scripts in files, without a key`);
    const url = new URL(baseUrlOf(chosen.backend, options));
    const found = `${name} at ${url.host}, ${key(config, options.env)}`;
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
function key(config: Config, env: Readonly<Record<string, string | undefined>>): string {
  const variable = keyVariable(config);
  if (variable === undefined || !(config.env[variable] ?? env[variable])) return "without a key";
  return `its key is in ${variable}${config.dotEnvs.some(({ values }) => variable in values) ? " of .env" : ""}`;
}
