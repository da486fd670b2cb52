// Who may ask. Checked for every request, in this order, before anything of it is read.
//
// Host: a page of another site can make a browser send requests here under a name of its own (DNS rebinding), so only
// names that can mean this server are answered. Origin: a browser says where a script comes from, and only our own
// pages may ask. Token: without it nothing is answered but whether the server lives.

import { hash, timingSafeEqual } from "node:crypto";
import type { Problem } from "../problem.ts";

/** Undefined when the names are in order. `allowed`: names beside those of loopback. `origins`: beside this server's own. */
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

/** Undefined when the header carries the token. Takes the same time wherever two tokens differ. `expected`: its digest. */
export function checkToken(authorization: string | undefined, expected: Buffer): Problem | undefined {
  const given = /^Bearer +(?<token>\S+) *$/i.exec(authorization ?? "")?.groups?.["token"];
  if (given !== undefined && timingSafeEqual(digest(given), expected)) return undefined;
  const headers = { "www-authenticate": 'Bearer realm="rlm"' };
  const detail =
    given === undefined ? "Send the header 'Authorization: Bearer TOKEN'" : "The token is not the right one";
  return { status: 401, code: "UNAUTHORIZED", detail, headers };
}

/** An address or name that only this machine can mean. */
export function isLoopback(name: string): boolean {
  return name === "localhost" || name === "::1" || /^127(?:\.\d{1,3}){3}$/.test(name);
}

/** The name in a Host header, lower case, without port and brackets; undefined where it makes no sense. */
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

/** Of a token: all are of one length, whatever the tokens are. */
export function digest(text: string): Buffer {
  return hash("sha256", text, "buffer");
}
