// Which server the commands talk to and with which token: RLM_URL and RLM_TOKEN, else the server that runs on this machine.
//
// The token that `rlm serve` stores is for this machine only, and for servers of this user. Other hosts are sent the token in RLM_TOKEN and
// no other.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { isLoopback } from "../../server/net/guards/guard.ts";
import { dataPath } from "../../util/data-folder.ts";
import { UsageError } from "../options/usage-error.ts";
import { usersListeningOn } from "./port-owner.ts";
import { runningServers, type RunningServer } from "./running-servers.ts";

export interface FoundServer {
  /** Without a trailing slash. */
  readonly url: string;
  readonly token: string;
  /** Where the two came from, for messages. */
  readonly urlFrom: string;
  readonly tokenFrom: string;
  /** The token travels unencrypted to another machine. */
  readonly isExposed: boolean;
  /** Must be a server of this user: call `checkOwner` before the token is sent. */
  readonly mustBeOwn: boolean;
  /** Further servers that run on this machine, where none was named. */
  readonly others: readonly string[];
}

interface Named {
  readonly text: string;
  readonly from: string;
  readonly running?: RunningServer;
  readonly others: readonly string[];
}

const EXAMPLE_URL = "http://127.0.0.1:8000";
const VISIBLE = /^[\x21-\x7E]+$/;
const PORTS: Readonly<Record<string, number>> = { "http:": 80, "https:": 443 };

/** `given` is an address of the command line, which takes precedence. Throws a UsageError, or an Error where no server runs. */
export function findServer(
  env: Readonly<Record<string, string | undefined>> = process.env,
  given?: string,
): FoundServer {
  const { text, from, running, others } = chooseServer(env["RLM_URL"] || undefined, given);
  const url = parseURL(text, from);
  const isOwn = running !== undefined;
  const isLocal = isOwn || isLoopback(url.hostname.replaceAll(/[[\]]/g, ""));
  const base = {
    url: (url.origin + url.pathname).replace(/\/+$/, ""),
    urlFrom: from,
    isExposed: !isLocal && url.protocol === "http:",
    others,
  };
  const ownToken = env["RLM_TOKEN"];
  if (ownToken) {
    if (!VISIBLE.test(ownToken)) throw new UsageError("RLM_TOKEN must be visible ASCII characters without spaces");
    return { ...base, token: ownToken, tokenFrom: "RLM_TOKEN", mustBeOwn: isOwn };
  }
  if (!isLocal) throw new UsageError(`set RLM_TOKEN to the token of ${url.host}: the stored one is for this machine`);
  if (running?.hasStoredToken === false)
    throw new UsageError(`the server at ${base.url} was started with RLM_TOKEN: set RLM_TOKEN to the same token`);
  const path = join(dataPath("server"), "token");
  return { ...base, token: readStoredToken(path, base.url), tokenFrom: `'${path}'`, mustBeOwn: true };
}

/** Throws where no process of this user listens at the address of a server that must be this user's own. */
export function checkOwner(server: FoundServer, listening = usersListeningOn): void {
  const { url, urlFrom } = server;
  if (refuseOtherUser(server, listening)?.length === 0)
    throw new Error(`no server listens at ${url} (the address is from ${urlFrom}). Start one with 'rlm serve'`);
}

/** Throws where another user listens there. Returns who listens; undefined: it is not known, or does not matter. */
export function refuseOtherUser(
  { url, mustBeOwn }: FoundServer,
  listening = usersListeningOn,
): readonly number[] | undefined {
  if (!mustBeOwn) return undefined;
  const { port, protocol } = new URL(url);
  const users = listening(Number(port) || (PORTS[protocol] ?? 0));
  const other = users?.find((user) => user !== process.getuid?.());
  if (other !== undefined)
    throw new UsageError(
      `the port of ${url} is used by another user (id ${other}), who does not get the stored token. If that server is right, set RLM_TOKEN to its token`,
    );
  return users;
}

function chooseServer(variable: string | undefined, given: string | undefined): Named {
  if (given !== undefined) return { text: given, from: "--server", others: [] };
  if (variable !== undefined) return { text: variable, from: "RLM_URL", others: [] };
  const [newest, ...older] = runningServers();
  if (newest === undefined)
    throw new Error(
      "no server runs on this machine. Start one with 'rlm serve', or set RLM_URL to the address of another",
    );
  const from = "the server that runs on this machine";
  return { text: newest.url, from, running: newest, others: older.map(({ url }) => url) };
}

function parseURL(text: string, from: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol) || url.search + url.hash !== "") {
    throw new UsageError(`${from} must be an address such as ${EXAMPLE_URL}, and is '${withoutPassword(text)}'`);
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
