// Clients may lower the limits that the server is configured with, and never raise them.

import { ProblemError } from "../net/problem.ts";

/** Throws a ProblemError that names the limit. */
export function checkLimits<Name extends string>(
  requested: { readonly [name in Name]?: number | undefined } | undefined,
  allowed: { readonly [name in Name]?: number | undefined },
): void {
  for (const [name, value] of Object.entries(requested ?? {}) as [Name, number | undefined][]) {
    const most = allowed[name];
    if (value === undefined || most === undefined || value <= most) continue;
    const detail = `Field 'limits.${name}' is wrong: this server allows ${most} at most`;
    throw new ProblemError({ status: 422, code: "INVALID_BODY", detail });
  }
}
