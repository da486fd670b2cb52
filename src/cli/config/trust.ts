// `rlm config trust` and `rlm config untrust`: whether everything in a project's file counts.

import { existsSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { createInterface } from "node:readline/promises";
import { findProjectFile, readConfigFile, type LoadedFile } from "../../config/config-file.ts";
import { addressesIn, guardedPaths } from "../../config/guarded-settings.ts";
import { toKeyName } from "../../util/toml/key-name.ts";
import { lineOf } from "../../util/toml/line-of.ts";
import { resolvePaths } from "../../config/settings.ts";
import { trust, trustOf, untrust } from "../../config/trust.ts";
import { currentFolder } from "../../util/system/current-folder.ts";
import { homeFolder } from "../../util/home-folder.ts";
import { EXIT } from "../exit-code.ts";
import { UsageError } from "../options/usage-error.ts";

export interface TrustArguments {
  readonly yes?: true;
}

type Table = Readonly<Record<string, unknown>>;

/** What a setting does once it counts, by its name or that of its section. */
const EFFECTS: Readonly<Record<string, string>> = {
  "sessions.python": "the program that starts sessions, outside the sandbox",
  "sessions.preload": "modules that are imported once, outside the sandbox",
  "sessions.users": "the users of this machine that sessions run as",
  "sessions.mounts": "folders that code in sessions sees; it can change those with :rw",
  "server.host": "the address that 'rlm serve' listens on",
  "server.allow_hosts": "host names under which clients may reach 'rlm serve'",
  "server.allow_origins": "sites whose pages may send requests to 'rlm serve'",
  network: "hosts that code in sessions may reach",
  mcp_servers: "a server that runs use: a program that is started on this machine, or an address",
  base_url: "an address that gets your questions, and your key",
  extra_body: "fields of every request to a model; some name tools of the provider that reach other servers",
  api_key_env: "the variable of your environment that is sent as the key",
};

/** The exit code is 0 if the file is trusted afterwards, else 1. */
export async function trustConfig(name: string | undefined, { yes }: TrustArguments): Promise<number> {
  const file = readConfigFile(findFile(name));
  const path = escape(file.path);
  const lines = describeEffects(file);
  if (lines.length === 0) return say(`Nothing in ${path} needs trust: all of it counts already.`);
  const state = trustOf(file);
  if (state === "trusted") return say(`${path} is trusted already. These settings count:\n${lines.join("\n")}`);
  const why = state === "changed" ? " It has changed since you trusted it." : "";
  say(`${path} is not trusted.${why} These settings would begin to count:\n${lines.join("\n")}`);
  if (yes !== true && !(await isAgreed())) {
    say("Not trusted: these settings stay ignored.");
    return EXIT.error;
  }
  trust(file); // by the digest of what was shown
  return say("Trusted until the file changes. 'rlm config untrust' takes it back.");
}

export function untrustConfig(name: string | undefined): number {
  const path = findFile(name);
  const wasTrusted = untrust(path);
  return say(`${escape(path)} ${wasTrusted ? "is not trusted any more" : "was not trusted"}.`);
}

function say(text: string): number {
  process.stdout.write(`${text}\n`);
  return EXIT.ok;
}

/** Without a terminal nobody can answer, and nothing is trusted unasked. */
async function isAgreed(): Promise<boolean> {
  if (!process.stdin.isTTY)
    throw new UsageError("not trusted: there is no terminal to ask on. Add --yes if it is right");
  const terminal = createInterface({ input: process.stdin, output: process.stdout });
  try {
    const answer = await new Promise<string>((resolveAnswer) => {
      terminal.once("close", () => resolveAnswer("")); // Ctrl-C and Ctrl-D
      void terminal.question("Trust it? [y/N] ").then(resolveAnswer);
    });
    return /^y(es)?$/i.test(answer.trim());
  } finally {
    terminal.close();
  }
}

function findFile(name: string | undefined): string {
  const cwd = currentFolder();
  if (name !== undefined) {
    const path = resolve(cwd, name);
    if (!existsSync(path)) throw new UsageError(`cannot find ${path}: there is no such file`);
    return path;
  }
  const found = findProjectFile({ cwd, home: process.env["HOME"] || homeFolder(), env: process.env });
  if (found !== undefined) return found;
  throw new UsageError(`there is no rlm.toml in ${cwd} or above. 'rlm init' writes one`);
}

/** Two lines for each setting: what it does, and its value. */
function describeEffects({ path, text, data }: LoadedFile): readonly string[] {
  const { sessions } = data;
  const resolved = sessions === undefined ? data : { ...data, sessions: resolvePaths(sessions, dirname(path)) };
  return [...guardedPaths(data), ...addressesIn(data)].map((key) => {
    const value = JSON.stringify(valueAt(resolved, key)); // whole: what is hidden cannot be judged
    const line = lineOf(text, key);
    const name = toKeyName(key);
    const effect = EFFECTS[name] ?? EFFECTS[key.at(-1) ?? ""] ?? EFFECTS[key[0] ?? ""] ?? "";
    return escape(`  ${line === null ? "" : `line ${line}: `}${name} = ${value}`) + `\n      ${effect}`;
  });
}

function valueAt(data: object, path: readonly string[]): unknown {
  return path.reduce<unknown>((value, key) => (value as Table)[key], data);
}

/** Characters that a terminal does not show, or that change the order of others, as escapes of JSON. */
function escape(text: string): string {
  return text.replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, (character) =>
    character
      .split("")
      .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`)
      .join(""),
  );
}
