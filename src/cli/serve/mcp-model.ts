// The model for runs on a server: the configured one, if its key and address are available when the server starts.
//
// A client starts the server in whatever folder is open, and nobody sees what it prints. So a project's configuration is
// trusted less than in `rlm run`: it may choose the model, but not the address that the context is sent to.

import { backendVariables, chooseBackend, untrustedAddress } from "../../config/choose-backend.ts";
import { backendsOfRoles, chooseModels } from "../../config/choose-models.ts";
import type { Config } from "../../config/config.ts";
import { ConfigurationError, RLMError } from "../../errors.ts";
import { checkBackend } from "../../backends/open-backend.ts";
import type { RLMOptions } from "../../rlm/rlm.ts";
import { readStrategy } from "../../rlm/strategy/read-strategy.ts";
import { printError } from "../io/print-error.ts";
import { toRLMOptions } from "../run/rlm-options.ts";

export interface NoModel {
  readonly whyNot: string;
}

const NO_MODEL = "none is configured: set RLM_MODEL and the key of its provider, or write rlm.toml";

const WITHOUT = "there is no rlm_query";

/** `without` says what is missing without a model. Does not throw for a model that cannot be used: the server also works without. */
export function findModel(config: Config, without = WITHOUT): RLMOptions | NoModel {
  const { model } = config.rlm;
  if (model === undefined) return { whyNot: NO_MODEL };
  try {
    return choose(config, model);
  } catch (error) {
    if (error instanceof RLMError) return refuseModel(error.message, without);
    throw error;
  }
}

function choose(config: Config, model: string): RLMOptions {
  const models = chooseModels(config, (backend) => checkAddress(config, backend));
  Object.assign(process.env, backendVariables(config));
  for (const name of backendsOfRoles(config)) {
    const { type, ...options } = chooseBackend(config, name);
    checkBackend(type, { name, ...options });
  }
  for (const { strategy } of [config.rlm, ...Object.values(config.models)])
    if (strategy !== undefined) readStrategy(strategy); // to refuse it now
  return { ...toRLMOptions(config), ...models, model, onLimit: "partial" };
}

function checkAddress(config: Config, backend: string): void {
  const address = untrustedAddress(config, backend);
  if (address === undefined) return;
  const { host } = new URL(address.url);
  const why = `only it says that ${host} is to be asked. If that is right, set RLM_BASE_URL for the server, or trust the file with 'rlm config trust'`;
  throw new ConfigurationError({ source: address.path, line: null, why });
}

/** The user should know why a configured model is not used. */
export function refuseModel(why: string, without = WITHOUT): NoModel {
  printError(`${without}: ${why}`);
  return { whyNot: why };
}
