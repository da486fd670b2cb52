// Loads the configuration of a folder that a test made.

import { chooseBackend, type ChosenBackend } from "../../src/config/choose-backend.ts";
import { backendOf } from "../../src/config/choose-models.ts";
import { loadConfig, type Config, type Flags } from "../../src/config/config.ts";
import { Folder } from "./folder.ts";

export interface Inputs {
  readonly env?: Readonly<Record<string, string>>;
  readonly flags?: Flags;
  readonly cwd?: string;
}

/** The folder is the home directory, and `project` in it the current one by default. */
export function load(folder: Folder, { env = {}, flags = {}, cwd = "project" }: Inputs = {}): Config {
  return loadConfig({ cwd: folder.at(cwd), env: { HOME: folder.path, ...env }, flags });
}

/** With this text as the project's rlm.toml. */
export function loadText(toml: string, inputs?: Inputs): Config {
  using folder = new Folder({ "project/rlm.toml": toml });
  return load(folder, inputs);
}

/** The backend of the root's model. */
export function chooseOf(config: Config): ChosenBackend {
  return chooseBackend(config, backendOf(config, config.rlm.model ?? "gpt-5"));
}
