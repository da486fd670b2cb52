// Which server the commands talk to and with which token: RLM_URL and RLM_TOKEN, else the server of this machine.
//
// The token that `rlm serve` stores is for this machine only. Other hosts are sent the token in RLM_TOKEN and no other.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { isLoopback } from "../../server/net/guards/guard.ts";
import { dataPath } from "../../util/data-folder.ts";
import { UsageError } from "../options/usage-error.ts";

export interface FoundServer {
  /** Without a trailing slash. */
  readonly url: string;
  readonly token: string;
  /** Where the two came from, for messages. */
  readonly urlFrom: string;
  readonly tokenFrom: string;
  /** The token travels unencrypted to another machine. */
  readonly isExposed: boolean;
}

const DEFAULT_URL = "http://127.0.0.1:8000";
const VISIBLE = /^[\x21-\x7E]+$/;

/** `given` is an address of the command line, which takes precedence. Throws a UsageError. */
export function findServer(
  env: Readonly<Record<string, string | undefined>> = process.env,
  given?: string,
): FoundServer {
  const variable = env["RLM_URL"] || undefined;
  const urlFrom = given !== undefined ? "--server" : variable !== undefined ? "RLM_URL" : "the default";
  const url = parseURL(given ?? variable ?? DEFAULT_URL, urlFrom);
  const isLocal = isLoopback(url.hostname.replaceAll(/[[\]]/g, ""));
  const base = {
    url: (url.origin + url.pathname).replace(/\/+$/, ""),
    urlFrom,
    isExposed: !isLocal && url.protocol === "http:",
  };
  const ownToken = env["RLM_TOKEN"];
  if (ownToken) {
    if (!VISIBLE.test(ownToken)) throw new UsageError("RLM_TOKEN must be visible ASCII characters without spaces");
    return { ...base, token: ownToken, tokenFrom: "RLM_TOKEN" };
  }
  if (!isLocal) throw new UsageError(`set RLM_TOKEN to the token of ${url.host}: the stored one is for this machine`);
  const path = join(dataPath("server"), "token");
  return { ...base, token: readStoredToken(path, base.url), tokenFrom: `'${path}'` };
}

function parseURL(text: string, from: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol) || url.search + url.hash !== "") {
    throw new UsageError(`${from} must be an address such as ${DEFAULT_URL}, and is '${withoutPassword(text)}'`);
  }
  if (url.username + url.password !== "") throw new UsageError(`${from} must not hold a password: set RLM_TOKEN`);
  return url;
}

function withoutPassword(text: string): string {
  return text.replace(/\/\/[^@/]*@/, "//…@");
}

function readStoredToken(path: string, url: string): string {
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
