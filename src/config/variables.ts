// Environment variables for the keys of [rlm]: RLM_ and the name of the key.

import { ConfigurationError } from "../errors.ts";
import { omitUndefined } from "../util/omit-undefined.ts";
import { parseJSON } from "../util/parse-json.ts";
import { parseModuleList } from "../util/python-name.ts";
import { toProblems } from "../util/toml/problems.ts";
import { isGuarded } from "./guarded-settings.ts";
import { rlmSchema, type RLMKey, type RLMTable, type SessionsTable } from "./schema.ts";

type Environment = Readonly<Record<string, string | undefined>>;

const KEYS = Object.keys(rlmSchema.shape) as RLMKey[];
const TRUE: readonly string[] = ["1", "true", "yes", "on"];
const FALSE: readonly string[] = ["0", "false", "no", "off"];
const TEXTS: readonly string[] =
  "model sub_model child_model extract_model reasoning_effort backend base_url environment mode on_limit strategy system_prompt".split(
    " ",
  );

/** Other settings that the environment may make. Those of `.env` do not count: a project could choose what runs on this machine. */
const SESSION_VARIABLES = { python: "RLM_PYTHON", preload: "RLM_PRELOAD", users: "RLM_SANDBOX_USERS" } as const;

/** The settings of [sessions] that the environment makes. An empty variable counts as unset. */
export function readSessionVariables(env: Environment): Pick<SessionsTable, keyof typeof SESSION_VARIABLES> {
  const { python, preload, users } = SESSION_VARIABLES;
  return omitUndefined({
    python: env[python] || undefined,
    preload: parseModuleList(env[preload]),
    users: env[users] || undefined,
  });
}

/** The variable of a key. */
export function variableOf([section, key = ""]: readonly string[]): string {
  return section === "sessions" ? SESSION_VARIABLES[key as keyof typeof SESSION_VARIABLES] : toVariable(key as RLMKey);
}

function toVariable(key: RLMKey): string {
  return `RLM_${key.toUpperCase()}`;
}

/** An empty variable counts as unset. Without trust, what needs it counts as unset, too. */
export function readVariables(env: Environment, isTrusted: boolean): RLMTable {
  const found: Record<string, unknown> = {};
  for (const key of KEYS) {
    if (!isTrusted && isGuarded(["rlm", key])) continue;
    const text = env[toVariable(key)]?.trim();
    if (text) found[key] = readVariable(key, text);
  }
  return found;
}

function readVariable(key: RLMKey, text: string): unknown {
  const data = { [key]: toValue(key, text) };
  const parsed = rlmSchema.safeParse(data);
  if (parsed.success) return parsed.data[key];
  const [problem] = toProblems(parsed.error, rlmSchema, data);
  const why = problem?.why
    .replace(`'${key}'`, "it")
    .replace(" in quotes", "")
    .replace(/must be a table.*/, 'must be a JSON object, such as {"top_k": 20}');
  throw new ConfigurationError({ source: toVariable(key), line: null, why: why ?? "it has the wrong form" });
}

function toValue(key: RLMKey, text: string): unknown {
  if (TEXTS.includes(key)) return text;
  if (key === "cache") return TRUE.includes(text.toLowerCase()) || (FALSE.includes(text.toLowerCase()) ? false : text);
  if (key === "extra_body") return parseJSON(text) ?? text;
  return /^-?\d+(\.\d+)?$|^-?\.\d+$/.test(text) ? Number(text) : text;
}
