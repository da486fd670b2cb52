// Checks of every request, in this order, before its body is read.
//
// Host: only names of this server are accepted, because a page of another site can make a browser send requests under its own name (DNS
// rebinding). Origin: only the server's own pages and configured ones may send requests. Token: required except on open routes.

import { hash, timingSafeEqual } from "node:crypto";
import type { Problem } from "../problem.ts";

/** Undefined: allowed. `allowed`: host names beside those of loopback. `origins`: beside the server's own. */
export function checkNames(
  host: string | undefined,
  origin: string | undefined,
  allowed: readonly string[],
  origins: readonly string[] = [],
): Problem | undefined {
  if (host === undefined) return { status: 400, code: "MALFORMED", detail: "Every request needs a Host header" };
  const name = toHostName(host);
  if (name === undefined || !(isLoopback(name) || allowed.some((other) => other.toLowerCase() === name))) {
    return forbidden("HOST_NOT_ALLOWED", `The host '${host.slice(0, 100)}' is not one this server answers to`);
  }
  if (origin !== undefined && !isSameOrigin(origin, host) && !origins.includes(origin)) {
    return forbidden("ORIGIN_NOT_ALLOWED", `Pages of '${origin.slice(0, 100)}' may not use this server`);
  }
  return undefined;
}

/** Undefined: the header carries the token. Compares in constant time. `expected`: the digest of the token. */
export function checkToken(authorization: string | undefined, expected: Buffer): Problem | undefined {
  const sent = /^Bearer +(?<token>\S+) *$/i.exec(authorization ?? "")?.groups?.["token"];
  if (sent !== undefined && timingSafeEqual(digest(sent), expected)) return undefined;
  const headers = { "www-authenticate": 'Bearer realm="rlm"' };
  const detail =
    sent === undefined ? "Send the header 'Authorization: Bearer TOKEN'" : "The token is not the right one";
  return { status: 401, code: "UNAUTHORIZED", detail, headers };
}

/** Whether the address or name can only mean this machine. */
export function isLoopback(name: string): boolean {
  return name === "localhost" || name === "::1" || /^127(?:\.\d{1,3}){3}$/.test(name);
}

/** In lower case, without port and brackets. Undefined: it is malformed. */
function toHostName(host: string | undefined): string | undefined {
  const match = /^(?:\[(?<address>[\da-f:.]+)\]|(?<name>[\w.-]+))(?::\d{1,5})?$/i.exec(host ?? "");
  return (match?.groups?.["address"] ?? match?.groups?.["name"])?.toLowerCase();
}

function isSameOrigin(origin: string, host: string | undefined): boolean {
  const lower = origin.toLowerCase();
  return lower === `http://${host?.toLowerCase()}` || lower === `https://${host?.toLowerCase()}`;
}

function forbidden(code: string, detail: string): Problem {
  return { status: 403, code, detail };
}

/** Digests have the same length, whatever the tokens are. */
export function digest(text: string): Buffer {
  return hash("sha256", text, "buffer");
}
