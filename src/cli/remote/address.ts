// Which server the commands talk to, and the token for it: RLM_URL and RLM_TOKEN, or the server of this machine.
//
// The token that `rlm serve` keeps is for this machine alone: another host is only ever sent the one in RLM_TOKEN.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { isLoopback } from "../../server/net/guards/guard.ts";
import { dataPath } from "../../util/data-folder.ts";
import { UsageError } from "../options/usage-error.ts";

export interface ServerAddress {
  /** Without a slash at its end. */
  readonly url: string;
  readonly token: string;
  /** Where the token came from, for people. */
  readonly tokenFrom: string;
  /** The token can be read on its way. */
  readonly isExposed: boolean;
}

const DEFAULT_URL = "http://127.0.0.1:8000";
const VISIBLE = /^[\x21-\x7E]+$/;

/** Throws a UsageError. */
export function findServer(env: Readonly<Record<string, string | undefined>> = process.env): ServerAddress {
  const url = parseURL(env["RLM_URL"] || DEFAULT_URL);
  const isOurs = isLoopback(url.hostname.replaceAll(/[[\]]/g, ""));
  const base = { url: (url.origin + url.pathname).replace(/\/+$/, ""), isExposed: !isOurs && url.protocol === "http:" };
  const given = env["RLM_TOKEN"];
  if (given) {
    if (!VISIBLE.test(given)) throw new UsageError("RLM_TOKEN must be visible ASCII characters without spaces");
    return { ...base, token: given, tokenFrom: "RLM_TOKEN" };
  }
  if (!isOurs)
    throw new UsageError(`set RLM_TOKEN to the token of ${url.host}: the one that is kept is for this machine`);
  const path = join(dataPath("server"), "token");
  return { ...base, token: readKept(path, base.url), tokenFrom: `'${path}'` };
}

function parseURL(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol) || url.search + url.hash !== "") {
    throw new UsageError(`RLM_URL must be an address such as ${DEFAULT_URL}, and is '${withoutPassword(text)}'`);
  }
  if (url.username + url.password !== "") throw new UsageError("RLM_URL must not hold a password: set RLM_TOKEN");
  return url;
}

function withoutPassword(text: string): string {
  return text.replace(/\/\/[^@/]*@/, "//…@");
}

function readKept(path: string, url: string): string {
  let token = "";
  try {
    token = readFileSync(path, "utf8").trim();
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code !== "ENOENT") throw new UsageError(`cannot read the token: ${message}`);
  }
  if (VISIBLE.test(token)) return token;
  throw new UsageError(
    `there is no token for ${url}: 'rlm serve' makes one in '${path}' when it first starts; or set RLM_TOKEN`,
  );
}
