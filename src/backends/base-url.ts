// The address of a provider: checked, and completed where it is only a host.
//
// A query is kept and sent with every request, such as `?api-version=` of Azure or what a gateway asks for. A key does not belong into
// an address, which is shown in messages and logs.

import { isIPv6 } from "node:net";
import type { Provider } from "./provider-table.ts";

/** Names of parameters whose values are secret. */
const SECRET = /key|token|secret|password|signature|credential|auth|^(sig|code)$/i;
/** What portals show as the address of a model, and what is appended in any case. */
const ENDPOINT = /\/(chat\/completions|responses|messages)$/;

export type Environment = Readonly<Record<string, string | undefined>>;

/** What is wrong with an address. The message does not repeat it, since it may hold a secret. */
export class UnusableAddress extends Error {}

/** Throws UnusableAddress. `text` is empty where no address was given. */
export function parseBaseUrl(text: string, provider: Provider, env: Environment): string {
  if (text === "") {
    const why = "it needs the address of its server. Give --base-url or baseUrl, or set";
    throw new UnusableAddress(`${why} ${provider.urlVariables.at(-1)}`);
  }
  const complete = provider.protocol === "ollama" ? completeOllama(text) : text;
  const url = URL.canParse(complete) ? new URL(complete) : null;
  if (url === null || !["http:", "https:"].includes(url.protocol)) {
    throw new UnusableAddress(
      "the address of its server is not an http or https URL. Give one such as http://localhost:8000",
    );
  }
  const hasSecret = url.username !== "" || url.password !== "" || [...url.searchParams.keys()].some(isSecret);
  if (hasSecret || url.hash !== "") {
    throw new UnusableAddress("the address of its server may not have a user, a password, a key or a fragment");
  }
  url.pathname = url.pathname.replace(/\/+$/, "").replace(ENDPOINT, "");
  if (provider.protocol === "ollama") url.pathname = url.pathname.replace(/\/(v1|api)$/, "");
  if (provider.protocol === "azure") completeAzure(url, provider, env);
  else if (url.pathname === "/") url.pathname = provider.rootPath;
  return `${url.origin}${url.pathname.replace(/\/+$/, "")}${url.search}`;
}

/** The path and the query are appended to those of the base URL. */
export function toURL(baseUrl: string, path: string): URL {
  const url = new URL(baseUrl);
  const [ownPath = "", ownQuery = ""] = path.split("?");
  url.pathname = `${url.pathname.replace(/\/+$/, "")}${ownPath}`;
  for (const [name, value] of new URLSearchParams(ownQuery)) url.searchParams.set(name, value);
  return url;
}

/**
 * Azure has two forms: `/openai/v1`, and one with a dated `api-version`, in which the deployment is part of the path. A version in the
 * address or in OPENAI_API_VERSION chooses the dated one, as in OpenAI's own libraries.
 */
function completeAzure(url: URL, { rootPath }: Provider, env: Environment): void {
  const version = (env["OPENAI_API_VERSION"] ?? "").trim();
  const isRoot = url.pathname === "/" || url.pathname === "/openai";
  if (url.pathname.endsWith("/v1")) return;
  if (!url.searchParams.has("api-version") && version !== "") url.searchParams.set("api-version", version);
  if (url.searchParams.has("api-version")) {
    if (isRoot) url.pathname = "/openai";
    return;
  }
  if (isRoot) url.pathname = rootPath;
  else {
    throw new UnusableAddress(
      "the address of its server needs a version. Append ?api-version=..., or set OPENAI_API_VERSION",
    );
  }
}

/** As Ollama's own variable may have it: `host`, `host:port`, `:port`, or an address to listen at. */
function completeOllama(text: string): string {
  if (text.includes("://")) return text;
  const [, host = "", path = ""] = /^([^/]*)(.*)$/s.exec(text) ?? [];
  const named = isIPv6(host) ? `[${host}]` : host.startsWith(":") ? `127.0.0.1${host}` : host;
  const reachable = named.replace(/^0\.0\.0\.0(?=:|$)/, "127.0.0.1").replace(/^\[::\]/, "[::1]");
  return `http://${/:\d+$/.test(reachable) ? reachable : `${reachable}:11434`}${path}`;
}

function isSecret(name: string): boolean {
  return SECRET.test(name);
}
