// The configuration of a command. Settings that do not count are reported once, on stderr.

import { loadConfig, type Config, type Flags, type IgnoredSettings } from "../../config/config.ts";
import { currentFolder } from "../../util/system/current-folder.ts";
import { omitUndefined } from "../../util/omit-undefined.ts";
import { printError } from "../io/print-error.ts";

interface ReadOptions {
  readonly flags?: Flags;
  /** --config. */
  readonly path?: string | undefined;
  /** The command reads no keys: an `.env` that is not ours must not stop it. */
  readonly isDotEnvOptional?: true;
  /** Only errors are printed. */
  readonly quiet?: true | undefined;
}

const MAX_NAMES = 4;

/** Throws a ConfigurationError that names the file, the line and the key, or the variable. */
export function readConfig({ flags = {}, path, isDotEnvOptional, quiet }: ReadOptions = {}): Config {
  const env = process.env;
  const config = loadConfig({ cwd: currentFolder(), env, flags, ...omitUndefined({ path, isDotEnvOptional }) });
  if (config.ignored !== null && quiet !== true) printError(describeIgnored(config.ignored));
  return config;
}

/** What does not count, and the command that changes that. */
function describeIgnored({ path, names, trust }: IgnoredSettings): string {
  const more = names.length > MAX_NAMES ? ` and ${names.length - MAX_NAMES} more` : "";
  const why = trust === "new" ? "the file is not trusted" : "the file has changed since it was trusted";
  const them = names.length === 1 ? "it" : "them";
  return `ignored ${names.slice(0, MAX_NAMES).join(", ")}${more} of ${path}: ${why}. 'rlm config trust' shows ${them} and trusts the file`;
}
