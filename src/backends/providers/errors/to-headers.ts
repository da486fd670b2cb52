// Headers, as objects of unknown origin have them.

import { toFields } from "../protocols/wire-protocol.ts";

/** The headers of a response, whatever an object shows as such, with lower-case names. */
export function toHeaders(value: unknown): Readonly<Record<string, string>> {
  const entries = Object.entries(toFields(value)).filter(([, header]) => typeof header === "string");
  return Object.fromEntries(entries.map(([name, header]) => [name.toLowerCase(), header as string]));
}
