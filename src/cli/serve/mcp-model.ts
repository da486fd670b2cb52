// Which model the servers ask: the one that is configured, where all that it takes is there when the server starts.
//
// A client starts the server in whatever folder is open, and nobody sees what it prints. So what a folder says counts for less than it
// does in `rlm run`: it may choose the model, and cannot choose the address that material is sent to.

import { addressOfFolder, backendVariables, chooseBackend } from "../../config/choose-backend.ts";
import { loadConfig, type Config } from "../../config/config.ts";
import { RLMError } from "../../errors.ts";
import { checkBackend } from "../../backends/open-backend.ts";
import type { RLMOptions } from "../../rlm/rlm.ts";
import { omitUndefined } from "../../util/omit-undefined.ts";
import { printError } from "../io/print-error.ts";
import { toRLMOptions } from "../run/rlm-options.ts";

interface NoModel {
  readonly whyNot: string;
}

const NO_MODEL = "none is configured: set RLM_MODEL and the key of its provider, or write rlm.toml";

/** `without`: what there is not then. `path`: of the configuration, in place of the one that would be found. Never throws because of what is configured: without a model there is a server all the same. */
export function findModel(without = "there is no rlm_query", path?: string): RLMOptions | NoModel {
  try {
    const config = loadConfig({ cwd: process.cwd(), env: process.env, ...omitUndefined({ path }) });
    const { model } = config.rlm;
    return model === undefined ? { whyNot: NO_MODEL } : choose(config, model, without);
  } catch (error) {
    if (error instanceof RLMError) return refuse(error.message, without);
    throw error;
  }
}

function choose(config: Config, model: string, without: string): RLMOptions | NoModel {
  const backend = chooseBackend(config);
  const address = addressOfFolder(config);
  if (address !== undefined) {
    return refuse(
      `only ${config.path ?? ".env"} says that ${new URL(address).host} is to be asked. If that is right, set RLM_BASE_URL for the server`,
      without,
    );
  }
  Object.assign(process.env, backendVariables(config));
  checkBackend(backend.backend, backend);
  return { ...toRLMOptions(config), ...backend, model, onLimit: "partial" };
}

/** Whoever configured something has a right to know why it does not work. */
function refuse(why: string, without: string): NoModel {
  printError(`${without}: ${why}`);
  return { whyNot: why };
}
