// Strategies that users bring: a file, or a value in the SDK. Both are checked key by key.

import { extname } from "node:path";
import { ConfigurationError } from "../../errors.ts";
import { STRATEGY_NAMES, strategyChanges, type StrategyChanges } from "../../protocol/strategy/strategy.ts";
import { didYouMean } from "../../util/text/did-you-mean.ts";
import { toConfigurationError } from "../../util/toml/configuration-error.ts";
import { parseTOML } from "../../util/toml/parse-toml.ts";
import { toProblems } from "../../util/toml/problems.ts";
import { readSmallFile } from "../../util/toml/read-small-file.ts";
import { isStrategyName } from "./strategies.ts";

/**
 * By the name of a shipped strategy or the path of a TOML or JSON file. Throws a TypeError for what is neither, and a
 * ConfigurationError that names the line and the key.
 */
export function readStrategy(nameOrPath: string): StrategyChanges {
  if (isStrategyName(nameOrPath)) return { extends: nameOrPath };
  const extension = extname(nameOrPath).toLowerCase();
  if (extension === ".toml" || extension === ".json") return readFile(nameOrPath, extension === ".json");
  const near = didYouMean(nameOrPath, STRATEGY_NAMES);
  const hint = near === undefined ? `the shipped ones are ${STRATEGY_NAMES.join(", ")}` : `did you mean '${near}'?`;
  throw new TypeError(
    `Cannot use the strategy '${nameOrPath}': it is neither shipped nor a .toml or .json file; ${hint}`,
  );
}

/** Throws a TypeError that names the key. */
export function checkStrategy(value: unknown): StrategyChanges {
  const parsed = strategyChanges.safeParse(value);
  if (parsed.success) return parsed.data;
  const [problem] = toProblems(parsed.error, strategyChanges, value);
  throw new TypeError(`Cannot use the strategy: ${problem?.why ?? "it does not have the right form"}`);
}

function readFile(path: string, isJSON: boolean): StrategyChanges {
  const text = readSmallFile(path, { isPlain: true }).toString("utf8");
  const data = isJSON ? parseJSON(path, text) : parseTOML(path, text);
  const parsed = strategyChanges.safeParse(data);
  if (parsed.success) return parsed.data;
  throw toConfigurationError(parsed.error, { path, text: isJSON ? "" : text, data, schema: strategyChanges });
}

function parseJSON(path: string, text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    throw new ConfigurationError({ source: path, line: null, why: "it is not JSON" });
  }
}
